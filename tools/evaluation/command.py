"""`zib eval`: the owner measures how good the memory of a vault is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Annotated

import typer

from ..commands import JsonOption, VaultOption, write, write_json
from ..refusals import OwnerOnly
from ..render import Piece, counted
from ..shell import caller_of
from ..vault import layout_of
from ..wire import wire
from .figures import Figure
from .labels import load_labels
from .suite import Evaluation, evaluate

SHOWN = 5
"""Cases that are named under a figure."""


def evaluate_command(
    labels: Annotated[
        str, typer.Argument(metavar="LABELS", help="A TOML file with labelled cases.")
    ],
    vault_folder: VaultOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how good the memory is, on a copy of the vault, with a file of labelled cases."""
    if caller_of(os.environ).origin != "owner":
        raise OwnerOnly("evaluate a vault")
    answer = evaluate(layout_of(vault_folder), load_labels(labels))
    if as_json:
        write_json(wire(answer))
    else:
        write(_told(answer))


def _told(answer: Evaluation) -> Iterator[Piece]:
    for one in answer.figures:
        yield from _figure(one)
    yield f"{counted(answer.notes, 'note')}, measured on a copy.\n", "good"


def _figure(one: Figure) -> Iterator[Piece]:
    value = "    –" if one.value is None else f"{one.value:.3f}"
    yield f"{one.name:<24}", "title"
    yield f"{value}", "text"
    yield f"  of {one.cases}{', lower is better' if one.better == 'lower' else ''}\n", "faint"
    for case in one.wrong[:SHOWN]:
        yield f"    {case}\n", "warning"
    if len(one.wrong) > SHOWN:
        yield f"    and {len(one.wrong) - SHOWN} more\n", "warning"

"""The commands with which the owner says what sessions start with: pins, and what is muted."""

from __future__ import annotations

from typing import Annotated

import typer

from ..vault.errors import NoteNotFound
from . import tending
from .commands import JsonOption, VaultOption, opened, write, write_json
from .refusals import NameUnknown
from .vault import Vault
from .wire import wire

NoteRef = Annotated[
    str, typer.Argument(metavar="NOTE", help="A note: its id, path, title or alias.")
]
CategoryRef = Annotated[
    str, typer.Argument(metavar="CATEGORY", help="A category, or the id or path of its note.")
]
ProjectOption = Annotated[
    str | None, typer.Option("--project", help="The project of the category.", show_default=False)
]
PlaceOption = Annotated[
    int | None,
    typer.Option("--place", metavar="N", help="Its place among the pins.", show_default=False),
]


def pin(
    ref: NoteRef,
    place: PlaceOption = None,
    vault_folder: VaultOption = None,
    as_json: JsonOption = False,
) -> None:
    """Load a note at the start of every session, or of those of its project."""
    with opened(vault_folder) as vault:
        _show("Pinned", tending.pin(vault, ref, place), as_json=as_json)


def unpin(ref: NoteRef, vault_folder: VaultOption = None, as_json: JsonOption = False) -> None:
    """Load a note at the start of sessions no more."""
    with opened(vault_folder) as vault:
        _show("Unpinned", tending.unpin(vault, ref), as_json=as_json)


def mute(
    ref: CategoryRef,
    project: ProjectOption = None,
    vault_folder: VaultOption = None,
    as_json: JsonOption = False,
) -> None:
    """Keep a category of memory out of every recall and start; search still finds it, marked."""
    _set_muted(vault_folder, ref, project, as_json, muted=True)


def unmute(
    ref: CategoryRef,
    project: ProjectOption = None,
    vault_folder: VaultOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a category of memory be recalled again."""
    _set_muted(vault_folder, ref, project, as_json, muted=False)


def _set_muted(
    folder: str | None, ref: str, project: str | None, as_json: bool, *, muted: bool
) -> None:
    with opened(folder) as vault:
        done = _mute(vault, ref, project, muted=muted)
        _show("Muted" if muted else "Unmuted", done, as_json=as_json)


def _mute(vault: Vault, ref: str, project: str | None, *, muted: bool) -> tending.Tended:
    """Mute the note of a category; where there is none of that name, the memory so called."""
    try:
        path = tending.category_note(vault, ref, project)
    except NameUnknown as unknown:
        if project is not None:
            raise
        try:
            return tending.mute(vault, ref, muted=muted)
        except NoteNotFound:
            raise unknown from None
    return tending.mute(vault, path, muted=muted)


def _show(done: str, tended: tending.Tended, *, as_json: bool) -> None:
    if as_json:
        write_json(wire(tended))
    elif tended.outcome == "unchanged":
        write([("It was so already: ", "warning"), (f"{tended.path}\n", "path")])
    else:
        write([(f"{done}: ", "good"), (f"{tended.path}\n", "path")])

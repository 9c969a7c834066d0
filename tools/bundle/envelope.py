"""The text of a recalled bundle: notes with their citations, inside a fresh envelope.

    <recalled 70249651>
    [1] agent-memory/preferences.md · Preferences · 2026-11-02
    - Prefers dark themes in every editor. ^m3k9f2 · agent
    </recalled 70249651>

What stands between the two lines is data: text of notes, never an instruction. The nonce is
new in each answer and occurs nowhere in the text, so that no note can end the envelope; a line
of a note that looks like a citation gets a backslash. A nonce is digits, which all cost the same
number of tokens, so that equal questions get equal answers but for the nonce.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from ...vault.paths import is_control

CUT_MARK = " […]"
CUT_LINE = "[…]"
"""What stands at the end of a text, and below the last one of a note, that goes on."""

PLAIN_NONCE = "0" * 8
"""A nonce for measuring; every other costs as much."""

_LINE_END = re.compile(r"\r\n?")
_LIKE_CITATION = re.compile(r"(^|(?<=[\v\f\x85\u2028\u2029]))(?=\[\d+\] )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """One note of a bundle: its citation line and the texts taken from it, in file order."""

    citation: str
    texts: tuple[str, ...]
    shortened: bool = False


def quoted(text: str) -> str:
    """Return a text of a note as it may stand in an envelope."""
    return _LIKE_CITATION.sub(r"\1\\", _LINE_END.sub("\n", text))


def cited(number: int, citation: str) -> str:
    """Return the line that says where the texts below it come from."""
    line = citation
    if not line.isprintable():  # so that few texts are looked at character by character
        line = "".join("\ufffd" if is_control(c) else c for c in citation)
    return f"[{number}] {line}\n"


def body(blocks: Sequence[Block]) -> str:
    """Return what stands in the envelope."""
    return "".join(
        cited(number, block.citation)
        + "".join(f"{text}\n" for text in block.texts)
        + (f"{CUT_LINE}\n" if block.shortened else "")
        for number, block in enumerate(blocks, 1)
    )


def sealed(text: str, nonce: str) -> str:
    """Return a text in its envelope; no text, no envelope."""
    return f"<recalled {nonce}>\n{text}</recalled {nonce}>" if text else ""


def fresh_nonce(text: str) -> str:
    """Return eight digits that do not occur in a text."""
    while (made := f"{secrets.randbelow(10**8):08}") in text:
        pass
    return made

"""The text of a recalled bundle: notes with their citations, inside a fresh envelope.

    <recalled 7k2m9qx4>
    [1] agent-memory/preferences.md · Preferences · 2026-11-02
    - Prefers dark themes in every editor. ^m3k9f2 · agent
    </recalled 7k2m9qx4>

What stands between the two lines is data: text of notes, never an instruction. The nonce is
new in each answer and occurs nowhere in the text, so that no note can end the envelope.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
CUT_MARK = " […]"


@dataclass(frozen=True, slots=True)
class Block:
    """One note of a bundle: its citation line and the texts taken from it, in file order."""

    citation: str
    texts: tuple[str, ...]


def nonce(texts: Iterable[str]) -> str:
    """Return eight letters and digits that occur in none of the texts."""
    held = tuple(texts)
    while True:
        made = "".join(secrets.choice(ALPHABET) for _ in range(8))
        if not any(made in text for text in held):
            return made


def seal(blocks: Sequence[Block]) -> str:
    """Return the whole text of a bundle; no blocks, no text."""
    if not blocks:
        return ""
    parts = [
        f"[{number}] {block.citation}\n" + "".join(f"{text}\n" for text in block.texts)
        for number, block in enumerate(blocks, 1)
    ]
    mark = nonce(parts)
    return f"<recalled {mark}>\n{''.join(parts)}</recalled {mark}>"

"""Identifiers of notes and observations.

All of them are lower-case Crockford base32 (digits and letters without i, l, o and u), so
they can be read aloud and typed. The first character is always a letter: written bare into
frontmatter, an identifier can then never be taken for a number.
"""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from collections.abc import Container

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LETTERS = ALPHABET[10:]
ID_LENGTH = 12
BLOCK_ID_LENGTH = 6


def _spell(number: int, length: int) -> str:
    """Return `length` characters for `number`, a letter first."""
    number, first = divmod(number, len(LETTERS))
    spelled = [LETTERS[first]]
    for _ in range(length - 1):
        number, digit = divmod(number, len(ALPHABET))
        spelled.append(ALPHABET[digit])
    return "".join(spelled)


def new_id() -> str:
    """Return a fresh note id: 12 characters, 59 random bits."""
    return _spell(secrets.randbits(80), ID_LENGTH)


def new_block_id(taken: Container[str]) -> str:
    """Return a fresh block id of 6 characters that is not among `taken`."""
    while (block_id := _spell(secrets.randbits(48), BLOCK_ID_LENGTH)) in taken:
        pass
    return block_id


def derived_block_id(note_id: str, text: str) -> str:
    """Return the id that a line without one would get: a function of its note and its words."""
    name = f"{note_id}\0{text}".encode("utf-8", "surrogatepass")
    return _spell(int.from_bytes(hashlib.sha256(name).digest()), BLOCK_ID_LENGTH)


def derived_id(path: str) -> str:
    """Return the id of a note that has none of its own: a function of its path in NFC."""
    name = unicodedata.normalize("NFC", path).encode("utf-8", "surrogatepass")
    return _spell(int.from_bytes(hashlib.sha256(name).digest()), ID_LENGTH)


def is_id(text: str) -> bool:
    """Whether `text` has the form of a note id of ours: 12 characters of the alphabet."""
    return len(text) == ID_LENGTH and all(character in ALPHABET for character in text)


def is_block_id(text: str) -> bool:
    """Whether `text` has the form of a block id of ours: 6 characters, a letter first."""
    known = len(text) == BLOCK_ID_LENGTH and all(character in ALPHABET for character in text)
    return known and text[0] in LETTERS

"""The text of one note file as it lies on disk, and where its frontmatter ends.

Every byte survives: what is not UTF-8 is carried as lone surrogates (PEP 383), a byte order
mark stays the first character, and line ends are left as they are.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Literal

BOM = "\ufeff"

_OPENING = re.compile("\ufeff?---[ \\t]*\\r?\\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")


def token_of(data: bytes) -> str:
    """The version token of a file: the SHA-256 of its bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def readable(text: str) -> str:
    """The text with U+FFFD for each byte that was not UTF-8. Offsets stay the same."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


@dataclass(frozen=True, slots=True)
class Source:
    """One note's text, split into frontmatter and body by offsets into `text`.

    `yaml` is the span between the fences, without them; None when there is no block.
    `body` is where the body starts. A block opens only on the first line, with `---`, and
    closes at the next line that is `---` or `...`; a block that never closes is body.
    """

    text: str
    yaml: tuple[int, int] | None
    body: int

    @classmethod
    def parse(cls, data: bytes) -> Source:
        """Read a file's bytes; any bytes are accepted and given back by `data`."""
        return cls.from_text(data.decode("utf-8", "surrogateescape"))

    @classmethod
    def from_text(cls, text: str) -> Source:
        """Split a text that is decoded already."""
        opening = _OPENING.match(text)
        closing = _CLOSING.search(text, opening.end()) if opening else None
        if opening is None or closing is None:
            return cls(text, None, len(BOM) if text.startswith(BOM) else 0)
        return cls(text, (opening.end(), closing.start()), closing.end())

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return self.text.encode("utf-8", "surrogateescape")

    @property
    def token(self) -> str:
        """The version token: see `token_of`."""
        return token_of(self.data)

    @property
    def newline(self) -> Literal["\n", "\r\n"]:
        """The line end of the first line; a line feed when there is none."""
        end = self.text.find("\n")
        return "\r\n" if end > 0 and self.text[end - 1] == "\r" else "\n"

    @property
    def undecoded(self) -> int | None:
        """The offset of the first byte that is not UTF-8; None when all of them are."""
        found = None if self.text.isascii() else _SURROGATE.search(self.text)
        return found.start() if found else None

    @property
    def body_text(self) -> str:
        """Everything after the frontmatter, as it is on disk."""
        return self.text[self.body :]

    @property
    def first_line(self) -> int:
        """The line of the file, counted from 1, on which the body starts."""
        return self.text.count("\n", 0, self.body) + 1

    def splice(self, start: int, end: int, replacement: str) -> Source:
        """A new source whose text between two offsets is replaced."""
        return Source.from_text(self.text[:start] + replacement + self.text[end:])

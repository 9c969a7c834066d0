"""The forms in which words may stand in a file, and a raw scan of folders for them.

The scan reads bytes and knows nothing of what the files are. It finds words as they are, as
JSON escapes them, in UTF-16 and in base64. What is compressed it cannot see.
"""

from __future__ import annotations

import base64
import json
import os
import re
import stat
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .escape import encode

Form = Literal["utf-8", "json", "utf-16", "base64"]

SHORTEST = 12
"""Characters from which a line is told from others; a shorter one only counts alone."""

MOST = 64
"""Lines that are looked for; of more, those are taken that are the longest."""

BLOCK = 8 * 1024 * 1024
"""Bytes of a file that are read at once."""

COMPRESSED = (".git",)
"""Folders in which words lie compressed."""


# A summary or a quotation may do without them.
_END_MARKS = " .!?…。！？"
_WORD = re.compile(r"\w{4,}")


@dataclass(frozen=True, slots=True)
class Trace:
    """Where words were found, in which form and how often."""

    path: str
    form: Form
    count: int


@dataclass(frozen=True, slots=True)
class Scan:
    """What a scan has looked at and found; `unseen` could not be read, or is compressed."""

    files: int
    bytes: int
    traces: tuple[Trace, ...]
    unseen: tuple[str, ...]


class Words:
    """Words that are to leave a vault: whole lines of what was written."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = frozenset(text for text in texts if text.strip())
        lines = {line for text in self.texts for line in _telling_lines(text)}
        self.lines = tuple(sorted(lines, key=lambda line: (-len(line), line))[:MOST])
        """The lines that are looked for, the longest first."""
        self.known = len(lines)
        """How many telling lines there are."""
        self._folded = tuple(_folded(line) for line in self.lines)
        self._wholes = tuple(_folded(text) for text in self.texts)
        self._patterns = _patterns(self.lines)

    @property
    def forms(self) -> tuple[bytes, ...]:
        """The lines in UTF-8, as they are and as Markdown escapes them."""
        return tuple(_utf8(self.lines))

    def told_by(self, text: str) -> bool:
        """Whether a text holds one of the lines, or is a part of the words, in any case."""
        folded = _folded(text)
        if any(line in folded for line in self._folded):
            return True
        part = folded.strip(" .…")
        return len(part) >= SHORTEST and any(part in whole for whole in self._wholes)

    def shared_by(self, text: str) -> set[str]:
        """The words of four letters or more, folded, that a text has in common with these."""
        own = {word for whole in self._wholes for word in _WORD.findall(whole)}
        return own.intersection(_WORD.findall(_folded(text)))

    def in_bytes(self, data: bytes) -> Mapping[Form, int]:
        """Count the lines in bytes, by the form in which they stand there."""
        found: Counter[Form] = Counter()
        wide = b"\0" in data
        for pattern, form in self._patterns.items():
            if (form != "utf-16" or wide) and (count := data.count(pattern)):
                found[form] += count
        return found

    @property
    def longest(self) -> int:
        """The length in bytes of the longest form."""
        return max(map(len, self._patterns), default=0)


def _telling_lines(text: str) -> list[str]:
    stripped = (line.strip().rstrip(_END_MARKS) for line in text.splitlines())
    lines = [line for line in stripped if line] or [text.strip()]
    return [line for line in lines if len(line) >= SHORTEST] or [max(lines, key=len)]


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _utf8(lines: Iterable[str]) -> Iterator[bytes]:
    spelled = (unicodedata.normalize(form, line) for line in lines for form in ("NFC", "NFD"))
    for line in dict.fromkeys([*lines, *spelled]):
        for text in dict.fromkeys((line, encode(line))):
            yield text.encode("utf-8", "surrogateescape")


def _patterns(lines: Sequence[str]) -> dict[bytes, Form]:
    """Every form of the lines; one that is the same in two forms counts once."""
    found: dict[bytes, Form] = dict.fromkeys(_utf8(lines), "utf-8")
    for pattern in tuple(found):
        text = pattern.decode("utf-8", "replace")
        for plain in (True, False):
            escaped = json.dumps(text, ensure_ascii=plain)[1:-1].encode("utf-8")
            found.setdefault(escaped, "json")
        for coding in ("utf-16-le", "utf-16-be"):
            found.setdefault(text.encode(coding), "utf-16")
        for shift in range(3):
            found.setdefault(_in_base64(pattern, shift), "base64")
    return {pattern: form for pattern, form in found.items() if pattern}


def _in_base64(data: bytes, shift: int) -> bytes:
    """What base64 makes of bytes that stand `shift` bytes behind a multiple of three."""
    coded = base64.b64encode(bytes(shift) + data)
    size = (shift + len(data)) * 8 // 6  # The last character also tells of what follows.
    return coded[(shift * 8 + 5) // 6 : size]


def scan(folders: Iterable[Path], words: Words) -> Scan:
    """Read every file below some folders, and tell where one of the words stands.

    No symlink is followed. Folders that lie in one another are read once.
    """
    files = size = 0
    traces: list[Trace] = []
    unseen: list[str] = []
    for path in _files(folders, unseen):
        try:
            found, read = _counted(path, words)
        except FileNotFoundError:
            continue
        except OSError:
            unseen.append(str(path))
            continue
        files, size = files + 1, size + read
        traces += [Trace(str(path), form, count) for form, count in found.items()]
    return Scan(files, size, tuple(traces), tuple(unseen))


def _files(folders: Iterable[Path], unseen: list[str]) -> Iterator[Path]:
    seen: set[Path] = set()

    def refused(error: OSError) -> None:
        unseen.append(str(error.filename))

    for top in folders:
        if top in seen:
            continue
        for folder, below, names in os.walk(top, onerror=refused):
            here = Path(folder)
            below[:] = sorted(each for each in below if here / each not in seen)
            seen.add(here)
            unseen += [str(here / each) for each in below if each in COMPRESSED]
            for name in sorted(names):
                if stat.S_ISREG((here / name).lstat().st_mode):
                    yield here / name


def _counted(path: Path, words: Words) -> tuple[Mapping[Form, int], int]:
    found: Counter[Form] = Counter()
    tail, size = b"", 0
    keep = max(words.longest - 1, 0)
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            size += len(block)
            data = tail + block
            found.update(words.in_bytes(data))
            found.subtract(words.in_bytes(tail))  # It was counted with the block before.
            tail = data[len(data) - min(keep, len(data)) :]
    return +found, size

"""Immutable parts of the text index, stored by Whoosh.

A segment is a folder with a Whoosh index of one commit. It holds postings and nothing else: for
each term the numbers of the documents that have it, and their impacts. Ranking is ours, since
several of Whoosh's query classes return wrong results under a limit. What a document number
means, and which documents are still alive, is the catalog's to know.

Whoosh has no checksums and unpickles what it reads. So a segment comes with a stamp, and its
folder must lie where nobody but the user writes. Files are not synced to the disk: a segment
that a power loss tore no longer fits its stamp, and is built again.
"""

from __future__ import annotations

import heapq
import itertools
import operator
import os
import shutil
import threading
import zlib
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from ._whoosh import Postings, Reader, Row, is_damage, write_index

FORMAT = 1
"""Version of what is inside a segment; raise it when the same documents give other bytes."""

CACHED_POSTINGS = 4_000_000
"""Postings that one process keeps decoded, over all segments: 32 MB."""

ENTRY_COST = 16
"""What an entry of the cache costs besides its postings, counted in postings."""

_CHUNK = 1 << 20
_ABSENT: Any = object()


class DamagedIndex(Exception):  # noqa: N818 (as all failures here, named for what happened)
    """A segment cannot be used: a file is missing, torn or changed. It must be built again."""


@dataclass(frozen=True, slots=True)
class SegmentStamp:
    """What a segment must be when it is opened: `size` in bytes, `checksum` a CRC-32."""

    documents: int
    checksum: int
    size: int

    def __str__(self) -> str:
        return f"{self.documents} {self.checksum:08x} {self.size}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what `str` wrote. Raises `DamagedIndex`."""
        try:
            documents, checksum, size = text.split()
            return cls(int(documents), int(checksum, 16), int(size))
        except ValueError as error:
            raise DamagedIndex(f"not a segment stamp: {text!r}") from error


def engine_stamp() -> str:
    """Name the storage format. Releases and forks of Whoosh read each other's segments."""
    return f"segments-{FORMAT}"


# Writing


def write_segment(folder: Path, documents: Iterable[Mapping[str, float]]) -> SegmentStamp:
    """Write documents, each a mapping of terms to impacts, into a new folder.

    A document's number is its position. Raises `OSError`, and leaves no folder then.
    """
    inverted: dict[str, Postings] = {}
    count = 0
    for number, impacts in enumerate(documents):
        count += 1
        for term, impact in impacts.items():
            try:
                numbers, values = inverted[term]
            except KeyError:
                numbers, values = inverted[term] = (array("I"), array("f"))
            numbers.append(number)
            values.append(impact)
    return _write(folder, count, sorted((_key(term), found) for term, found in inverted.items()))


def merge_segments(folder: Path, sources: Sequence[tuple[Segment, Sequence[int]]]) -> SegmentStamp:
    """Write the postings of several segments into a new one, in a new folder.

    Each source comes with the new number of each of its documents, -1 for those to be dropped.
    Raises `DamagedIndex` for a source, and `OSError`; leaves no folder then.
    """
    kept = [number for _, numbers in sources for number in numbers if number >= 0]
    if len(set(kept)) != len(kept):
        raise ValueError("two documents would have one number")
    for segment, numbers in sources:
        if len(numbers) != segment.document_count:
            raise ValueError("a segment needs one new number for each of its documents")
    return _write(folder, max(kept, default=-1) + 1, _merged(sources))


def _merged(sources: Sequence[tuple[Segment, Sequence[int]]]) -> Iterator[Row]:
    term_of = operator.itemgetter(0)
    streams = [_renumbered(segment, numbers) for segment, numbers in sources]
    for term, group in itertools.groupby(heapq.merge(*streams, key=term_of), key=term_of):
        numbers, impacts = _joined([part for _, part in group])
        if numbers:
            yield term, (array("I", numbers), array("f", impacts))


_Part: TypeAlias = "tuple[list[int], Sequence[float]]"


def _renumbered(segment: Segment, numbers: Sequence[int]) -> Iterator[tuple[bytes, _Part]]:
    for term, (documents, impacts) in segment.rows():
        new = [numbers[document] for document in documents]
        if min(new) >= 0:
            yield term, (new, impacts)
        else:
            kept = [(n, impact) for n, impact in zip(new, impacts, strict=True) if n >= 0]
            yield term, ([n for n, _ in kept], [impact for _, impact in kept])


def _joined(parts: Sequence[_Part]) -> _Part:
    numbers = [number for part in parts for number in part[0]]
    impacts = [impact for part in parts for impact in part[1]]
    if sorted(numbers) == numbers:
        return numbers, impacts
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    return [numbers[at] for at in order], [impacts[at] for at in order]


def _write(folder: Path, count: int, rows: Iterable[Row]) -> SegmentStamp:
    folder.mkdir(mode=0o700)
    with ExitStack() as undoing:
        undoing.callback(shutil.rmtree, folder, ignore_errors=True)
        write_index(folder, count, rows)
        checksum, size = _measure(folder)
        undoing.pop_all()
    return SegmentStamp(count, checksum, size)


# Reading


class PostingCache:
    """Decoded posting lists, those used last; bounded by postings. For several threads."""

    def __init__(self, capacity: int = CACHED_POSTINGS) -> None:
        self._capacity = capacity
        self._lists: OrderedDict[tuple[int, bytes], Postings | None] = OrderedDict()
        self._lock = threading.Lock()
        self.size = 0
        """What is kept, counted in postings."""

    def get(self, key: tuple[int, bytes], default: Postings | None = None) -> Postings | None:
        """Return what was put for a key, which may be `None`."""
        with self._lock:
            if key not in self._lists:
                return default
            self._lists.move_to_end(key)
            return self._lists[key]

    def put(self, key: tuple[int, bytes], postings: Postings | None) -> None:
        """Keep a list, and forget those used longest ago."""
        with self._lock:
            self._forget(key)
            self._lists[key] = postings
            self.size += _cost(postings)
            while self.size > self._capacity:
                self._forget(next(iter(self._lists)))

    def drop(self, owner: int) -> None:
        """Forget all lists of one owner, the first part of the key."""
        with self._lock:
            for key in [key for key in self._lists if key[0] == owner]:
                self._forget(key)

    def _forget(self, key: tuple[int, bytes]) -> None:
        if key in self._lists:
            self.size -= _cost(self._lists.pop(key))


def _cost(postings: Postings | None) -> int:
    return ENTRY_COST + (len(postings[0]) if postings else 0)


_shared_cache = PostingCache()
_owners = itertools.count()


class Segment:
    """An open segment. Its methods may be called from several threads.

    Those that read raise `DamagedIndex` when the files make no sense, and `ValueError` when the
    segment has been closed.
    """

    def __init__(self, folder: Path, reader: Reader, marks: Marks, cache: PostingCache) -> None:
        self.folder = folder
        self.document_count = reader.document_count
        self._reader, self._marks, self._cache = reader, marks, cache
        self._owner = next(_owners)
        self._lock = threading.Lock()
        self._closed = False

    @classmethod
    def open(
        cls,
        folder: Path,
        stamp: SegmentStamp,
        *,
        verify: bool = True,
        cache: PostingCache = _shared_cache,
    ) -> Self:
        """Open a segment, and compare every byte with its stamp unless `verify` is false.

        Raises `DamagedIndex`, and `OSError` when the system refuses to open a file.
        """
        with _Reading(folder):
            marks = _marks(folder)
            _check(folder, stamp, marks, verify)
            reader = Reader.open(folder)
        if reader.document_count != stamp.documents:
            reader.close()
            raise DamagedIndex(f"{folder.name} does not hold the documents of its stamp")
        return cls(folder, reader, marks, cache)

    def postings(self, term: str) -> Postings | None:
        """Return the documents that have a term, or `None` when none has."""
        key = (self._owner, _key(term))
        found = self._cache.get(key, _ABSENT)
        if found is not _ABSENT:
            return found
        with self._using() as reader:
            found = self._cache.get(key, _ABSENT)
            if found is _ABSENT:
                found = reader.find(key[1])
                self._cache.put(key, found)
        return found

    def terms_starting(self, prefix: str, limit: int) -> list[str]:
        """Return the first `limit` terms that start with a prefix, in order."""
        start = _key(prefix)
        with self._using() as reader:
            terms = itertools.islice(reader.terms_from(start), limit)
            starting = list(itertools.takewhile(lambda term: term.startswith(start), terms))
            return [term.decode("utf-8", "surrogatepass") for term in starting]

    def rows(self) -> Iterator[Row]:
        """Yield all terms with their postings, in order of their bytes; nothing is cached."""
        with self._using() as reader:
            rows = reader.rows()
        while True:
            with self._using():
                row = next(rows, None)
            if row is None:
                return
            yield row

    def intact(self) -> bool:
        """Say whether the files are those that were opened, by size, time and inode."""
        try:
            return all(_mark(path) == mark for path, mark in self._marks)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def close(self) -> None:
        """Close the files and forget the decoded postings. A second call does nothing."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._reader.close()
                self._cache.drop(self._owner)

    @contextmanager
    def _using(self) -> Iterator[Reader]:
        with self._lock:
            if self._closed:
                raise ValueError("the segment is closed")
            with _Reading(self.folder):
                yield self._reader


def _key(term: str) -> bytes:
    return term.encode("utf-8", "surrogatepass")


class _Reading:
    """Turns what damaged files make Whoosh raise into `DamagedIndex`."""

    def __init__(self, folder: Path) -> None:
        self._name = folder.name

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and not isinstance(error, DamagedIndex) and is_damage(error):
            message = f"{self._name} cannot be read: {type(error).__name__}: {error}"
            raise DamagedIndex(message) from error


# Checking

Mark: TypeAlias = tuple[int, int, int]
Marks: TypeAlias = tuple[tuple[str, Mark], ...]


def _mark(path: str) -> Mark:
    found = os.stat(path)  # noqa: PTH116 (at each search; a Path costs more than the call)
    return found.st_size, found.st_mtime_ns, found.st_ino


def _marks(folder: Path) -> Marks:
    return tuple((str(path), _mark(str(path))) for path in sorted(folder.iterdir()))


def _check(folder: Path, stamp: SegmentStamp, marks: Marks, verify: bool) -> None:
    size = sum(mark[0] for _, mark in marks)
    if size != stamp.size or (verify and _measure(folder)[0] != stamp.checksum):
        raise DamagedIndex(f"{folder.name} is not what was written")


def _measure(folder: Path) -> tuple[int, int]:
    """Return the CRC-32 of all names and bytes in a folder, and the number of bytes."""
    checksum = size = 0
    for path in sorted(folder.iterdir()):
        checksum = zlib.crc32(os.fsencode(path.name), checksum)
        with path.open("rb", buffering=0) as file:
            while chunk := file.read(_CHUNK):
                checksum = zlib.crc32(chunk, checksum)
                size += len(chunk)
    return checksum, size

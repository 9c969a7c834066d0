"""All that touches Whoosh: writing an index in one go, reading it, and telling damage.

Whoosh is imported when it is first needed, since that takes 100 ms. Only public parts of its
codec are used, and they are the same in Whoosh 2.7.4 and in the fork whoosh3. What an index
holds is one field of terms, whose postings carry a weight and no value; any Whoosh reader reads
it. Posting lists are encoded here, in Whoosh's format, since its own writer and matcher handle
them a posting at a time, at twice the cost for writing and ten times for reading.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import io
import itertools
import operator
import pickle
import struct
import warnings
import zlib
from array import array
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self, TypeAlias

Postings: TypeAlias = "tuple[array[int], array[float]]"
"""Document numbers, rising, as array('I'), and their weights as array('f'). Not to be changed."""

Row: TypeAlias = tuple[bytes, Postings]
"""A term and its postings."""

FIELD = "term"
INDEX_NAME = "MAIN"
GENERATION = 1

BLOCK = 1024
"""Postings per block. Whoosh itself writes 128, for skipping; here lists are read whole."""

COMPRESSION, COMPRESSED_FROM = 3, 120
"""Level of zlib, and the length in bytes from which it makes a block smaller."""

_LENGTH = struct.Struct("!i")


@functools.cache
def _whoosh() -> SimpleNamespace:
    """Import Whoosh without the warnings that its old syntax causes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        codec = import_module("whoosh.codec.whoosh3")
        fields = import_module("whoosh.fields")
        index = import_module("whoosh.index")
        reading = import_module("whoosh.reading")
        storage = import_module("whoosh.filedb.filestore")
        system = import_module("whoosh.system")
        tables = import_module("whoosh.filedb.filetables")
    return SimpleNamespace(
        FileStorage=storage.FileStorage,
        OrderedHashWriter=tables.OrderedHashWriter,
        SegmentReader=reading.SegmentReader,
        TermNotFound=reading.TermNotFound,
        TOC=index.TOC,
        W3Codec=codec.W3Codec,
        W3TermInfo=codec.W3TermInfo,
        WHOOSH3_HEADER_MAGIC=codec.WHOOSH3_HEADER_MAGIC,
        pack_ushort=system.pack_ushort,
        schema=fields.Schema(**{FIELD: fields.ID()}),
    )


# Writing


def write_index(folder: Path, count: int, rows: Iterable[Row]) -> None:
    """Write an index of `count` documents into an empty folder; the rows come in order of terms."""
    whoosh = _whoosh()
    storage = whoosh.FileStorage(str(folder))
    segment = whoosh.W3Codec().new_segment(storage, INDEX_NAME)
    _write_documents(segment, storage, count)
    _write_terms(segment, storage, rows)
    segment.set_doc_count(count)
    whoosh.TOC(whoosh.schema, [segment], GENERATION).write(storage, INDEX_NAME)


def _write_documents(segment: Any, storage: Any, count: int) -> None:
    """Write documents without fields, so that every reader knows how many there are."""
    writer = segment.codec().per_document_writer(storage, segment)
    for number in range(count):
        writer.start_doc(number)
        writer.finish_doc()
    writer.close()
    storage.temp_storage(f"{INDEX_NAME}.tmp").destroy()


def _write_terms(segment: Any, storage: Any, rows: Iterable[Row]) -> None:
    whoosh = _whoosh()
    codec = whoosh.W3Codec
    field_number = 0
    prefix = whoosh.pack_ushort(field_number)
    offset = 0
    with (
        segment.create_file(storage, codec.POSTS_EXT) as file,
        contextlib.closing(
            whoosh.OrderedHashWriter(segment.create_file(storage, codec.TERMS_EXT))
        ) as terms,
    ):
        terms.extras["fieldmap"] = {FIELD: field_number}
        for term, postings in rows:
            data = encode(postings)
            file.write(data)
            info = _term_info(postings)
            info.set_extent(offset, len(data))
            terms.add(prefix + term, info.to_bytes())
            offset += len(data)


def _term_info(postings: Postings) -> Any:
    numbers, weights = postings
    return _whoosh().W3TermInfo(
        weight=sum(weights),
        df=len(numbers),
        maxweight=max(weights),
        minid=numbers[0],
        maxid=numbers[-1],
    )


# The posting list of Whoosh's codec W3: a magic word, then blocks, each a length (negative for
# the last), a pickled header and a pickled tuple of number gaps, weights and values (none here).


def encode(postings: Postings) -> bytes:
    """Return a posting list, which is not empty, as Whoosh stores it."""
    numbers, weights = postings
    parts = [_whoosh().WHOOSH3_HEADER_MAGIC]
    for start in range(0, len(numbers), BLOCK):
        block = _block(numbers[start : start + BLOCK], weights[start : start + BLOCK])
        last = start + BLOCK >= len(numbers)
        parts += (_LENGTH.pack(-len(block) if last else len(block)), block)
    return b"".join(parts)


def _block(numbers: array[int], weights: array[float]) -> bytes:
    gaps = tuple(map(operator.sub, numbers, itertools.chain((0,), numbers)))
    alike = weights.count(weights[0]) == len(weights)
    data = pickle.dumps((gaps, weights[0] if alike else tuple(weights), None), 2)
    level = COMPRESSION if len(data) >= COMPRESSED_FROM else 0
    if level:
        data = zlib.compress(data, level)
    # The two zeros are the least and the greatest field length, which are not kept.
    header = (len(numbers), numbers[-1], max(weights), level, 0, 0)
    return pickle.dumps(header, 2) + data


def decode(data: bytes) -> Postings:
    """Return the postings that `encode` or Whoosh itself stored."""
    magic = _whoosh().WHOOSH3_HEADER_MAGIC
    if not data.startswith(magic):
        raise ValueError("no posting list")
    stream = io.BytesIO(data)
    stream.seek(len(magic))
    numbers, weights = array("I"), array("f")
    length = 0
    while length >= 0:
        (length,) = _LENGTH.unpack(stream.read(_LENGTH.size))
        end = stream.tell() + abs(length)
        count, _, _, level, _, _ = pickle.load(stream)
        block = stream.read(end - stream.tell())
        gaps, some, _ = pickle.loads(zlib.decompress(block) if level else block)
        numbers.extend(itertools.accumulate(gaps))
        if isinstance(some, tuple):
            weights.extend(some)
        else:
            weights.extend(itertools.repeat(1.0 if some is None else some, count))
    return numbers, weights


# Reading


class Reader:
    """An open index. For one thread at a time, since it moves the positions of its files.

    On damaged files its methods raise something of which `is_damage` is true, or `OSError`.
    """

    def __init__(self, reader: Any, postings: Any) -> None:
        self._reader, self._postings = reader, postings
        self.document_count: int = reader.doc_count_all()

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open an index that `write_index` wrote."""
        whoosh = _whoosh()
        storage = whoosh.FileStorage(str(folder))
        toc = whoosh.TOC.read(storage, INDEX_NAME, GENERATION, whoosh.schema)
        (segment,) = toc.segments
        reader = whoosh.SegmentReader(storage, whoosh.schema, segment)
        with contextlib.ExitStack() as undoing:
            undoing.callback(reader.close)
            opened = cls(reader, segment.open_file(storage, whoosh.W3Codec.POSTS_EXT))
            undoing.pop_all()
        return opened

    def find(self, term: bytes) -> Postings | None:
        """Return the postings of a term, or `None`."""
        try:
            info = self._reader.term_info(FIELD, term)
        except _whoosh().TermNotFound:
            return None
        return self._read(info)

    def terms_from(self, start: bytes) -> Iterator[bytes]:
        """Yield all terms from `start` on, in order."""
        for _, term in self._reader.terms_from(FIELD, start):
            yield term

    def rows(self) -> Iterator[Row]:
        """Yield all terms with their postings, in order."""
        for (_, term), info in self._reader:
            yield term, self._read(info)

    def close(self) -> None:
        """Close the files."""
        self._reader.close()
        self._postings.close()

    def _read(self, info: Any) -> Postings:
        offset, length = info.extent()
        if isinstance(length, tuple):  # Whoosh forgets to unpack what it has read.
            (length,) = length
        numbers, weights = decode(self._postings.get(offset, length))
        if len(numbers) != len(weights) or max(numbers) >= self.document_count:
            raise ValueError("a posting list does not fit its index")
        return numbers, weights


# Damage

_TYPES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    MemoryError,
    NameError,
    TypeError,
    ValueError,
    pickle.PickleError,
    struct.error,
    zlib.error,
)
"""What damaged files make Whoosh and pickle raise."""

_CODES = frozenset(
    (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EINVAL, errno.EOVERFLOW, errno.EIO)
)
"""Of the system's errors, those that tell of the file and not of the process or its rights."""


def is_damage(error: BaseException) -> bool:
    """Say whether an error raised in reading an index tells that its files are damaged."""
    if isinstance(error, OSError):
        return error.errno in _CODES
    # Whoosh has exceptions of its own, and raises bare ones too.
    of_whoosh = type(error).__module__.partition(".")[0] == "whoosh"
    return of_whoosh or type(error) is Exception or isinstance(error, _TYPES)

"""The journal: every revision of every note, in files that only grow.

Each device has a folder of its own, so that devices that sync one vault never write one file:
`journal/<device>/YYYY-MM.jsonl` in the state folder, one record a line, each with the hash of
the one before. The page docs/journal.md specifies it for other programs.

Whatever writes here (`append`, `redact`) is called under the vault's lock.
"""

from __future__ import annotations

import contextlib
import heapq
import json
import logging
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from .chain import Chain, Flaw
from .errors import JournalUnreadable, StorageFailed, reason_of
from .files import (
    append_line,
    cut_torn_line,
    last_line,
    make_folder,
    opened_file,
    opened_folder,
    replace_file,
    torn,
)
from .ids import is_id, new_id
from .redaction import Hide, Redaction
from .revision import VERSION, Record, Revision, as_time, from_raw, parse, to_raw
from .seal import SALT_BYTES, Raw, canonical, seal

JOURNAL_FOLDER = "journal"
DEVICE_FILE = "device"
ENDING = ".jsonl"

_MONTH = re.compile(r"\d{4}-\d\d\.jsonl", re.ASCII)
_log = logging.getLogger(__name__)


class JournalFile(NamedTuple):
    """One month of one device, and by what a change of it is seen."""

    device: str
    name: str
    inode: int
    size: int
    mtime_ns: int


class Position(NamedTuple):
    """Where a record stands, and its hash, by which one can tell that it still stands there."""

    device: str
    name: str
    offset: int
    length: int
    hash: str


def device_name(cache_root: Path) -> str:
    """Return the name of this device, which is made once and kept outside every vault.

    Without its file a new one is made, which does no harm: the device has then two journals.
    Raises StorageFailed when it can be neither read nor written.
    """
    path = cache_root / DEVICE_FILE
    with contextlib.suppress(OSError, ValueError):
        if is_id(name := path.read_text(encoding="ascii").strip()):
            return name
    name = new_id()
    with _writing(str(path)):
        make_folder(cache_root, 0o700)
        with opened_folder(Path(os.path.realpath(cache_root))) as folder:
            replace_file(folder, DEVICE_FILE, [name.encode() + b"\n"])
    return name


class Journal:
    """The journals of all devices in one state folder, and the one of `device` to append to.

    `clock` gives the time in seconds since 1970, UTC. Reading raises JournalUnreadable when the
    operating system refuses it; lines that are no records are passed over, and `verify` lists
    them.
    """

    def __init__(
        self, state_dir: Path, device: str, *, clock: Callable[[], float] = time.time
    ) -> None:
        self.device = device
        self._state = state_dir
        self._clock = clock

    def append(self, revision: Revision) -> Record:
        """Write a revision durably at the end of this device's journal and return its record.

        The caller holds the vault's lock. A line that a crash has torn is cut off first. The
        time of a record is never earlier than that of the one before. Raises StorageFailed with
        the journal as it was, JournalUnreadable when a newer version has written to it, and
        ValueError for what could not be read again, such as splices that overlap.
        """
        with _writing(self._shown(self.device)):
            make_folder(self._state)
            with opened_folder(self._state, self._parts, create=True) as folder:
                raw = self._next(revision, self._last(folder, mend=True))
                record = from_raw(raw)
                append_line(folder, f"{record.time[:7]}{ENDING}", canonical(raw) + b"\n")
        return record

    def _next(self, revision: Revision, last: Record | None) -> Raw:
        now = as_time(datetime.fromtimestamp(self._clock(), UTC))
        raw = to_raw(
            revision,
            seq=last.seq + 1 if last else 1,
            time=max(now, last.time if last else ""),
            device=self.device,
            prev=last.hash if last else "",
        )
        return seal(raw, secrets.token_hex(SALT_BYTES))

    def last(self) -> Record | None:
        """Return the last record of this device. Its cost does not grow with the journal."""
        with self._reading(), opened_folder(self._state, self._parts) as folder:
            return self._last(folder)
        return None

    def _last(self, folder: int, *, mend: bool = False) -> Record | None:
        """Return the last record in an open folder; with `mend`, cut what is torn after it."""
        for name in _months(folder):
            with opened_file(folder, name) as file:
                end = os.fstat(file).st_size
                while end:
                    end, line = last_line(file, end)
                    if not torn(line):
                        with contextlib.suppress(ValueError):
                            return parse(line)[1]
                        self._refuse_newer(line, name)
                    elif mend and cut_torn_line(folder, name):
                        _log.warning("cut a torn line off %s", self._shown(self.device, name))
        return None

    def _refuse_newer(self, line: bytes, name: str) -> None:
        with contextlib.suppress(ValueError, RecursionError):
            raw = json.loads(line)
            if isinstance(raw, dict) and isinstance(raw.get("v"), int) and raw["v"] > VERSION:
                reason = "a newer version of zibaldone has written to it"
                raise JournalUnreadable(self._shown(self.device, name), reason)

    def files(self) -> list[JournalFile]:
        """List the journals of all devices, by device and month."""
        return [file for file in self._all_files() if _MONTH.fullmatch(file.name)]

    def _all_files(self) -> list[JournalFile]:
        found = []
        base = self._state / JOURNAL_FOLDER
        with self._reading():
            for device in sorted(_folders(base)):
                with os.scandir(base / device) as entries:
                    for entry in entries:
                        if entry.name.endswith(ENDING) and entry.is_file(follow_symlinks=False):
                            status = entry.stat(follow_symlinks=False)
                            seen = (status.st_ino, status.st_size, status.st_mtime_ns)
                            found.append(JournalFile(device, entry.name, *seen))
        return sorted(found)

    def scan(self, device: str, name: str, offset: int = 0) -> Iterator[tuple[Position, Record]]:
        """Yield the records of one file from an offset on, with their positions."""
        for start, line in self._lines(device, name, offset):
            if torn(line):
                continue
            try:
                record = parse(line)[1]
            except ValueError:
                _log.warning("no record at %d of %s", start, self._shown(device, name))
                continue
            yield Position(device, name, start, len(line), record.hash), record

    def read(self, position: Position) -> Record:
        """Return the record at a position. Raises JournalUnreadable when it is not there."""
        parts, line = (JOURNAL_FOLDER, position.device), b""
        with (
            self._reading(),
            opened_folder(self._state, parts) as folder,
            opened_file(folder, position.name) as file,
        ):
            line = os.pread(file, position.length, position.offset)
        with contextlib.suppress(ValueError):
            record = parse(line)[1]
            if record.hash == position.hash:
                return record
        shown = self._shown(position.device, position.name)
        raise JournalUnreadable(shown, f"the record at {position.offset} has moved")

    def records(self, note: str | None = None) -> Iterator[Record]:
        """Yield the records of all devices, or those of one note, by time, device and number."""
        devices: dict[str, list[JournalFile]] = {}
        for file in self.files():
            devices.setdefault(file.device, []).append(file)
        streams = (self._of_device(files, note) for files in devices.values())
        return heapq.merge(*streams, key=attrgetter("order"))

    def _of_device(self, files: Sequence[JournalFile], note: str | None) -> Iterator[Record]:
        # Ids are plain ASCII and stand in the line as they are, so most lines need no parsing.
        plain = note is not None and note.isascii() and note.isalnum()
        wanted = note.encode() if note and plain else b""
        for file in files:
            for _, line in self._lines(file.device, file.name):
                if wanted in line and not torn(line):
                    with contextlib.suppress(ValueError):
                        record = parse(line)[1]
                        if note is None or record.note == note:
                            yield record

    def _lines(self, device: str, name: str, offset: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of a file from an offset on, each with its own offset."""
        with (
            self._reading(),
            opened_folder(self._state, (JOURNAL_FOLDER, device)) as folder,
            opened_file(folder, name) as descriptor,
            os.fdopen(os.dup(descriptor), "rb") as file,
        ):
            file.seek(offset)
            for line in file:
                yield offset, line
                offset += len(line)

    def verify(self) -> list[Flaw]:
        """Check every line of every journal and return what is wrong, in order.

        A torn last line is not: it was never acknowledged. That the end of a journal was cut
        off cannot be seen from the journal alone.
        """
        files = self._all_files()
        newest = {file.device: file.name for file in files if _MONTH.fullmatch(file.name)}
        chains = {device: Chain(device) for device in newest}
        flaws = []
        for file in files:
            if not _MONTH.fullmatch(file.name):
                flaws.append(Flaw(file.device, file.name, 0, "stray"))
                continue
            for number, (offset, line) in enumerate(self._lines(file.device, file.name), 1):
                at_end = file.name == newest[file.device] and offset + len(line) >= file.size
                if at_end and torn(line):
                    continue
                if kind := chains[file.device].check(line, file.name.removesuffix(ENDING)):
                    flaws.append(Flaw(file.device, file.name, number, kind))
        return flaws

    def redact(
        self,
        hide: Hide | None = None,
        *,
        words: Sequence[bytes] = (),
        damaged: Sequence[bytes] = (),
    ) -> int:
        """Take words out of the journals of all devices; return how many records lost some.

        The caller holds the vault's lock. `hide` names parts of a record, of those in
        `Record.words`; whatever part holds one of `words` goes too, and so do lines that are no
        records and hold one of `words` or of `damaged`. Tokens of states in which hidden words
        stood are taken out as well, so that no guess can be tested against them. The chains stay
        whole. Each file is replaced in one step; after a crash in between, call it again.
        Raises StorageFailed.
        """
        files = self._all_files()
        redaction = Redaction(hide, words, damaged)
        for file in files:
            for _, line in self._lines(file.device, file.name):
                redaction.look(line)
        for note in redaction.notes:
            redaction.tell(self.records(note))
        for file in files:
            self._rewrite(file, redaction)
        return redaction.count

    def _rewrite(self, file: JournalFile, redaction: Redaction) -> None:
        lines = [line for _, line in self._lines(file.device, file.name)]
        kept = list(map(redaction.without, lines))
        if kept == lines:
            return
        parts = (JOURNAL_FOLDER, file.device)
        shown = self._shown(file.device, file.name)
        with _writing(shown), opened_folder(self._state, parts) as folder:
            replace_file(folder, file.name, kept)

    @property
    def _parts(self) -> tuple[str, str]:
        return JOURNAL_FOLDER, self.device

    def _shown(self, *parts: str) -> str:
        return str(self._state.joinpath(JOURNAL_FOLDER, *parts))

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Turn a failure into a typed one. What is not there reads as if it were empty."""
        try:
            yield
        except FileNotFoundError:
            return
        except OSError as error:
            raise JournalUnreadable(self._shown(), reason_of(error)) from error


@contextlib.contextmanager
def _writing(shown: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageFailed(shown, reason_of(error)) from error


def _months(folder: int) -> list[str]:
    """Return the names of the files of an open device folder, the newest first."""
    return sorted(filter(_MONTH.fullmatch, os.listdir(folder)), reverse=True)


def _folders(base: Path) -> list[str]:
    with os.scandir(base) as entries:
        return [
            entry.name
            for entry in entries
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
        ]

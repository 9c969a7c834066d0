"""The audit: what agents have asked and what they were given, in files of JSON lines.

`audit/<device>/YYYY-MM.jsonl` in the state folder, as docs/audit.md specifies. A line holds the
question and names what was given by ids and revisions; no word of a note is in it. A line is
not worth the time of a disk: what the last seconds before a power failure held may be lost.
"""

from __future__ import annotations

import datetime
import io
import json
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from sys import intern
from typing import Any, Final, Literal, get_args

from .errors import StorageFailed, reason_of
from .files import (
    add_line,
    make_folder,
    opened_file,
    opened_folder,
    remove_file,
    replace_file,
    torn,
)
from .revision import Actor, actor_from_raw, actor_to_raw
from .source import readable

FOLDER = "audit"
VERSION = 1
REVISION_LENGTH = 16
"""Digits of a version token that are kept: enough to tell the states of one note apart."""

Retriever = Literal["search", "recall", "get_note", "start_session"]
Filters = Mapping[str, str | int]
_TIME: Final = re.compile(r"[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
_STARTED: Final = b'"tool":"start_session"'
_RETRIEVERS: Final = frozenset(get_args(Retriever))


@dataclass(frozen=True, slots=True)
class Given:
    """A part of an answer: which note or observation, in which state, and what it cost.

    `revision` begins the version token of the file as it was shown; `version` is that of the
    observation. `note` is empty when a purge has struck it.
    """

    note: str
    revision: str
    tokens: int
    observation: str = ""
    version: int | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A note that fits the question and was left out, why, and how many tokens it would take."""

    note: str
    reason: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Retrieval:
    """One question of an agent, and what it was given.

    `found` counts notes for a search, parts for a recall; it is 0 for an empty answer and for a
    refusal, whose code is `error`. `given` is in the order of the answer; `more_given` and
    `more_left_out` count what is not listed. `tokens` are those of the answer's text. `struck`
    is the kind of a secret that stood in the question. `redacted` says that a purge took words out.
    """

    time: str
    tool: Retriever
    caller: Actor
    query: str
    found: int = 0
    tokens: int = 0
    filters: Filters = field(default_factory=dict)
    given: tuple[Given, ...] = ()
    more_given: int = 0
    left_out: tuple[LeftOut, ...] = ()
    more_left_out: int = 0
    error: str = ""
    struck: str = ""
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class Audit:
    """All that is kept, by time; `damaged` counts lines that are no retrievals."""

    retrievals: tuple[Retrieval, ...]
    damaged: int


def now() -> str:
    """The time of a retrieval: ISO 8601 in UTC, to the millisecond."""
    moment = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
    return moment.replace("+00:00", "Z")


def record(state_dir: Path, device: str, retrieval: Retrieval) -> None:
    """Append a retrieval to the file of its month. Raises StorageFailed."""
    line = json.dumps(to_raw(retrieval), ensure_ascii=False, separators=(",", ":"))
    try:
        new = not state_dir.joinpath(FOLDER, device).is_dir()
        if new:
            make_folder(state_dir)
        with opened_folder(state_dir, (FOLDER, device), create=new) as folder:
            add_line(folder, f"{retrieval.time[:7]}.jsonl", line.encode() + b"\n")
    except OSError as error:
        raise _failed(state_dir, error) from error


@dataclass(frozen=True, slots=True)
class _File:
    """One file as it was read: its state on disk, and its whole lines with their hash."""

    state: tuple[int, int, int] = (0, 0, 0)
    length: int = 0
    digest: str = sha256().hexdigest()
    retrievals: tuple[Retrieval, ...] = ()
    damaged: int = 0
    torn: int = 0


class AuditLog:
    """What all devices have kept, read once and then as it grows. Threads may share it.

    A file that was rewritten, as by a purge, is read again.
    """

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir
        self._lock = threading.Lock()
        self._read: dict[tuple[str, str], _File] = {}
        self._audit = Audit((), 0)

    def read(self) -> Audit:
        """Return all that is kept now: the same object for as long as nothing has changed.

        Raises StorageFailed when it cannot be read.
        """
        with self._lock:
            now = {each: self._file(*each) for each in _files(self._state_dir)}
            if [*map(id, now.values())] != [*map(id, self._read.values())]:
                found = (one for file in now.values() for one in file.retrievals)
                damaged = sum(file.damaged + file.torn for file in now.values())
                self._audit = Audit(tuple(sorted(found, key=lambda one: one.time)), damaged)
            self._read = now
            return self._audit

    def _file(self, device: str, name: str) -> _File:
        known = self._read.get((device, name), _File())
        state = _state(self._state_dir / FOLDER / device / name)
        if state == known.state:
            return known
        data = _data(self._state_dir, device, name)
        if sha256(data[: known.length]).hexdigest() != known.digest:
            known = _File()
        end = data.rfind(b"\n") + 1
        found, damaged = _parsed(_split(data[known.length : end]))
        return _File(
            state=state,
            length=end,
            digest=sha256(data[:end]).hexdigest(),
            retrievals=known.retrievals + found,
            damaged=known.damaged + damaged,
            torn=int(end < len(data)),
        )


def read_audit(state_dir: Path) -> Audit:
    """Read what all devices have kept. Raises StorageFailed when it cannot be read."""
    return AuditLog(state_dir).read()


def _parsed(lines: Iterable[bytes]) -> tuple[tuple[Retrieval, ...], int]:
    """The retrievals that lines hold, and how many lines are none."""
    found, damaged = [], 0
    for line in lines:
        try:
            found.append(parse(line))
        except ValueError:
            damaged += 1
    return tuple(found), damaged


def _state(file: Path) -> tuple[int, int, int]:
    """What tells a file from what it was; zeros when it is gone, or cannot be looked at."""
    try:
        found = file.stat()
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_size, found.st_mtime_ns


def last_start(state_dir: Path, agent: str, session: str, until: str) -> str:
    """When the last session of an agent, other than this one, started first; "" without one.

    What is later than `until` counts for nothing: a clock was ahead when it was kept. The newest
    months are looked at first, and only what may be such a line is read. Raises StorageFailed.
    """
    by_month: dict[str, list[str]] = {}
    for device, name in _files(state_dir):
        by_month.setdefault(name, []).append(device)
    for name in sorted(by_month, reverse=True):
        kept = (_data(state_dir, device, name) for device in by_month[name])
        likely = (line for data in kept for line in _lines_with(data, _STARTED))
        starts = [each for line in likely if (each := _start(line, agent, session))]
        starts = [each for each in starts if each[0] <= until]
        if starts:
            last = max(starts)[1]
            return min(time for time, each in starts if each == last)
    return ""


def _lines_with(data: bytes, mark: bytes) -> Iterator[bytes]:
    """The lines in which something stands, without a look at each of the others."""
    at = data.find(mark)
    while at >= 0:
        start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at) + 1
        yield data[start : end or len(data)]
        at = data.find(mark, end or len(data))


def _start(line: bytes, agent: str, session: str) -> tuple[str, str] | None:
    """Time and session of a line that is a start of this agent in another session.

    Without names of sessions, each start is taken for one.
    """
    try:
        one = parse(line)
    except ValueError:
        return None
    named = one.caller.session or one.time
    if one.tool != "start_session" or one.error or one.caller.agent != agent or named == session:
        return None
    return one.time, named


def count_before(state_dir: Path, day: str) -> int:
    """Count the retrievals before a day, YYYY-MM-DD. Raises StorageFailed."""
    return sum(one.time < day for one in read_audit(state_dir).retrievals)


def drop_before(state_dir: Path, device: str, day: str) -> int:
    """Take the retrievals before a day out for good, and return how many.

    Of other devices only whole months go, for theirs to write is the current one. Whoever calls
    holds the vault's lock. Raises StorageFailed.
    """
    dropped = 0
    for owner, name in _files(state_dir):
        if name[:7] > day[:7] or (owner != device and name[:7] == day[:7]):
            continue
        lines = _lines(state_dir, owner, name)
        kept = [line for line in lines if not _is_before(line, day)]
        dropped += len(lines) - len(kept)
        if len(kept) < len(lines):
            _put(state_dir, owner, name, kept)
    return dropped


def _put(state_dir: Path, device: str, name: str, lines: list[bytes]) -> None:
    try:
        with opened_folder(state_dir, (FOLDER, device)) as folder:
            if lines:
                replace_file(folder, name, lines)
            else:
                remove_file(folder, name)
    except OSError as error:
        raise _failed(state_dir, error) from error


def _is_before(line: bytes, day: str) -> bool:
    try:
        return parse(line).time < day
    except ValueError:
        return False


def _files(state_dir: Path) -> list[tuple[str, str]]:
    found = (state_dir / FOLDER).glob("*/????-??.jsonl")
    return sorted((path.parent.name, path.name) for path in found)


def _lines(state_dir: Path, device: str, name: str) -> list[bytes]:
    return _split(_data(state_dir, device, name))


def _split(data: bytes) -> list[bytes]:
    # Who saw a line half written has begun his own on a new one.
    return [line for line in io.BytesIO(data) if line != b"\n"]


def _data(state_dir: Path, device: str, name: str) -> bytes:
    try:
        with (
            opened_folder(state_dir, (FOLDER, device)) as folder,
            opened_file(folder, name) as descriptor,
            os.fdopen(os.dup(descriptor), "rb") as file,
        ):
            return file.read()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise _failed(state_dir, error) from error


def _failed(state_dir: Path, error: OSError) -> StorageFailed:
    return StorageFailed(str(state_dir / FOLDER), reason_of(error))


# A retrieval as JSON


def to_raw(retrieval: Retrieval) -> dict[str, Any]:
    """Return a retrieval as a JSON object; what is empty is left out."""
    one = retrieval
    optional = {
        "filters": {name: _valid(value) for name, value in one.filters.items()},
        "given": [_given(rank, part) for rank, part in enumerate(one.given, 1)],
        "moreGiven": one.more_given,
        "leftOut": [{"note": o.note, "reason": o.reason, "tokens": o.tokens} for o in one.left_out],
        "moreLeftOut": one.more_left_out,
        "error": one.error,
        "struck": one.struck,
        "redacted": one.redacted,
    }
    return {
        "v": VERSION,
        "time": one.time,
        "tool": one.tool,
        "caller": actor_to_raw(one.caller),
        "query": readable(one.query),
        "found": one.found,
        "tokens": one.tokens,
        **{name: value for name, value in optional.items() if value},
    }


def _given(rank: int, part: Given) -> dict[str, Any]:
    raw: dict[str, Any] = {"rank": rank, "note": part.note}
    if part.observation:
        raw["observation"] = part.observation
    if part.version is not None:
        raw["version"] = part.version
    return raw | {"revision": part.revision, "tokens": part.tokens}


def _valid(value: str | int) -> str | int:
    return readable(value) if isinstance(value, str) else value


def parse(line: bytes) -> Retrieval:
    """Read a line as a retrieval. Raises ValueError when it is none of this version."""
    if torn(line):
        raise ValueError("a torn line")
    try:
        raw = _loaded(line)
        if raw["v"] != VERSION or raw["tool"] not in _RETRIEVERS:
            raise ValueError(f"it is no retrieval of version {VERSION}")
        return Retrieval(
            time=_time(raw["time"]),
            tool=raw["tool"],
            caller=actor_from_raw(raw["caller"]),
            query=_text(raw["query"]),
            found=_number(raw["found"]),
            tokens=_number(raw["tokens"]),
            filters=dict(raw.get("filters", {})),
            given=tuple(map(_part, raw.get("given", ()))),
            more_given=_number(raw.get("moreGiven", 0)),
            left_out=tuple(map(_omission, raw.get("leftOut", ()))),
            more_left_out=_number(raw.get("moreLeftOut", 0)),
            error=_text(raw.get("error", "")),
            struck=_text(raw.get("struck", "")),
            redacted=raw.get("redacted") is True,
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("it is no retrieval") from error


def _loaded(line: bytes) -> Any:
    """What a line says; halves of characters, which other programs may write, are none."""
    raw = json.loads(line)
    if b"\\ud" in line.lower():
        raw = json.loads(readable(json.dumps(raw, ensure_ascii=False)))
    return raw


def _time(value: object) -> str:
    text = _text(value)
    if not _TIME.fullmatch(text):
        raise ValueError("it is no time of the audit")
    datetime.datetime.fromisoformat(text)
    return text


def _part(raw: dict[str, Any]) -> Given:
    version = raw.get("version")
    return Given(
        intern(_text(raw["note"])),
        intern(_text(raw["revision"])),
        _number(raw["tokens"]),
        intern(_text(raw.get("observation", ""))),
        None if version is None else _number(version),
    )


def _omission(raw: dict[str, Any]) -> LeftOut:
    return LeftOut(_text(raw["note"]), _text(raw["reason"]), _number(raw["tokens"]))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("it should be a text")
    return value


def _number(value: object) -> int:
    if type(value) is not int:  # True is no number.
        raise TypeError("it should be a number")
    return value

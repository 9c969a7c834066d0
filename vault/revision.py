"""Revisions: what was done to a note, by whom, and how a journal's line tells it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeVar, get_args

from .seal import Raw, canonical, to_bytes, to_text
from .source import readable
from .splices import Splice, in_order, invert

VERSION = 1
HIDDEN = ""
"""The path or token of a record from which it was redacted."""

MAX_HIDDEN_BYTES = 64 * 1024 * 1024
MAX_NUMBER = 2**53

Origin = Literal["owner", "agent", "untrusted", "system"]
Op = Literal[
    "create",
    "append",
    "update",
    "forget",
    "restore",
    "edit",
    "external",
    "delete",
    "accept",
    "reject",
    "purge",
    "redact",
    "undone",
    "baseline",
]

_OPS: Mapping[str, Op] = {op: op for op in get_args(Op)}
_ORIGINS: Mapping[str, Origin] = {origin: origin for origin in get_args(Origin)}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
_NEEDED: Mapping[str, type] = {
    "v": int,
    "seq": int,
    "time": str,
    "device": str,
    "op": str,
    "note": str,
    "splices": list,
    "caller": dict,
    "digest": str,
    "prev": str,
    "hash": str,
}
_OPTIONAL: Mapping[str, type] = {
    "path": str,
    "base": str,
    "observation": str,
    "version": int,
    "parent": int,
    "changes": list,
    "of": str,
    "key": str,
    "reason": str,
    "salt": str,
    "salts": dict,
    "sealed": dict,
}
_OPTIONAL_OF_CHANGE: Mapping[str, type] = {"version": int, "parent": int, "op": str}
_OPTIONAL_OF_ACTOR: Mapping[str, type] = {
    "agent": str,
    "instance": str,
    "session": str,
    "clientVersion": str,
}
_Named = TypeVar("_Named", bound=str)


@dataclass(frozen=True, slots=True)
class Actor:
    """Who makes a revision. The door sets the origin; the rest is what the caller said."""

    agent: str
    instance: str = ""
    session: str = ""
    client_version: str = ""
    origin: Origin = "agent"


@dataclass(frozen=True, slots=True)
class Change:
    """What a revision means for one observation: version `version`, made from `parent`."""

    observation: str
    version: int | None = None
    parent: int | None = None
    op: Op | None = None
    """What became of it, where that differs from the operation of the revision."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One change of one note, as its writer states it.

    `before` and `after` are the version tokens of the file, None when there is none. `base` is
    the hash of the record that led to the state before, "" when there is no such record. A
    revision whose `before` is None holds the whole text. `of` is the hash of the record that an
    `undone`, `restore` or `redact` is about. `changes` are for a revision that touches several
    observations, as an edit by the owner may; one alone stands in `observation`. `key` is made
    of the key by which a caller would know the write again.
    """

    op: Op
    note: str
    path: str
    splices: tuple[Splice, ...]
    before: str | None
    after: str | None
    actor: Actor
    base: str = ""
    observation: str | None = None
    version: int | None = None
    parent: int | None = None
    changes: tuple[Change, ...] = ()
    of: str | None = None
    reason: str = ""
    key: str = ""

    @property
    def touched(self) -> tuple[Change, ...]:
        """Every observation that the revision touches, each with its operation."""
        found = tuple(
            Change(each.observation, each.version, each.parent, each.op or self.op)
            for each in self.changes
        )
        if self.observation is None:
            return found
        return (Change(self.observation, self.version, self.parent, self.op), *found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(Revision):
    """A revision as it stands in the journal of a device.

    `hidden` names the parts that were redacted: a hidden text is so many zero bytes, a hidden
    path, token or reason is "".
    """

    seq: int
    time: str
    device: str
    digest: str
    prev: str
    hash: str
    hidden: frozenset[str] = frozenset()

    @property
    def redacted(self) -> bool:
        """Whether words are gone from it, and not only the token of a state that held some."""
        return not self.hidden <= {"before", "after"}

    @property
    def order(self) -> tuple[str, str, int]:
        """Where it stands among the records of all devices: by time, then device and number."""
        return self.time, self.device, self.seq

    @property
    def words(self) -> dict[str, bytes]:
        """The parts that may hold words and are still there, by the names of `seal.parts`."""
        found = {"path": self.path.encode(), "reason": self.reason.encode()}
        for number, splice in enumerate(self.splices):
            found[f"{number}.removed"] = splice.removed
            found[f"{number}.inserted"] = splice.inserted
        return {name: text for name, text in found.items() if text and name not in self.hidden}


def as_time(moment: datetime) -> str:
    """A moment as records tell it: in UTC, to the millisecond. Raises OverflowError."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def undoing(record: Record, actor: Actor, reason: str = "") -> Revision:
    """Return the revision that takes back the last record of a note, `undone`.

    It is one like any other: its splices are the reverse, and every observation that the
    record touched goes up by one version again, so that no version number has two meanings.
    """
    changes = tuple(
        Change(each.observation, (each.version or 0) + 1, each.version) for each in record.touched
    )
    return Revision(
        "undone",
        record.note,
        record.path,
        invert(record.splices),
        record.after,
        record.before,
        actor,
        base=record.hash,
        changes=changes,
        of=record.hash,
        reason=reason,
    )


def to_raw(revision: Revision, *, seq: int, time: str, device: str, prev: str) -> Raw:
    """Return a revision as a JSON object that is ready to be sealed; empty fields are left out.

    What a caller said about itself and its reason are made valid text, for neither may fail
    a write.
    """
    optional = {
        "observation": revision.observation,
        "version": revision.version,
        "parent": revision.parent,
        "changes": [_change_to_raw(each) for each in revision.changes],
        "of": revision.of,
        "key": revision.key,
        "base": revision.base,
        "reason": readable(revision.reason),
    }
    return {
        "v": VERSION,
        "seq": seq,
        "time": time,
        "device": device,
        "op": revision.op,
        "note": revision.note,
        "path": revision.path,
        "splices": [_splice_to_raw(each) for each in revision.splices],
        "before": revision.before,
        "after": revision.after,
        "caller": actor_to_raw(revision.actor),
        "prev": prev,
        **_filled(optional),
    }


def _filled(raw: Raw) -> Raw:
    return {name: value for name, value in raw.items() if value not in ("", None, [])}


def _change_to_raw(change: Change) -> Raw:
    return _filled(
        {
            "observation": change.observation,
            "version": change.version,
            "parent": change.parent,
            "op": change.op,
        }
    )


def _splice_to_raw(splice: Splice) -> Raw:
    texts = {"removed": to_text(splice.removed), "inserted": to_text(splice.inserted)}
    return {"start": splice.start, **_filled(texts)}


def actor_to_raw(actor: Actor) -> Raw:
    """Return a caller as a JSON object; empty fields are left out."""
    said = {
        "agent": actor.agent,
        "instance": actor.instance,
        "session": actor.session,
        "clientVersion": actor.client_version,
    }
    return {
        **_filled({name: readable(text) for name, text in said.items()}),
        "origin": actor.origin,
    }


def parse(line: bytes) -> tuple[Raw, Record]:
    """Read a line as a JSON object and as a record. Raises ValueError when it is no record."""
    try:
        raw = json.loads(line)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    record = from_raw(raw)
    if b"\\u" in line:
        canonical(raw)  # Only an escape can bring in half a surrogate pair, which is no text.
    return raw, record


def from_raw(raw: object) -> Record:
    """Read a JSON object as a record. Raises ValueError when it is none of this version."""
    found = _checked(raw, _NEEDED, _OPTIONAL)
    time, splices = found["time"], tuple(map(_splice, found["splices"]))
    if found["v"] != VERSION or not _TIME.fullmatch(time) or not in_order(splices):
        raise ValueError(f"it is no record of version {VERSION}")
    if not all(map(_only_texts, (found.get("salts", {}), found.get("sealed", {})))):
        raise ValueError("its seals are no texts")
    return Record(
        op=_one_of(_OPS, found["op"]),
        note=found["note"],
        path=found.get("path", HIDDEN),
        splices=splices,
        before=_token(found.get("before", HIDDEN)),
        after=_token(found.get("after", HIDDEN)),
        actor=actor_from_raw(found["caller"]),
        base=found.get("base", ""),
        observation=found.get("observation"),
        version=found.get("version"),
        parent=found.get("parent"),
        changes=tuple(map(_change, found.get("changes", ()))),
        of=found.get("of"),
        key=found.get("key", ""),
        reason=found.get("reason", ""),
        seq=found["seq"],
        time=time,
        device=found["device"],
        digest=found["digest"],
        prev=found["prev"],
        hash=found["hash"],
        hidden=frozenset(found.get("sealed", ())),
    )


def _checked(raw: object, needed: Mapping[str, type], optional: Mapping[str, type]) -> Raw:
    """Return a JSON object whose fields have these types; it may have others besides."""
    if not isinstance(raw, dict) or not needed.keys() <= raw.keys():
        raise ValueError("it is no object, or a field is missing")
    for name, value in raw.items():
        # `type` and not isinstance: True is no number.
        found, kind = type(value), needed.get(name) or optional.get(name)
        if kind is not None and found is not kind:
            raise ValueError(f"its {name} is of another type")
        if found is int and abs(value) > MAX_NUMBER:
            raise ValueError(f"its {name} is too large")
    return raw


def _only_texts(found: Mapping[str, object]) -> bool:
    return all(isinstance(each, str) for each in found.values())


def _one_of(known: Mapping[str, _Named], value: str) -> _Named:
    if value not in known:
        raise ValueError(f"{value!r} is none of {', '.join(known)}")
    return known[value]


def _token(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise ValueError("a token is no text")


def _splice(raw: object) -> Splice:
    found = _checked(raw, {"start": int}, {})
    return Splice(found["start"], _text(found.get("removed", "")), _text(found.get("inserted", "")))


def _text(value: object) -> bytes:
    if type(value) is int and 0 <= value <= MAX_HIDDEN_BYTES:
        return bytes(value)
    return to_bytes(value)


def _change(raw: object) -> Change:
    found = _checked(raw, {"observation": str}, _OPTIONAL_OF_CHANGE)
    op = _one_of(_OPS, found["op"]) if "op" in found else None
    return Change(found["observation"], found.get("version"), found.get("parent"), op)


def actor_from_raw(raw: object) -> Actor:
    """Read a JSON object as a caller. Raises ValueError when it is none."""
    found = _checked(raw, {"origin": str}, _OPTIONAL_OF_ACTOR)
    return Actor(
        found.get("agent", ""),
        found.get("instance", ""),
        found.get("session", ""),
        found.get("clientVersion", ""),
        _one_of(_ORIGINS, found["origin"]),
    )

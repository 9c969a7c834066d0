"""How a record of the journal is hashed, so that its words can be taken out later.

The *parts* of a record are what may hold or betray words: `path`, `reason`, the texts of its
splices, and the tokens `before` and `after`, for a token is a hash of a whole file and would let
a guess at the words be tested. Each part is hashed with a salt of its own; `digest` is the
hash of those hashes, and `hash` covers the digest, never a part. To take a part out, its text
and its salt are removed and its hash is kept: the record still verifies, and a guess cannot be
tested against a hash whose salt is gone. (The method is that of salted claims in SD-JWT, RFC 9901.)

A record is handled here as the JSON object that stands in the file, so that fields that this
version does not know are hashed and kept too.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Container, Iterable
from typing import Any, Literal

Raw = dict[str, Any]
"""A record as a JSON object."""

TOKENS = ("before", "after")
NAMED_PARTS = ("path", "reason", *TOKENS)
SIDES = ("removed", "inserted")
SALT_BYTES = 16

_UNHASHED = {*NAMED_PARTS, "splices", "salt", "salts", "sealed", "hash"}
_encode: Callable[[Any], str] = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
).encode


def canonical(value: object) -> bytes:
    """Return the one JSON form of a value: keys sorted, no blanks, UTF-8 (RFC 8785 for our types).

    Raises ValueError for what has none: lone surrogates, numbers that are not finite.
    """
    return _encode(value).encode("utf-8")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def to_text(data: bytes) -> str | dict[str, str]:
    """Return bytes as JSON holds them: a string, or base64 when they are not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def to_bytes(value: object) -> bytes:
    """Return the bytes that a JSON text stands for. Raises ValueError when it is none."""
    if isinstance(value, str):
        return value.encode("utf-8")
    if isinstance(value, dict) and isinstance(coded := value.get("base64"), str):
        return base64.b64decode(coded, validate=True)
    raise ValueError("not a text")


def parts(raw: Raw) -> Raw:
    """Return the parts of a record that are there, by name: `path`, `0.inserted`, …"""
    found = {name: raw[name] for name in NAMED_PARTS if name in raw}
    for number, splice in enumerate(raw["splices"]):
        for side in SIDES:
            if side in splice and not isinstance(splice[side], int):
                found[f"{number}.{side}"] = splice[side]
    return found


def _salt(salt: str, name: str) -> str:
    """Return the salt of one part, from that of the record; the way back is not to be found."""
    return _sha256(f"{salt}/{name}".encode())[: 2 * SALT_BYTES]


def _part_hash(salt: str, value: object) -> str:
    return _sha256(salt.encode() + canonical(value))


def _salts(raw: Raw, names: Iterable[str]) -> dict[str, str]:
    """Return the salts of the parts that are there, which are `names`."""
    if "salt" in raw:
        return {name: _salt(raw["salt"], name) for name in names}
    return dict(raw.get("salts", {}))


def _digest(raw: Raw) -> str | None:
    """Return the digest from the parts or their hashes; None if salts and parts differ."""
    there, sealed = parts(raw), raw.get("sealed", {})
    salts = _salts(raw, there)
    if there.keys() != salts.keys() or there.keys() & sealed.keys() or (sealed and "salt" in raw):
        return None
    hashes = {name: _part_hash(salts[name], value) for name, value in there.items()}
    return _sha256(canonical({**hashes, **sealed}))


def _hash(raw: Raw) -> str:
    """Return the hash of a record: of all but its parts, with lengths in the place of texts."""
    covered = {name: value for name, value in raw.items() if name not in _UNHASHED}
    covered["splices"] = [_measured(splice, SIDES) for splice in raw["splices"]]
    return _sha256(canonical(covered))


def seal(raw: Raw, salt: str) -> Raw:
    """Return a new record with its salt (32 hexadecimal digits, random), digest and hash."""
    sealed = {**raw, "salt": salt}
    sealed["digest"] = _digest(sealed)
    sealed["hash"] = _hash(sealed)
    return sealed


def seal_problem(raw: Raw) -> Literal["hash", "digest"] | None:
    """Say which is not what was written: a record's facts (`hash`) or its parts (`digest`)."""
    if _hash(raw) != raw["hash"]:
        return "hash"
    return None if _digest(raw) == raw["digest"] else "digest"


def without(raw: Raw, names: Iterable[str]) -> Raw:
    """Return a record without these parts; those that it does not have are passed over.

    A text of a splice gives way to its length in bytes, so that the splice still applies.
    """
    there = parts(raw)
    salts = _salts(raw, there)
    gone = there.keys() & set(names)
    if not gone:
        return raw
    rest = {name: value for name, value in raw.items() if name not in gone and name != "salt"}
    rest["splices"] = [
        _measured(splice, {side for side in SIDES if f"{number}.{side}" in gone})
        for number, splice in enumerate(raw["splices"])
    ]
    # Without its salt, a hash would tell the words to whoever guesses them: then none is kept.
    hashes = {name: _part_hash(salts.pop(name), there[name]) for name in gone if name in salts}
    rest["salts"] = salts
    rest["sealed"] = {**raw.get("sealed", {}), **hashes}
    return rest


def _measured(splice: Raw, sides: Container[str]) -> Raw:
    """Return a splice with lengths in bytes in the place of the texts on these sides."""
    return {
        name: len(to_bytes(value)) if name in sides and not isinstance(value, int) else value
        for name, value in splice.items()
    }

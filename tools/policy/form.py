"""The first check of a write: whether what is to be remembered has a form that can be kept."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from ...vault.errors import InvalidArgument
from ...vault.markdown import parse
from ...vault.memory import canonical, normal_form
from ..answers import MemoryType

TAG = re.compile(r"[\w/-]*[^\W\d][\w/-]*")
REFERENCE = re.compile(r"[A-Za-z0-9-]{1,64}(@v[0-9]{1,9})?")
SUMMARY_LENGTH = 500


@dataclass(frozen=True, slots=True)
class Candidate:
    """An observation on its way into a note: checked words and the fields of its line."""

    text: str
    tags: tuple[str, ...]
    fields: Mapping[str, str]
    summary: str | None
    form: str

    @property
    def pending(self) -> bool:
        """Whether it is to wait for the owner's review."""
        return "status" in self.fields

    @property
    def type(self) -> str:
        """The type of memory."""
        return self.fields.get("type", "semantic")

    @property
    def words(self) -> str:
        """The text with the tags that are not in it yet behind it."""
        there = {tag.casefold() for tag in parse(self.text).tags}
        more = dict.fromkeys(tag for tag in self.tags if tag.casefold() not in there)
        return " ".join([self.text, *(f"#{tag}" for tag in more)])

    def is_told_by(self, known: str) -> bool:
        """Whether another text says this already: the same words, and all tags in them."""
        if normal_form(known) != self.form:
            return False
        return set(parse(self.text).tags) <= set(parse(known).tags)


def check_form(
    observation: str,
    summary: str | None,
    kind: str,
    tags: Sequence[str],
    derived_from: Sequence[str],
    expires: str | None,
) -> Candidate:
    """Return a candidate of what a caller wants remembered.

    Raises `ObservationRefused` and `InvalidArgument` for what cannot be kept as it is.
    """
    fields = {
        "type": "" if kind == "semantic" else _checked_type(kind),
        "expires": _checked_date(expires) if expires else "",
        "derived_from": ", ".join(map(_checked_reference, derived_from)),
    }
    text = canonical(observation)
    return Candidate(
        text=text,
        tags=tuple(map(checked_tag, tags)),
        fields={key: value for key, value in fields.items() if value},
        summary=_checked_summary(summary) if summary else None,
        form=normal_form(text),
    )


def _checked_type(kind: str) -> str:
    known = get_args(MemoryType)
    if kind not in known:
        raise InvalidArgument("type", f"{kind!r} is not one of {', '.join(known)}")
    return kind


def _checked_date(text: str) -> str:
    try:
        return dt.date.fromisoformat(text).isoformat()
    except ValueError as problem:
        raise InvalidArgument("expires", f"{text!r} is not a date like 2027-01-31") from problem


def _checked_reference(text: str) -> str:
    if not REFERENCE.fullmatch(text):
        raise InvalidArgument("derived_from", f"{text!r} is not the id of an observation")
    return text


def checked_tag(text: str) -> str:
    """Return a tag without its `#`. Raises `InvalidArgument` when it is none."""
    tag = text.removeprefix("#")
    if not TAG.fullmatch(tag) or len(tag) > 100:
        raise InvalidArgument("tags", f"{text!r} is not a tag: letters, digits, _ - / only")
    return tag


def _checked_summary(text: str) -> str:
    summary = " ".join(text.split())
    if len(summary) > SUMMARY_LENGTH:
        raise InvalidArgument("summary", f"it is longer than {SUMMARY_LENGTH} characters")
    return summary

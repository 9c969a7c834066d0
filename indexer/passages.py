"""What of a note is ranked: its head, and its passages.

A passage is a live observation of a memory note, or a section of a user-doc (a long section in
several parts). The head stands for the note as a whole: title, aliases, tags, category and path
words. Positions are character offsets into `Source.text`. Observations that are expired or not
active leave nothing here, neither words nor tags nor links; nor do the notes of a thread and
plans, which are asked for by their names and never found by their words.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from ..vault.layout import Layout
from ..vault.memory import ACTIVE, Observation, observations
from ..vault.note import Note, parse_note
from ..vault.source import readable
from .analysis import terms

PART_LENGTH = 1600
"""Characters after which a section is divided, at a blank line or else at a blank."""

ZONES = {"title": 2.0, "tags": 1.6, "heading": 1.4, "body": 1.0, "path": 0.6}
"""How much a term counts by where it stands, before saturation (BM25F, Robertson et al. 2004)."""

SATURATION = 1.2
LENGTH_SHARE = 0.4
PIVOT = 60.0
"""BM25's k1 and b, and a fixed mean passage length in terms. A fixed pivot makes the impact of
a posting a function of its passage alone, so that no edit elsewhere can change it."""

QUIET = frozenset({"progress", "thread"})
"""Kinds of notes of which no word is found or recalled."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a note: where it is, and what recall must know before it shows it.

    `line` counts from 0 in the body. Of an observation, `words` are what was remembered, without
    marker, fields and id; one that the owner added by hand has no id.
    """

    key: str
    start: int
    end: int
    line: int
    heading: str = ""
    is_observation: bool = False
    observation: str = ""
    origin: str = "owner"
    type: str = "semantic"
    expires: str = ""
    words: str = ""

    def values(self) -> tuple[object, ...]:
        """The fields in order, to be kept; `Passage(*values)` is this passage again."""
        return (
            self.key, self.start, self.end, self.line, self.heading, self.is_observation,
            self.observation, self.origin, self.type, self.expires, self.words,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Document:
    """What is written to the text index: a key that changes with the words, and the impacts."""

    key: str
    impacts: Mapping[str, float]


def today() -> str:
    """The day by which observations expire: an ISO date, in UTC."""
    return datetime.now(UTC).date().isoformat()


def is_live(observation: Observation, day: str) -> bool:
    """Whether an observation may be recalled on a day: it is active, and not expired by then."""
    active = observation.status in ACTIVE
    return active and not (observation.expires and observation.expires < day)


def visible(layout: Layout, note: Note, day: str) -> Note:
    """Return a note with blanks in the place of each observation that is not live.

    What is read of that has the offsets and lines of the note, and nothing of what is hidden.
    """
    if note.place.note_class != "agent-memory":
        return note
    if note.kind in QUIET:
        head = note.source.text[: note.source.body]
        return parse_note(layout, note.path, head.encode("utf-8", "surrogateescape"))
    hidden = [one for one in observations(note) if not is_live(one, day)]
    if not hidden:
        return note
    text, at, pieces = note.source.text, 0, []
    for one in hidden:
        start, end = note.source.body + one.start, note.source.body + one.end
        pieces += [text[at:start], *(c if c in "\r\n" else " " for c in text[start:end])]
        at = end
    kept = "".join([*pieces, text[at:]])
    return parse_note(layout, note.path, kept.encode("utf-8", "surrogateescape"))


def rests(note: Note) -> tuple[tuple[str, str], ...]:
    """Return the ids of a note's active observations, each with one that it rests on."""
    if note.place.note_class != "agent-memory" or note.kind in QUIET:
        return ()
    named = (one for one in observations(note) if one.id and one.status in ACTIVE)
    return tuple((one.id, each.partition("@")[0]) for one in named for each in one.derived_from)


def passages(note: Note, day: str | None = None) -> tuple[Passage, ...]:
    """Return the passages of a note in the order of the file, as they are on a day, or now."""
    if note.kind in QUIET:
        return ()
    if note.place.note_class == "agent-memory":
        return tuple(_memory(note, day or today()))
    return tuple(_sections(note, _headed_spans(note)))


def documents(note: Note, parts: tuple[Passage, ...]) -> tuple[Document, ...]:
    """Return the index documents of a visible note: its head, then one for each passage."""
    if note.kind in QUIET:
        return (_document(()),)
    text = note.source.text
    bodies = ((part.heading, part.words or readable(text[part.start : part.end])) for part in parts)
    return (
        _head(note),
        *(_document((("heading", heading), ("body", body))) for heading, body in bodies),
    )


def _memory(note: Note, day: str) -> Iterator[Passage]:
    base = note.source.body
    found = observations(note)
    for observation in found:
        if is_live(observation, day):
            yield _observation(observation, base)
    gaps = _gaps(base, len(note.source.text), [(base + o.start, base + o.end) for o in found])
    prose = ((start, end, "") for start, end in gaps if _has_prose(note.source.text[start:end]))
    yield from _sections(note, prose)


def _observation(observation: Observation, base: int) -> Passage:
    return Passage(
        key=_key("", observation.text),
        start=base + observation.start,
        end=base + observation.end,
        line=observation.line,
        is_observation=True,
        observation=observation.id,
        origin=observation.origin,
        type=observation.type,
        expires=observation.expires,
        words=observation.text,
    )


def _gaps(start: int, end: int, taken: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for first, last in taken:
        if first > start:
            yield start, first
        start = max(start, last)
    if end > start:
        yield start, end


def _has_prose(text: str) -> bool:
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines())


def _headed_spans(note: Note) -> Iterator[tuple[int, int, str]]:
    base, text = note.source.body, note.source.text
    marks = [(base + heading.start, heading.text) for heading in note.structure.headings]
    bounds = [(base, ""), *marks, (len(text), "")]
    for (start, heading), (end, _) in pairwise(bounds):
        yield start, end, heading


def _sections(note: Note, spans: Iterator[tuple[int, int, str]]) -> Iterator[Passage]:
    text = note.source.text
    line, counted = 0, note.source.body
    for section_start, section_end, heading in spans:
        for start, end in _parts(text, section_start, section_end):
            line += text.count("\n", counted, start)
            counted = start
            yield Passage(
                key=_key(heading, text[start:end]), start=start, end=end, line=line, heading=heading
            )


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while True:
        while start < end and text[start].isspace():
            start += 1
        if start >= end:
            return
        cut = end if end - start <= PART_LENGTH else _cut(text, start, start + PART_LENGTH)
        stop = cut
        while text[stop - 1].isspace():
            stop -= 1
        yield start, stop
        start = cut


def _cut(text: str, start: int, latest: int) -> int:
    for mark in ("\n\n", "\n", " "):
        cut = text.rfind(mark, start + PART_LENGTH // 4, latest)
        if cut > 0:
            return cut
    return latest


def _head(note: Note) -> Document:
    place = note.place
    stem = note.path.removesuffix(".md")
    category = str(note.properties.get("category") or "") if place.axis else ""
    return _document(
        (
            ("title", note.title),
            ("title", "\n".join(note.aliases)),
            ("tags", " ".join(note.tags)),
            ("tags", category),
            ("body", note.summary),
            ("path", stem.replace("/", " ")),
        )
    )


def _document(zones: tuple[tuple[str, str], ...]) -> Document:
    weights: dict[str, float] = {}
    length = 0
    for zone, text in zones:
        if not text:
            continue
        weight = ZONES[zone]
        for term, times in Counter(terms(text)).items():
            weights[term] = weights.get(term, 0.0) + weight * times
            length += times
    norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / PIVOT)
    scale = SATURATION + 1
    impacts = {term: scale * weight / (weight + norm) for term, weight in weights.items()}
    return Document(_key(*(text for _, text in zones)), impacts)


def _key(*texts: str) -> str:
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=8).hexdigest()

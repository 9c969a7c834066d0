"""A vault for benchmarks: the same count and seed give the same bytes.

Notes are in English and Spanish, with frontmatter, headings, prose, facts in bullets, and
wikilinks: half of them to notes near by, half to hubs. Words follow Zipf's law, with a long tail
of invented names. One note in thirty is memory, of the user or of a project.

Another generator may take its place: a Python file with `generate(out, count, seed)` and
`known_item_queries(vault, n, seed)`, which returns mappings with `kind`, `text` and `note`.
"""

from __future__ import annotations

import bisect
import datetime as dt
import importlib.util
import itertools
import random
import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import words
from words import ENGLISH, FOLDERS, PEOPLE, PROJECTS, SPANISH, TAGS, Language

FIRST_DAY = dt.date(2022, 1, 3)
TAIL = 15_000
LINKS = 3
MEMORY_SHARE = 30
"""One note in so many is a memory note."""

_SENTENCE = re.compile(r"[^.\n]{30,400}\.")
_WORD = re.compile(r"[\w-]{4,}")


class Generator(Protocol):
    """What makes a vault and questions to it."""

    def generate(self, out: Path, count: int, seed: int) -> Any:
        """Write `count` notes below `out`."""

    def known_item_queries(self, vault: Path, n: int, seed: int) -> list[dict[str, str]]:
        """Return questions that were taken from a note, which is the one to be found."""


def load(path: Path | None) -> Generator:
    """Return this generator, or the module at a path."""
    if path is None:
        return sys.modules[__name__]  # type: ignore[return-value]
    spec = importlib.util.spec_from_file_location("other_generator", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module  # type: ignore[return-value]


class Pool:
    """Words of which the one of rank r is drawn with weight 1 / r**exponent (Zipf's law)."""

    def __init__(self, items: Sequence[str], exponent: float) -> None:
        self._items = list(dict.fromkeys(items))
        random.Random(len(self._items)).shuffle(self._items)
        weights = (rank**-exponent for rank in range(1, len(self._items) + 1))
        self._sums = list(itertools.accumulate(weights))

    def draw(self, rng: random.Random) -> str:
        """Draw one word."""
        return self._items[bisect.bisect(self._sums, rng.random() * self._sums[-1])]


class Speaker:
    """Makes sentences in one language from one stream of random numbers."""

    def __init__(self, language: Language, rng: random.Random) -> None:
        self.language, self._rng = language, rng
        self._pools = {
            "n": Pool(language.nouns, 0.7),
            "v": Pool(language.verbs, 0.7),
            "a": Pool(language.adjectives, 0.7),
            "x": Pool(words.invented_names(TAIL), 0.9),
            "p": Pool(PEOPLE, 0.8),
        }

    def fill(self, frame: str, **more: str) -> str:
        """Fill a frame with words."""
        drawn = {name: pool.draw(self._rng) for name, pool in self._pools.items()}
        again = {f"{name}2": self._pools[name].draw(self._rng) for name in "na"}
        text = frame.format(**drawn, **again, d=self._rng.randrange(2, 80), **more)
        return text[0].upper() + text[1:]

    def sentence(self) -> str:
        """Make a sentence."""
        return self.fill(self._rng.choice(self.language.frames))

    def fact(self) -> str:
        """Make a sentence as it stands in memory."""
        return self.fill(self._rng.choice(self.language.facts))

    def paragraph(self) -> str:
        """Make a few sentences."""
        return " ".join(self.sentence() for _ in range(self._rng.randrange(2, 7)))


@dataclass(frozen=True, slots=True)
class Plan:
    """A note to be written."""

    path: str
    title: str
    speaker: Speaker


class Author:
    """Writes one vault."""

    def __init__(self, count: int, seed: int) -> None:
        self._rng = random.Random(seed)
        self._speakers = [Speaker(language, self._rng) for language in (ENGLISH, SPANISH)]
        self._memory = list(_memory_paths(count))
        self._plans = [self._plan(number) for number in range(count - len(self._memory))]

    def notes(self) -> Iterator[tuple[str, str]]:
        """Yield the path and the text of each note."""
        for number, plan in enumerate(self._plans):
            yield plan.path, self._user_doc(plan, number)
        for path, category in self._memory:
            yield path, self._memory_note(category)

    def _plan(self, number: int) -> Plan:
        speaker = self._rng.choice(self._speakers)
        title = f"{speaker.fill(self._rng.choice(speaker.language.titles))} {number}"
        title = title.replace(":", "")
        folder = FOLDERS[number % len(FOLDERS)]
        if self._rng.random() < 0.3:
            folder = f"projects/{_project(number % 97)}"
        return Plan(f"{folder}/{title}.md", title, speaker)

    def _targets(self, number: int) -> list[str]:
        """Titles to link to: half of them near by, half hubs."""
        found: dict[str, None] = {}
        total = len(self._plans)
        for _ in range(min(LINKS, total - 1)):
            near = (number + self._rng.randrange(1, 20)) % total
            hub = int(total * self._rng.random() ** 4)
            chosen = near if self._rng.random() < 0.5 else hub
            if chosen != number:
                found[self._plans[chosen].title] = None
        return list(found)

    def _user_doc(self, plan: Plan, number: int) -> str:
        speaker, language, rng = plan.speaker, plan.speaker.language, self._rng
        day = FIRST_DAY + dt.timedelta(days=rng.randrange(1700))
        tags = ", ".join(sorted(rng.sample(TAGS, rng.randrange(1, 4))))
        parts = [f"---\ntags: [{tags}]\ncreated: {day}\n---\n# {plan.title}", speaker.paragraph()]
        for _ in range(rng.randrange(1, 5)):
            parts += [f"## {speaker.fill(rng.choice(language.headings))}", speaker.paragraph()]
        parts.append("\n".join(f"- {speaker.fact()}" for _ in range(rng.randrange(2, 6))))
        first, *others = self._targets(number) or [""]
        if first:
            parts.append(speaker.fill(rng.choice(language.links), link=first))
        if others:
            lines = "\n".join(f"- [[{title}]]" for title in others)
            parts.append(f"## {language.see_also}\n\n{lines}")
        return "\n\n".join(parts) + "\n"

    def _memory_note(self, category: str) -> str:
        lines = []
        for _ in range(self._rng.randrange(6, 40)):
            speaker = self._rng.choice(self._speakers)
            block = "".join(self._rng.choices("abcdefghjkmnpqrstvwxyz0123456789", k=6))
            link = f" See [[{self._rng.choice(self._plans).title}]]." if not len(lines) % 5 else ""
            lines.append(f"- {speaker.fact()}{link} ^{block}")
        body = "\n".join(lines)
        return f"---\ncategory: {category}\n---\n# {category}\n\n{body}\n"


def _project(number: int) -> str:
    return f"{PROJECTS[number % len(PROJECTS)]}-{number // len(PROJECTS)}"


def _memory_paths(count: int) -> Iterator[tuple[str, str]]:
    """The path and category of each memory note: the user's first, then by project."""
    places = itertools.chain(
        ((f"agent-memory/{name.lower()}.md", name) for name in words.USER_CATEGORIES),
        (
            (f"projects/{_project(number)}/agent-memory/{name.lower()}.md", name)
            for number in itertools.count()
            for name in words.PROJECT_CATEGORIES
        ),
    )
    return itertools.islice(places, count // MEMORY_SHARE)


def generate(out: Path, count: int, seed: int = 3) -> Mapping[str, int]:
    """Write `count` notes below `out`; return their number and bytes."""
    size = 0
    for path, text in Author(count, seed).notes():
        file = out / path
        file.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode()
        file.write_bytes(data)
        size += len(data)
    return {"notes": count, "bytes": size}


def known_item_queries(vault: Path, n: int, seed: int = 5) -> list[dict[str, str]]:
    """Return `n` questions of one to four words, each with the note that it was taken from.

    Kinds: `title` words of the title, `name` one invented name, `words` two to four words of one
    sentence, and `bare` the same without accents and capitals.
    """
    rng = random.Random(seed)
    paths = sorted(path.relative_to(vault).as_posix() for path in vault.rglob("*.md"))
    names = frozenset(words.invented_names(TAIL))
    found: list[dict[str, str]] = []
    kinds = itertools.cycle(("title", "name", "words", "bare"))
    kind = next(kinds)
    while len(found) < n:
        path = rng.choice(paths)
        text = _question(kind, path, (vault / path).read_text(encoding="utf-8"), names, rng)
        if text:
            found.append({"kind": kind, "text": text, "note": path})
            kind = next(kinds)
    return found


def _question(kind: str, path: str, note: str, names: frozenset[str], rng: random.Random) -> str:
    if kind == "title":
        title = [word for word in Path(path).stem.split() if len(word) > 2]
        return " ".join(title[:3]) if len(title) > 2 else ""
    sentences = [text for text in _SENTENCE.findall(note) if "[[" not in text]
    if not sentences:
        return ""
    found = list(dict.fromkeys(_WORD.findall(rng.choice(sentences))))
    if kind == "name":
        return next((word for word in found if word in names), "")
    chosen = rng.sample(found, min(len(found), rng.randrange(2, 5)))
    if len(chosen) < 2:
        return ""
    return " ".join(chosen) if kind == "words" else _bare(" ".join(chosen))


def _bare(text: str) -> str:
    letters = unicodedata.normalize("NFD", text.lower())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))

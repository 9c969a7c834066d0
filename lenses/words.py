"""The explorer's words in English and Spanish, and how each language writes dates and ages.

English is the key; `SPANISH` has a line for each text that a template or a page uses, and a test
compares the two.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Final

from .spanish import NAMES, SPANISH
from .spanish_failures import in_spanish
from .visit import Language

LANGUAGES: Final[dict[Language, str]] = {"en": "English", "es": "Español"}

_MONTHS: Final[dict[Language, str]] = {
    "en": "January February March April May June July August September October November December",
    "es": "enero febrero marzo abril mayo junio julio "
    "agosto septiembre octubre noviembre diciembre",
}
_UNITS: Final = (
    (365 * 86400, "{n} year ago", "{n} years ago"),
    (30 * 86400, "{n} month ago", "{n} months ago"),
    (86400, "{n} day ago", "{n} days ago"),
    (3600, "{n} hour ago", "{n} hours ago"),
    (60, "{n} minute ago", "{n} minutes ago"),
)


class Words:
    """The words of one language."""

    def __init__(self, language: Language) -> None:
        self.language = language

    def __call__(self, text: str, /, **values: object) -> str:
        """Return a text in this language, with values in the place of `{names}`."""
        said = SPANISH[text] if self.language == "es" else text
        return said.format(**values) if values else said

    def name(self, kind: str, code: str) -> str:
        """Return the word for one of our codes, such as an operation of the journal."""
        english, spanish = NAMES.get(f"{kind} {code}", (code, code))
        return spanish if self.language == "es" else english

    def failure(self, text: str) -> str:
        """Return what a failure says, or why, as far as its words are known in this language."""
        return in_spanish(text) if self.language == "es" else text

    def count(self, number: int, one: str, many: str) -> str:
        """Return a text with a number, in the singular or the plural."""
        return self(one if number == 1 else many, n=self.number(number))

    def number(self, number: int) -> str:
        """Return a number with its thousands apart."""
        return f"{number:,}".replace(",", "\u202f")

    def date(self, moment: datetime) -> str:
        """Return a day in words."""
        month = _MONTHS[self.language].split()[moment.month - 1]
        if self.language == "es":
            return f"{moment.day} de {month} de {moment.year}"
        return f"{moment.day} {month} {moment.year}"

    def time(self, moment: datetime) -> str:
        """Return a day and a time, to the minute."""
        return f"{self.date(moment)}, {moment:%H:%M}"

    def age(self, moment: datetime, now: datetime | None = None) -> str:
        """Return how long ago a moment was, in its largest unit."""
        seconds = ((now or datetime.now(UTC)) - moment).total_seconds()
        for size, one, many in _UNITS:
            if seconds >= size:
                return self.count(math.floor(seconds / size), one, many)
        return self("just now")

    def day(self, moment: datetime, today: datetime) -> str:
        """Return the heading of a day in a list that has the newest on top."""
        apart = (today.date() - moment.date()).days
        if apart in (0, 1):
            return self("Today") if apart == 0 else self("Yesterday")
        return self.date(moment)


def preferred(header: str) -> Language:
    """Return the language of ours that a browser wants most, by its `Accept-Language`."""
    best: tuple[float, Language] = (0.0, "en")
    for part in header[:200].split(","):
        name, _, weight = part.strip().partition(";q=")
        for language in LANGUAGES:
            if name.lower().partition("-")[0] == language:
                best = max(best, (_weight(weight), language), key=lambda each: each[0])
    return best[1]


def _weight(text: str) -> float:
    try:
        return float(text or 1)
    except ValueError:
        return 0.0


def moment_of(nanoseconds: int) -> datetime:
    """Return a file's time in the time zone of this machine."""
    seconds = min(max(nanoseconds / 1e9, 0.0), 4e9)
    return datetime.fromtimestamp(seconds, UTC).astimezone()


def parsed(time: str) -> datetime:
    """Return a time of the journal in the time zone of this machine."""
    return datetime.fromisoformat(time).astimezone()

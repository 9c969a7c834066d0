"""Category labels: which ones are acceptable, which name the same category, and their files.

Labels are never paths. Two that differ in case, in the kind of gap between words, or in
singular and plural name one category; the spelling that came first stays.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable

from .errors import CategoryRefused
from .paths import (
    fingerprint,
    finish_stem,
    fold_name,
    is_control,
    is_invisible,
    is_slash_like,
    only_dots,
    percent_decoded,
    safe_stem,
)

MAX_LABEL_CHARACTERS = 100
FORBIDDEN = "[]|#/\\"

_GAPS = re.compile(r"[\s_\-\u2010-\u2015\u2212]+")
_BLANKS = re.compile(r"\s+")

# Words that end like a plural and are none, or whose singular is another thing.
_NO_PLURALS = """
    news glasses series species means arms goods customs manners clothes shorts spirits odds
    thanks windows pandas rails lens mars wales athens jenkins macos devops
    gas atlas canvas bias alias pyjamas pajamas texas madras christmas
    chaos caos cosmos ethos pathos kudos thermos asbestos mythos
    lunes martes miércoles jueves viernes gracias celos tres seis
"""
# Words in -ics are mostly names of fields (physics, politics); these are plurals.
_PLURALS_IN_ICS = "topics metrics comics clinics critics fabrics"
_UNCHANGING, _CHANGING = frozenset(_NO_PLURALS.split()), frozenset(_PLURALS_IN_ICS.split())
_HISSING = ("s", "x", "z", "ch", "sh")
# Spanish plurals in -es whose ending no English plural shares: ciudades, canciones, colores, …
_SPANISH_PLURALS = (
    ("iones", "ión"),
    ("dades", "dad"),
    ("iales", "ial"),
    ("onales", "onal"),
    ("dores", "dor"),
    ("lores", "lor"),
    ("rrores", "rror"),
)


def _is_unchanging(word: str) -> bool:
    if not word.isalpha() or len(word) < 4 or word in _UNCHANGING:
        return True
    return word.endswith(("ss", "us", "is")) or (word.endswith("ics") and word not in _CHANGING)


def _without_e(word: str) -> str:
    """Take the final -e off where an English plural in -es would take it too: house, movie."""
    if word.endswith("ie"):
        return f"{word[:-2]}y"
    silent = word.endswith("oe") or (word.endswith("e") and word[:-1].endswith(_HISSING))
    return word[:-1] if silent else word


@functools.lru_cache(maxsize=4096)
def singular(word: str) -> str:
    """Return what a word and its regular plural, English or Spanish, have in common.

    It need not be a word: `houses` and `house` both give `hous`, `movies` and `movie` both
    `movy`. The word is lower-case. Conservative: irregular plurals (`mice`, `luces`) are left
    alone, as are words in -ss, -us, -is and most in -ics, words under four letters, words with
    a digit, and a list of words such as `news` and `glasses`, whose singular is another thing.
    """
    if _is_unchanging(word):
        return word
    for plural, one in _SPANISH_PLURALS:
        if word.endswith(plural):
            return word.removesuffix(plural) + one
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith("es"):
        stem = word[:-2]
        return stem if stem.endswith((*_HISSING, "o")) else word[:-1]
    return word[:-1] if word.endswith("s") else _without_e(word)


def category_key(label: str) -> str:
    """Return the form in which two labels name one category.

    Folded: case, Unicode compatibility forms, gaps (blanks, hyphens and underscores are one),
    and regular plurals, word by word (see `singular`). Accents are not: `Café` and `Cafe` are
    two categories; `category_near` finds the one from the other.
    """
    folded = fold_name(label)
    words = " ".join(singular(word) for word in _GAPS.split(folded) if word)
    return words or " ".join(folded.split())


def _without_accents(key: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", key) if not unicodedata.combining(c))


def category_near(label: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the known labels that differ from `label` only in accents. For suggestions."""
    key = category_key(label)
    plain = _without_accents(key)
    keys = ((each, category_key(each)) for each in known)
    return tuple(each for each, k in keys if k != key and _without_accents(k) == plain)


def _flaw(label: str) -> str | None:
    if len(label) > MAX_LABEL_CHARACTERS:
        return f"it is longer than {MAX_LABEL_CHARACTERS} characters"
    if not label.strip():
        return "it is blank"
    if any(map(is_control, label)):
        return "it has more than one line, or a control character"
    if any(character in FORBIDDEN or is_slash_like(character) for character in label):
        return f"it holds one of {' '.join(FORBIDDEN)}"
    if any(map(is_invisible, label)):
        return "it holds an invisible character"
    return "it is made of dots" if only_dots(label) else None


def check_label(label: str, known: Iterable[str]) -> str:
    """Return the label to use: the known one of the same category, else this one tidied.

    Tidied means NFC, without blanks around it and with single blanks inside. Raises
    CategoryRefused, with the known labels, for a label that is blank, longer than 100
    characters, of several lines, made of dots, or with one of `[ ] | # / \\`, a look-alike
    of a slash, a control or an invisible character.
    """
    known = tuple(known)
    flaw = _flaw(label.strip(" ")) or _flaw(percent_decoded(label.strip(" ")))
    if flaw:
        raise CategoryRefused(label[: MAX_LABEL_CHARACTERS + 1], flaw, known)
    key = category_key(label)
    tidy = _BLANKS.sub(" ", unicodedata.normalize("NFC", label)).strip()
    return next((each for each in known if category_key(each) == key), tidy)


def file_name(label: str) -> str:
    """Return the name of the file for a new category: `Coding style` gives `coding-style.md`.

    At most 200 bytes and safe on every system. A label that loses more than case and gaps on
    the way, or is clipped, gets a fingerprint, so that two categories never share a file.
    """
    key = category_key(label)
    stem = _GAPS.sub("-", safe_stem(label).lower()).strip("-")
    if category_key(stem) != key:
        stem = f"{stem or 'category'}-{fingerprint(key)}"
    return finish_stem(stem, key)

"""Recalled text that comes back as a new memory: what of it is known, and what it cites.

A bundle that `recall` gave may be pasted with its envelope and its citations, several of its facts
may be joined in one, and a fact may be told in other words with its citation behind it. Here only
the text is taken apart; which memories there are is looked up by `near`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ...vault.markdown import parse
from ...vault.memory import normal_form

_DATE = r"\d{4}-\d\d-\d\d"
_ORIGIN = "(?:owner|agent|untrusted|system)"
_TYPE = "(?:episodic|procedural|working|identity)"
_ENVELOPE = re.compile(r"[ \t]*</?recalled(?:[ \t]+\w*)?>[ \t]*")
_CITATION = re.compile(rf"[ \t]*\\?\[\d{{1,3}}\] [^\n]{{1,600}} · {_DATE}(?: · {_ORIGIN})?[ \t]*")
_BULLET = re.compile(r"[ \t]*(?:[-*+•–]|\d{1,3}[.)])[ \t]+")
_CUT = re.compile(r"[ \t]*\[…\][ \t]*$")
_ID = r"[a-z][0-9a-z]{5,11}"
_AGAINST = rf"contradicts (?:\^{_ID}|\[\d+\])(?:, (?:\^{_ID}|\[\d+\]))*"
_MARK = rf"(?:{_ORIGIN}|{_TYPE}|{_DATE}(?: \d\d:\d\d)?|{_AGAINST})"
_TAIL = re.compile(rf"[ \t]*\^({_ID})(?:[ \t]*·[ \t]*{_MARK}){{0,5}}[ \t]*$")
_CITED = re.compile(rf"(?<![\w#|\[])\[?\(?\^({_ID})\b|\b({_ID})@v\d{{1,9}}\b|#\^({_ID})@v\d")
# What one fact ends with before the next begins.
_SEAM = re.compile(r"(?<=[.!?…;])[ \t]+|(?<=[。！？；])")

MOST_CITED = 20


@dataclass(frozen=True, slots=True)
class Heard:
    """A text without what a recall puts around facts.

    `atoms` are its sentences in the form in which equal texts are equal, `tags` what it is tagged
    with, `cited` the ids of observations that it names as a recall or a receipt does.
    """

    atoms: tuple[str, ...]
    tags: frozenset[str]
    cited: tuple[str, ...]
    wrapped: bool

    @property
    def may_echo(self) -> bool:
        """Whether it can be more than one plain fact, so that a closer look is worth while."""
        return self.wrapped or bool(self.cited) or len(self.atoms) > 1


def heard(text: str) -> Heard:
    """Take a text apart."""
    cited = [next(filter(None, found)) for found in _CITED.findall(text)]
    plain, wrapped = [], False
    for line in text.split("\n"):
        if _ENVELOPE.fullmatch(line) or _CITATION.fullmatch(line):
            wrapped = True
            continue
        bare = _TAIL.sub("", _CUT.sub("", line))
        wrapped |= bare != line
        plain.append(_BULLET.sub("", bare, count=1))
    return Heard(
        atoms=_atoms("\n".join(plain)),
        tags=frozenset(parse("\n".join(plain)).tags),
        cited=tuple(dict.fromkeys(cited))[:MOST_CITED],
        wrapped=wrapped,
    )


def told_again(heard: Heard, known: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of known facts of which a text consists wholly; none when it does not.

    `known` has the texts of facts by their names. Each is sought with all its sentences in a
    row, the longest first, and every tag must be one of theirs.
    """
    names: list[str] = []
    facts = {name: _atoms(text) for name, text in known.items()}
    at = 0
    while at < len(heard.atoms):
        name = _fact_at(heard.atoms, at, facts)
        if name is None:
            return ()
        names.append(name)
        at += len(facts[name])
    tags = {tag for name in names for tag in parse(known[name]).tags}
    return tuple(dict.fromkeys(names)) if heard.tags <= tags else ()


def told_within(heard: Heard, known: Mapping[str, str]) -> Collection[str]:
    """Return the names of the known facts that stand in a text beside others."""
    facts = {name: _atoms(text) for name, text in known.items()}
    return {
        name
        for name, atoms in facts.items()
        if any(heard.atoms[at : at + len(atoms)] == atoms for at in range(len(heard.atoms)))
    }


def _fact_at(atoms: Sequence[str], at: int, facts: Mapping[str, tuple[str, ...]]) -> str | None:
    fitting = [
        name for name, own in facts.items() if own and tuple(atoms[at : at + len(own)]) == own
    ]
    return max(fitting, key=lambda name: len(facts[name]), default=None)


def _atoms(text: str) -> tuple[str, ...]:
    sentences = (part for line in text.split("\n") for part in _SEAM.split(line))
    return tuple(filter(None, map(normal_form, sentences)))

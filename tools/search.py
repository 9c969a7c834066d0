"""Ranked passages for a question in plain text, memory included."""

from __future__ import annotations

from itertools import repeat

from ..indexer.analysis import terms
from ..indexer.catalog import Names
from ..indexer.index import Found, Hit
from ..indexer.view import Scope
from ..vault.categories import category_key, check_label
from .answers import IndexState, MemoryType, NoteClass, Passage, SearchAnswer
from .auditing import auditing
from .authors import Author, author_of
from .derivation import settled
from .enforcement import LOOKED_BEYOND, Guard
from .places import known_project
from .provenance import Provenance, id_of, provenances, told_type, type_of
from .vault import Vault

SNIPPET = 320
"""Characters of a snippet at most."""

HINTS: dict[str, str] = {
    "only_stop_words": "The words of the query are too common to search for; add a rarer one.",
    "no_terms": "The query has no words to search for.",
}


def search(
    vault: Vault,
    query: str,
    project: str | None = None,
    note_class: NoteClass | None = None,
    category: str | None = None,
    limit: int = 20,
    from_agent: str | None = None,
    type: MemoryType | None = None,  # noqa: A002 - the contract's word
) -> SearchAnswer:
    """Return the passages that answer `query` best, observations of memory included.

    The query is plain text in any language: no character in it can raise an error. `project`,
    `note_class` and `category` narrow; a name that nothing answers to finds nothing. With
    `from_agent`, only observations that this agent wrote first: `own`, a name, `*` for all; with
    `type`, only observations of this type. Raises `PathRefused` or `CategoryRefused` for a name
    that no project or category can have.
    """
    filters = {"project": project, "class": note_class, "category": category, "limit": limit}
    filters |= {"from": from_agent, "type": type}
    with auditing(vault, "search", query, filters) as audited:
        author = author_of(vault, from_agent)
        scope = Scope(
            project=known_project(vault.layout, project),
            note_class=note_class,
            category=None if category is None else category_key(check_label(category, ())),
            notes=author.notes if author else None,
        )
        found, index = settled(vault, lambda: _found(vault, query, scope, limit, author, type))
        hits = found.hits[:limit]
        told = provenances(vault, hits)
        answer = SearchAnswer(
            results=tuple(map(passage_of, hits, told, repeat(query))),
            total=found.notes,
            more=len(found.hits) > limit or found.notes > len({hit.row.number for hit in hits}),
            index=index,
            hint=hint_of(found),
        )
        vault.shown.note(vault.caller, answer.results)
        return audited.answered(answer, (hit.row for hit in hits))


def _found(
    vault: Vault,
    query: str,
    scope: Scope,
    limit: int,
    author: Author | None,
    kind: MemoryType | None,
) -> tuple[Found, IndexState]:
    guard = Guard(vault)
    guard.refuse_scope(scope.project, scope.category)
    # One more than is shown tells whether there are more.
    wanted = guard.wanted(limit + 1) + (LOOKED_BEYOND if author or kind else 0)
    found = guard.filtered(vault.index.find(query, scope, wanted))
    found = author.filtered(found) if author else found
    found = found.only(lambda hit: type_of(hit) == kind) if kind else found
    guard.tell("search")
    return found, vault.index_state()


def hint_of(found: Found) -> str | None:
    """Why nothing was found, where the query itself is the reason."""
    return HINTS[found.hint] if found.hint else None


def shown(hit: Hit) -> str:
    """The words of a hit: an observation without its marker, fields and id; else the text."""
    return (hit.passage.words if hit.passage else "") or hit.text


def passage_of(hit: Hit, told: Provenance, query: str) -> Passage:
    """A hit as answers show it, with the words around those of the question."""
    row, passage = hit.row, hit.passage
    memory = row.note_class == "agent-memory"
    return Passage(
        note_id=row.id,
        observation_id=id_of(hit) or None,
        title=row.title,
        heading=(passage.heading or None) if passage else None,
        snippet=snippet(shown(hit), query),
        path=row.path,
        score=round(hit.score, 4),
        note_class="agent-memory" if memory else "user-doc",
        category=(row.category or None) if memory else None,
        project=row.project or None,
        tags=Names.parse(row.names).tags,
        origin=told.origin,
        version=told.version,
        modified_at=told.date,
        type=told_type(hit),
        muted=True if row.muted else None,
        conflict_copy=True if row.conflict_copy else None,
    )


def snippet(text: str, query: str) -> str:
    """Cut a text to the part around the first word that the query asks for."""
    flat = " ".join(text.split())
    if len(flat) <= SNIPPET:
        return flat
    start = _first_match(flat, query)
    start = flat.rfind(" ", 0, max(start - SNIPPET // 4, 1)) + 1
    end = flat.rfind(" ", start + SNIPPET // 2, start + SNIPPET)
    end = end if end > start else start + SNIPPET
    return f"{'…' if start else ''}{flat[start:end]}{'…' if end < len(flat) else ''}"


def _first_match(flat: str, query: str) -> int:
    wanted = set(terms(query))
    at = 0
    for word in flat.split(" "):
        if not wanted.isdisjoint(terms(word)):
            return at
        at += len(word) + 1
    return 0

"""One coherent bundle for a question: the best passages, their lines around, their neighbours.

Candidates are the hits, the passages next to them, and passages of notes that the link graph
reaches in `depth` steps. What is packed of them is laid out by authority: direct hits before
neighbours, the owner's words before inferences, then relevance, then recency. Equal input gives
equal output, but for the envelope's nonce.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..indexer.index import Hit
from ..vault.errors import InvalidArgument
from .answers import Conflict, IndexState, MemoryType, Omitted, Reason, RecallAnswer, Source
from .auditing import auditing
from .authors import author_of
from .borders import Borders
from .bundle.candidates import Candidate, Measure, weighed
from .bundle.conflicts import Clash, Opposed, clashes, opposed, ref_of, with_room
from .bundle.envelope import CUT_MARK, PLAIN_NONCE, cited, fresh_nonce, sealed
from .bundle.gather import Gatherer, Lead
from .bundle.pack import Bundle, Packed, Packer
from .bundle.reading_order import LEFT_OUT, Reading, reading
from .derivation import settled
from .enforcement import LOOKED_BEYOND
from .places import known_project
from .provenance import id_of, told_type
from .search import hint_of
from .threads import thread_hits
from .tokens import TokenCounter, count_tokens, cut_to
from .vault import Vault

HITS = 40
"""Passages that are considered as direct hits."""

OMITTED = 20
"""Left-out notes that are named; the rest is counted."""

ROUNDS = 6
"""How often is packed again for room that the sum of the parts hides in the whole."""

SLACK = 16
"""Tokens, or a 32th of the budget, for which it is not worth while to pack again."""


NOTHING = "No note answers to these words."


@dataclass(frozen=True, slots=True)
class Gathered:
    """What one question found, and what is to be said beside it."""

    own: Sequence[Hit]
    leads: Sequence[Lead]
    opposed: Opposed
    beyond: int
    hint: str | None
    index: IndexState


def recall(
    vault: Vault,
    query: str,
    project: str | None = None,
    budget_tokens: int = 4000,
    depth: int = 1,
    max_per_source: int | None = None,
    thread: str | None = None,
    from_agent: str | None = None,
    type: MemoryType | None = None,  # noqa: A002 - the contract's word
    counter: TokenCounter = count_tokens,
) -> RecallAnswer:
    """Return the notes that answer `query`, and their neighbours, within a budget.

    `budget_tokens` bounds `context` as it is returned, by `counter`. `depth` (0 to 3) is how many
    links away neighbours may lie. No note takes more than `max_per_source` tokens (default: half
    the budget, at least 500). With `project`: that project, and the user's memory that is not
    tied to another one. With `thread`, what that thread noted may come first. With `from_agent`,
    only observations that this agent wrote first: `own`, a name, or `*` for all. With `type`,
    only observations of this type; those that are `working` are told to their thread alone.
    Raises `PathRefused` for a project that is no plain name.
    """
    filters = {"project": project, "budgetTokens": budget_tokens, "depth": depth}
    filters |= {"maxPerSource": max_per_source, "thread": thread, "from": from_agent}
    filters |= {"type": type}
    with auditing(vault, "recall", query, filters) as audited:
        if not 0 <= depth <= 3:
            raise InvalidArgument("depth", f"must be from 0 to 3, not {depth}")
        name, author = known_project(vault.layout, project), author_of(vault, from_agent)
        measure = Measure(counter)

        def question() -> Gathered:
            borders = Borders(vault, name, author, kind=type)
            gatherer = Gatherer(vault.index, borders)
            narrowed = author is not None or type is not None
            found = vault.index.find(query, borders.scope, HITS + LOOKED_BEYOND * narrowed)
            leads = gatherer.gather(found, depth)
            borders.guard.tell("recall")
            own = thread_hits(vault, thread, query) if thread and type in (None, "working") else ()
            hint = hint_of(found) or (None if own or leads else NOTHING)
            return Gathered(
                own, leads, opposed(vault.index, leads), gatherer.beyond, hint, vault.index_state()
            )

        gathered = settled(vault, question)
        candidates = weighed(vault, query, gathered.own, gathered.leads, measure)
        share = max(500, budget_tokens // 2) if max_per_source is None else max_per_source
        told = clashes(gathered.opposed, candidates)
        candidates = with_room(told, candidates, measure)
        packer = Packer(candidates, share, measure)
        read, text = _within(budget_tokens, packer, told, counter)
        if not read.groups:
            bundle, text = _pointer(budget_tokens, share, counter, candidates)
            read = reading(bundle, ())
        answer = _answer(gathered, read, text, budget_tokens, counter)
        vault.shown.note(vault.caller, answer.sources)
        shown = (one.candidate.hit.row for one in read.bundle.packed)
        return audited.answered(answer, shown)


def _within(
    budget: int, packer: Packer, told: Sequence[Clash], counter: TokenCounter
) -> tuple[Reading, str]:
    """Pack until the sealed text fills the budget as far as may be, and never exceeds it."""
    best, best_text, best_tokens = reading(Bundle((), ()), ()), "", 0
    room = budget
    for _ in range(ROUNDS):
        bundle = packer.pack(room)
        read = reading(bundle, told)
        text = read.text()
        tokens = counter(sealed(text, PLAIN_NONCE))
        if best_tokens < tokens <= budget:
            best, best_text, best_tokens = read, text, tokens
        enough = budget - max(SLACK, budget // 32)
        if tokens <= budget and (tokens >= enough or not _wants_more(bundle)):
            break
        room += budget - tokens
    return best, best_text


def _wants_more(bundle: Bundle) -> bool:
    cut = any(one.cut for one in bundle.packed)
    return cut or any(reason == "budget" for _, reason in bundle.omitted)


def _pointer(
    budget: int, share: int, counter: TokenCounter, candidates: Sequence[Candidate]
) -> tuple[Bundle, str]:
    """Name the best note at least, where nothing of its text has room."""
    reason: Reason = "budget" if budget <= share else "maxPerSource"
    omitted = tuple((candidate, reason) for candidate in candidates)
    if not candidates or budget > share:
        return Bundle((), omitted), ""
    row = candidates[0].hit.row
    room = budget - counter(sealed(cited(1, CUT_MARK), PLAIN_NONCE))
    for name in (row.path, row.title, cut_to(row.title, room)):
        text = cited(1, f"{name}{CUT_MARK}")
        tokens = counter(text)
        if name and counter(sealed(text, PLAIN_NONCE)) <= budget:
            return Bundle((Packed(candidates[0], "", tokens, reason),), omitted[1:]), text
    return Bundle((), omitted), ""


# The answer


def _answer(
    gathered: Gathered, read: Reading, text: str, budget: int, counter: TokenCounter
) -> RecallAnswer:
    context = sealed(text, fresh_nonce(text))
    left_out = _left_out(read.bundle)
    return RecallAnswer(
        context=context,
        tokens=counter(context),
        budget_tokens=budget,
        sources=tuple(_sources(read)),
        conflicts=tuple(map(_conflict, read.clashes)),
        omitted=left_out[:OMITTED],
        omitted_more=max(0, len(left_out) - OMITTED) + gathered.beyond,
        index=gathered.index,
        hint=gathered.hint,
    )


def _sources(read: Reading) -> Iterator[Source]:
    for group in read.groups:
        goes_on = read.goes_on(group)
        for one in group:
            yield _source(one, cut=(goes_on and one is group[-1]) or one.cut is not None)


def _conflict(clash: Clash) -> Conflict:
    return Conflict(ref_of(clash.stronger), ref_of(clash.weaker), clash.sign)


def _source(packed: Packed, *, cut: bool) -> Source:
    candidate = packed.candidate
    row = candidate.hit.row
    return Source(
        note_id=row.id,
        observation_id=id_of(candidate.hit) or None,
        version=candidate.told.version,
        path=row.path,
        title=row.title,
        hop=candidate.lead.hop,
        via=candidate.lead.via,
        tokens=packed.tokens,
        origin=candidate.told.origin,
        date=candidate.told.date,
        type=told_type(candidate.hit),
        cut=True if cut else None,
    )


def _left_out(bundle: Bundle) -> tuple[Omitted, ...]:
    """Name each note once of which something is not in the bundle, and how much that is.

    Of a note that is in it, what stands next to its hits, or says the same, is not missed.
    """
    packed = {one.candidate.note for one in bundle.packed}
    missed = [(one.candidate, one.cut, one.candidate.tokens - one.tokens) for one in bundle.packed]
    missed += [(one, reason, one.tokens) for one, reason in bundle.omitted]
    named: dict[int, Omitted] = {}
    for candidate, reason, tokens in missed:
        row, known = candidate.hit.row, named.get(candidate.note)
        if reason is None:
            continue
        if candidate.note in packed and not (candidate.direct and reason in LEFT_OUT):
            continue
        if known is None:
            known = Omitted(row.id, row.title, reason, 0)
        named[candidate.note] = replace(known, tokens=known.tokens + max(tokens, 1))
    return tuple(named.values())

"""One coherent bundle for a question: the best passages, their lines around, their neighbours.

Candidates are the hits, the passages next to them, and passages of notes that the link graph
reaches in `depth` steps. What is packed of them is laid out by authority: direct hits before
neighbours, the owner's words before inferences, then relevance, then recency. Equal input gives
equal output, but for the envelope's nonce.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..indexer.index import Hit
from ..vault.authorship import TRUST
from ..vault.errors import InvalidArgument
from .answers import IndexState, MemoryType, Omitted, Reason, RecallAnswer, Source
from .asking import asked
from .authors import author_of
from .borders import Borders
from .candidates import Candidate, Measure, by_value, weighed
from .derivation import settled
from .enforcement import LOOKED_BEYOND
from .envelope import CUT_MARK, PLAIN_NONCE, Block, body, cited, fresh_nonce, sealed
from .gather import Gatherer, Lead
from .pack import Bundle, Packed, Packer, citation
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

LEFT_OUT = ("budget", "maxPerSource", "limit")

_NO_DIGITS = str.maketrans("", "", "-:TZ")

NOTHING = "No note answers to these words."


@dataclass(frozen=True, slots=True)
class Gathered:
    """What one question found, and what is to be said beside it."""

    own: Sequence[Hit]
    leads: Sequence[Lead]
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
    with asked(vault, "recall", query, filters) as audited:
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
            return Gathered(own, leads, gatherer.beyond, hint, vault.index_state())

        gathered = settled(vault, question)
        candidates = weighed(vault, query, gathered.own, gathered.leads, measure)
        share = max(500, budget_tokens // 2) if max_per_source is None else max_per_source
        packer = Packer(candidates, share, measure)
        bundle, text = _within(budget_tokens, packer, counter)
        if not bundle.packed:
            bundle, text = _pointer(budget_tokens, share, counter, candidates)
        answer = _answer(gathered, bundle, text, budget_tokens, counter)
        vault.shown.note(vault.caller, answer.sources)
        shown = (one.candidate.hit.row for one in bundle.packed)
        return audited.answered(answer, shown)


def _within(budget: int, packer: Packer, counter: TokenCounter) -> tuple[Bundle, str]:
    """Pack until the sealed text fills the budget as far as may be, and never exceeds it."""
    best, best_text, best_tokens = Bundle((), ()), "", 0
    room = budget
    for _ in range(ROUNDS):
        bundle = packer.pack(room)
        text = _laid_out(bundle)
        tokens = counter(sealed(text, PLAIN_NONCE))
        if best_tokens < tokens <= budget:
            best, best_text, best_tokens = bundle, text, tokens
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


# Laying out


def _groups(packed: Iterable[Packed]) -> list[list[Packed]]:
    """Gather what was packed by note, in the order in which an agent should read it."""
    by_note: dict[int, list[Packed]] = {}
    for one in packed:
        by_note.setdefault(one.candidate.note, []).append(one)
    for group in by_note.values():
        group.sort(key=lambda one: one.candidate.hit.part)
    return sorted(by_note.values(), key=_reading_order)


def _reading_order(group: Sequence[Packed]) -> tuple[object, ...]:
    best = min((one.candidate for one in group), key=by_value)
    row = best.hit.row
    hop = min(one.candidate.lead.hop for one in group)
    recency = -int(best.told.date.translate(_NO_DIGITS))
    return (hop > 0, best.authority, -best.value, recency, row.id, row.path)


def _laid_out(bundle: Bundle) -> str:
    shortened = _shortened(bundle)
    return body([_block(group, shortened) for group in _groups(bundle.packed)])


def _block(group: Sequence[Packed], shortened: frozenset[int]) -> Block:
    row = group[0].candidate.hit.row
    goes_on = row.number in shortened and not group[-1].cut
    least = min((one.candidate.told.origin for one in group), key=TRUST.__getitem__)
    return Block(citation(row, least), tuple(one.text for one in group), goes_on)


def _shortened(bundle: Bundle) -> frozenset[int]:
    """The notes in the bundle of which a hit was left out for want of room."""
    packed = {one.candidate.note for one in bundle.packed}
    return frozenset(
        one.note
        for one, reason in bundle.omitted
        if one.direct and reason in LEFT_OUT and one.note in packed
    )


# The answer


def _answer(
    gathered: Gathered, bundle: Bundle, text: str, budget: int, counter: TokenCounter
) -> RecallAnswer:
    context = sealed(text, fresh_nonce(text))
    left_out = _left_out(bundle)
    return RecallAnswer(
        context=context,
        tokens=counter(context),
        budget_tokens=budget,
        sources=tuple(_sources(bundle)),
        omitted=left_out[:OMITTED],
        omitted_more=max(0, len(left_out) - OMITTED) + gathered.beyond,
        index=gathered.index,
        hint=gathered.hint,
    )


def _sources(bundle: Bundle) -> Iterator[Source]:
    shortened = _shortened(bundle)
    for group in _groups(bundle.packed):
        for one in group:
            goes_on = one is group[-1] and one.candidate.note in shortened
            yield _source(one, cut=goes_on or one.cut is not None)


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

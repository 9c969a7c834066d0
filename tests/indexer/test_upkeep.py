"""Flushing, merging and sweeping move documents and change no answer."""

import pytest
from zibaldone.indexer import index as index_module
from zibaldone.indexer import upkeep as upkeep_module
from zibaldone.indexer.upkeep import Upkeep, _to_merge
from zibaldone.indexer.view import Scope

WORDS = ("anchor", "basil", "candle", "dolphin", "ember")


@pytest.fixture
def low_limits(monkeypatch):
    monkeypatch.setattr(upkeep_module, "PENDING_LIMIT", 3)
    monkeypatch.setattr(upkeep_module, "SEGMENT_LIMIT", 2)


def segments(asker):
    return {n: s.segment.document_count for n, s in asker.index._view.stored.items()}


def pending(asker):
    return asker.index._parts.catalog.pending_count()


def write(notes, asker, *numbers):
    for number in numbers:
        notes.write(f"N{number}.md", f"tea {WORDS[number]}\n\n# More\n\ncup\n")
    asker.index.refresh()


def answers(asker):
    hits = [asker.find(text).hits for text in ("tea", "cup", "basil", "candle more")]
    return [[(hit.row.path, hit.part, hit.score, hit.text) for hit in each] for each in hits]


def test_pending_documents_are_written_when_they_are_many(notes, asker, low_limits):
    write(notes, asker, 1)
    asker.index.tidy()
    assert (pending(asker), segments(asker)) == (3, {})
    write(notes, asker, 2)
    before = answers(asker)
    asker.index.tidy()
    assert pending(asker) == 0
    assert list(segments(asker).values()) == [6]
    assert answers(asker) == before


def test_dead_documents_are_left_behind(notes, asker, low_limits):
    write(notes, asker, 1, 2)
    notes.write("N2.md", "coffee\n")
    asker.index.refresh()
    asker.index.tidy()
    assert list(segments(asker).values()) == [5]
    assert asker.paths("candle") == []
    assert asker.paths("coffee") == ["N2.md"]


def test_small_segments_are_merged_when_they_are_many(notes, asker, low_limits, monkeypatch):
    monkeypatch.setattr(index_module, "BULK", 1)
    for number in (1, 2):
        write(notes, asker, number)
    assert len(segments(asker)) == 2
    before = answers(asker)
    write(notes, asker, 3)
    assert list(segments(asker).values()) == [9]
    (notes.root / "N3.md").unlink()
    asker.index.refresh()
    assert answers(asker) == before


def test_another_process_sees_no_difference(notes, open_index, low_limits, monkeypatch):
    asker, other = open_index(), open_index()
    write(notes, asker, *range(5))
    before = answers(other)
    asker.index.tidy()
    assert pending(asker) == 0
    assert answers(other) == before
    assert other.state().notice == ""
    monkeypatch.setattr(upkeep_module, "SEGMENT_LIMIT", 0)
    asker.index._parts.upkeep._tidied = -1
    asker.index.tidy()
    assert answers(other) == before
    assert other.state().notice == ""


def test_what_is_brought_in_meanwhile_stays(notes, open_index, low_limits, monkeypatch):
    """Another process commits while this one writes a segment."""
    asker, other = open_index(), open_index()
    write(notes, asker, 1, 2)
    other.index.refresh()
    new_segment = upkeep_module.new_segment

    def meanwhile(folder, make):
        if not (notes.root / "N3.md").exists():
            notes.write("N1.md", "coffee\n")
            write(notes, other, 3)
        return new_segment(folder, make)

    monkeypatch.setattr(upkeep_module, "new_segment", meanwhile)
    asker.index.tidy()
    for each in (asker, other, open_index()):
        assert each.paths("dolphin") == ["N3.md"]
        assert each.paths("coffee") == ["N1.md"]
        assert sorted(each.paths("cup")) == ["N2.md", "N3.md"]


def test_an_index_that_is_cleared_meanwhile_gets_no_dead_segment(
    notes, open_index, low_limits, monkeypatch
):
    monkeypatch.setattr(index_module, "BULK", 1)
    asker, other = open_index(), open_index()
    write(notes, asker, 1)
    write(notes, asker, 2)
    monkeypatch.setattr(upkeep_module, "SEGMENT_LIMIT", 1)
    other.index.refresh()
    merge = upkeep_module.merge_segments

    def meanwhile(*arguments):
        stamp = merge(*arguments)
        with other.index._parts.catalog.writing() as change:
            other.index._parts.catalog.clear(change)
        return stamp

    with monkeypatch.context() as patch:
        patch.setattr(upkeep_module, "merge_segments", meanwhile)
        asker.index._parts.upkeep._tidied = -1
        asker.index.tidy()
    assert asker.index._parts.catalog.segments() == {}
    assert not list(asker.index.folder.glob("segment-*"))
    assert len(asker.paths("tea")) == 2


def test_left_overs_are_swept(notes, asker, low_limits):
    write(notes, asker, 1, 2)
    left = asker.index.folder / "segment-left"
    left.mkdir()
    (left / "file").write_text("x")
    asker.index.tidy()
    assert not left.exists()
    assert len(list(asker.index.folder.glob("segment-*"))) == 1


def test_nothing_is_done_twice(notes, asker, low_limits, monkeypatch):
    write(notes, asker, 1, 2)
    asker.index.tidy()
    asker.index.tidy()
    monkeypatch.setattr(Upkeep, "_sweep", None)
    asker.index.tidy()


@pytest.mark.parametrize(
    ("sizes", "alive", "chosen"),
    [
        ({}, {}, set()),
        ({1: 10, 2: 10}, {1: 10, 2: 10}, set()),
        ({1: 10, 2: 10, 3: 10}, {1: 10, 2: 10, 3: 10}, {1, 2, 3}),
        ({1: 100, 2: 10, 3: 10, 4: 10}, {1: 100, 2: 10, 3: 10, 4: 10}, {2, 3, 4}),
        ({1: 100, 2: 10}, {1: 49, 2: 10}, {1}),
        ({1: 100, 2: 10}, {1: 100, 2: 4}, set()),
        ({1: 100, 2: 10}, {1: 100, 2: 0}, {2}),
        ({1: 100, 2: 10, 3: 10, 4: 10}, {1: 40, 2: 10, 3: 10, 4: 0}, {1, 2, 3, 4}),
    ],
)
def test_what_is_merged(low_limits, monkeypatch, sizes, alive, chosen):
    monkeypatch.setattr(upkeep_module, "FULL", 50)
    assert _to_merge(sizes, {number: range(count) for number, count in alive.items()}) == chosen


def test_a_large_segment_is_left_alone_until_it_is_worn(notes, asker, low_limits, monkeypatch):
    monkeypatch.setattr(upkeep_module, "FULL", 6)
    monkeypatch.setattr(index_module, "BULK", 3)
    write(notes, asker, 1, 2, 3)
    (large,) = segments(asker)
    for number in (1, 2):
        notes.write(f"N{number}.md", "coffee\n")
        asker.index.refresh()
        asker.index.tidy()
    assert large not in segments(asker)
    assert sum(segments(asker).values()) + pending(asker) == 3 + 2 * 2
    rows = asker.index.ask(lambda: asker.index.rows(Scope()))
    assert sorted(asker.paths("coffee")) == ["N1.md", "N2.md"]
    assert len({doc for row in rows for doc in row.docs}) == 7

"""What a process holds in memory is what the catalog says, taken over step by step."""

import json
import shutil

import pytest
from zibaldone.indexer import view as view_module
from zibaldone.indexer.best import Best
from zibaldone.indexer.catalog import Names, Row
from zibaldone.indexer.segments import DamagedIndex, write_segment
from zibaldone.indexer.view import Overlay, Scope, Stored, View

NOBODY = str(Names(own_id=False))
FILE, TEXTS = (1, 2, 3, "token"), ("", "", "", NOBODY, "[]", "[[]]", ())
ROW = Row("a", *FILE, "a", "A", "user-doc", "", "", False, False, *TEXTS)


@pytest.fixture
def view(catalog, tmp_path):
    view = View(catalog, tmp_path)
    yield view
    view.close()


def row_of(path, **changes):
    return ROW._replace(path=path, id=path, **changes)


def put(catalog, path, *impacts, **changes):
    """Put a note whose documents are pending."""
    with catalog.writing() as change:
        docs = tuple(catalog.add_pending(impacts))
        catalog.put(row_of(path, docs=docs, **changes), change)


def best(view, term):
    found = view.best.impacts(term).by_note
    return {view.rows[note].path: impact for note, impact in found.items()}


USER = {"note_class": "agent-memory", "category": "Food"}
PROJECT = {"note_class": "agent-memory", "project": "boat", "category": "Decisions"}


@pytest.mark.parametrize(
    ("scope", "admitted"),
    [
        (Scope(), {"doc", "boat doc", "user", "boat memory", "muted"}),
        (Scope(muted=False), {"doc", "boat doc", "user", "boat memory"}),
        (Scope(project="boat"), {"boat doc", "boat memory"}),
        (Scope(project="boat", user_memory=True), {"boat doc", "boat memory", "user", "muted"}),
        (Scope(note_class="user-doc"), {"doc", "boat doc"}),
        (Scope(note_class="agent-memory", category="food"), {"user"}),
        (Scope(project="none"), set()),
        (Scope(project="none", user_memory=True, muted=False), {"user"}),
    ],
)
def test_a_scope_is_kept_up_over_changes(catalog, view, scope, admitted):
    notes = {
        "doc": {},
        "boat doc": {"project": "boat"},
        "user": USER,
        "boat memory": PROJECT,
        "muted": {"note_class": "agent-memory", "muted": True},
    }

    def within():
        return {view.rows[number].path for number in view.within(scope)}

    assert within() == set()
    for path, changes in notes.items():
        put(catalog, path, **changes)
        view.reload()
    assert within() == admitted
    for path in notes:
        put(catalog, path, note_class="user-doc", project="other")
    view.reload()
    assert within() == {row.path for row in view.rows.values() if scope.admits(row)}
    with catalog.writing() as change:
        for path in notes:
            catalog.remove(path, change)
    view.reload()
    assert within() == set()


def test_no_more_scopes_are_kept_than_allowed(view, monkeypatch):
    monkeypatch.setattr(view_module, "SCOPES_KEPT", 2)
    for project in "abcde":
        assert view.within(Scope(project=project)) == set()
    assert len(view._scopes) <= 2


def test_projects_and_copies_are_counted(catalog, view):
    put(catalog, "a", project="boat")
    put(catalog, "b", project="boat", conflict_copy=True)
    view.reload()
    assert (view.projects["boat"], len(view.copies)) == (2, 1)
    put(catalog, "b")
    with catalog.writing() as change:
        catalog.remove("a", change)
    view.reload()
    assert (view.projects["boat"], view.copies) == (0, set())


def test_notes_that_rest_on_others_are_known(catalog, view):
    rests = str(Names(own_id=False, rests=(("aaaaaa", "bbbbbb"),)))
    put(catalog, "a", names=rests, **USER)
    put(catalog, "b", names=rests, conflict_copy=True, **USER)
    put(catalog, "c", names=rests)
    view.refresh()
    view.reload()
    assert [view.rows[number].path for number in view.derived] == ["a"]
    put(catalog, "a", names=NOBODY, **USER)
    view.reload()
    assert view.derived == set()


def test_what_another_connection_commits_is_taken_over(catalogs, catalog, view):
    view.refresh()
    put(catalogs(), "a", {"tea": 1.0})
    assert view.row("a") is None
    view.refresh()
    assert best(view, "tea") == {"a": 1.0}


def test_documents_that_move_into_a_segment_count_once(catalog, view, tmp_path):
    put(catalog, "a", {"tea": 1.0}, {"tea": 0.5, "cup": 2.0})
    put(catalog, "b", {"tea": 2.0})
    view.reload()
    before = best(view, "tea"), best(view, "cup")
    held = dict(catalog.pending())
    stamp = write_segment(tmp_path / "segment-1", [held[1], held[3]])
    rest = write_segment(tmp_path / "segment-2", [held[2]])
    with catalog.writing():
        catalog.add_segment("segment-1", str(stamp), [1, 3])
        catalog.add_segment("segment-2", str(rest), [2])
        catalog.drop_pending(3)
    view.reload()
    assert (best(view, "tea"), best(view, "cup")) == before
    view.best = Best(view)
    assert (best(view, "tea"), best(view, "cup")) == before
    held = [source.postings("tea") for source in view.sources()]
    assert sum(len(found[0]) for found in held if found) == 3


def test_a_segment_that_cannot_be_opened_leaves_the_view_as_it_was(catalog, view, tmp_path):
    put(catalog, "a", {"tea": 1.0})
    view.reload()
    stamp = write_segment(tmp_path / "segment-1", [{"tea": 2.0}])
    shutil.move(tmp_path / "segment-1", tmp_path / "away")
    with catalog.writing() as change:
        docs = catalog.new_documents(1)
        catalog.add_segment("segment-1", str(stamp), docs)
        catalog.put(row_of("b", docs=tuple(docs)), change)
    for _ in range(2):
        with pytest.raises(DamagedIndex):
            view.reload()
    assert best(view, "tea") == {"a": 1.0}
    shutil.move(tmp_path / "away", tmp_path / "segment-1")
    view.reload()
    assert best(view, "tea") == {"a": 1.0, "b": 2.0}


def test_segments_that_are_dropped_are_closed(catalog, view, tmp_path, open_files):
    stamp = write_segment(tmp_path / "segment-1", [{"tea": 2.0}])
    with catalog.writing():
        catalog.add_segment("segment-1", str(stamp), catalog.new_documents(1))
    view.reload()
    (number,) = view.stored
    assert [name for name in open_files() if "segment-1" in name]
    with catalog.writing():
        catalog.drop_segments([number])
    view.reload()
    assert not [name for name in open_files() if "segment-1" in name]


def test_passages_of_another_state_are_not_given_out(catalog, catalogs, view):
    values = ["k", 0, 4, 0, "", False, "", "owner", "semantic", "", ""]
    put(catalog, "a", passages=json.dumps([["h", "k"], values]))
    view.reload()
    (row,) = view.rows.values()
    assert [part.end for part in view.parts([row])[row.number]] == [4]
    put(catalogs(), "a", passages="[[]]")
    assert view.parts([row])[row.number], "they are kept with the row that they belong to"
    view._parts.clear()
    assert view.parts([row]) == {}
    view.refresh()
    assert view.parts(view.rows.values()) == {row.number: ()}


def test_places_are_those_of_the_documents_that_a_source_has():
    stored = Stored(None, [3, 5, 9])
    assert stored.places({2: "a", 5: "b", 6: "c", 9: "d", 10: "e"}) == {1: "b", 2: "d"}
    assert list(stored.documents([0, 2])) == [3, 9]
    assert Stored(None, []).places({1: "a"}) == {}
    overlay = Overlay()
    overlay.add(4, {"tea": 1.0})
    assert overlay.places({4: "a"}) == {4: "a"}
    assert list(overlay.documents([4])) == [4]

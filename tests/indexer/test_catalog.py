"""The catalog keeps what it is given, in transactions that other connections see whole."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.indexer import catalog as catalog_module
from zibaldone.indexer.catalog import Catalog, Names, Row, decoded

ROW = Row(
    path="a.md",
    size=1,
    mtime_ns=2,
    inode=3,
    token="t",
    id="abcdefgh1234",
    title="A",
    note_class="user-doc",
    project="",
    category="",
    muted=False,
    conflict_copy=False,
    problem="",
    summary="",
    expires="",
    names=str(Names(own_id=False)),
    links="[]",
    passages="[[]]",
    docs=(),
)


def put(catalog, **changes):
    with catalog.writing() as change:
        catalog.put(ROW._replace(**changes), change)
    return None if "docs" in changes else catalog.row(changes.get("path", ROW.path))


words = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.integers(-(2**63), 2**64)


@given(
    st.builds(
        Row,
        *(words, st.integers(-1, 2**40), numbers, st.integers(0, 2**64 - 1)),
        *(words, words, words, words, words, words, st.booleans(), st.booleans(), words, words),
        *(words, st.just(str(Names(own_id=True, aliases=("x",)))), words, words),
        st.lists(st.integers(1, 2**32 - 1)).map(tuple),
    )
)
def test_any_row_comes_back(tmp_path_factory, row):
    """Inodes of 64 bits and times beyond the year 2262 too, which SQLite has no numbers for."""
    catalog = Catalog(tmp_path_factory.mktemp("catalog") / "catalog.db")
    with catalog.writing() as change:
        catalog.put(row, change)
    found = catalog.row(row.path)
    assert found == row._replace(number=1, change=change)
    (light,) = catalog.rows()
    assert light._replace(links=row.links, passages=row.passages) == found
    catalog.close()


def test_a_note_keeps_its_number_until_it_is_removed(catalog):
    number = put(catalog).number
    assert put(catalog, title="B").number == number
    with catalog.writing() as change:
        catalog.remove("a.md", change)
    assert catalog.row("a.md") is None
    assert put(catalog).number > number


def test_what_changed_since_a_change_is_told(catalog):
    put(catalog)
    before = catalog.change()
    second = put(catalog, path="b.md")
    with catalog.writing() as change:
        catalog.remove("a.md", change)
    assert [row.path for row in catalog.rows(before)] == ["b.md"]
    assert catalog.gone(before) == [second.number - 1]
    assert catalog.gone(catalog.change()) == []


def test_a_transaction_that_fails_leaves_nothing(catalog):
    put(catalog)
    before = catalog.change()
    with pytest.raises(KeyError), catalog.writing() as change:
        catalog.put(ROW._replace(path="b.md"), change)
        raise KeyError
    assert (catalog.row("b.md"), catalog.change()) == (None, before)
    assert put(catalog, path="c.md").change == before + 1


def test_a_reader_sees_one_state(catalogs):
    reader, writer = catalogs(), catalogs()
    with reader.reading():
        before = reader.change()
        put(writer)
        assert (reader.change(), reader.row("a.md")) == (before, None)
    assert reader.row("a.md").path == "a.md"


def test_the_version_tells_of_the_commits_of_others(catalogs):
    one, other = catalogs(), catalogs()
    before = one.version()
    put(one)
    assert one.version() == before
    put(other)
    assert one.version() != before


def test_document_numbers_are_never_used_again(catalog):
    with catalog.writing() as change:
        first = catalog.add_pending([{"tea": 1.0}, {}])
        segment = catalog.new_documents(3)
        catalog.drop_pending(first[-1])
        catalog.clear(change)
        third = catalog.add_pending([{"cup": 0.5}])
    assert [*first, *segment, *third] == [1, 2, 3, 4, 5, 6]
    assert catalog.documents() == 7
    assert catalog.pending() == [(6, {"cup": 0.5})]


def test_segments_know_their_documents(catalog):
    with catalog.writing():
        catalog.add_segment("segment-a", "stamp", [2, 5, 9])
    ((number, named),) = catalog.segments().items()
    assert named == ("segment-a", "stamp")
    assert catalog.documents_of(number) == [2, 5, 9]
    with catalog.writing():
        catalog.drop_segments([number])
    assert catalog.segments() == {}


def test_a_new_catalog_and_a_cleared_one_are_behind(catalog):
    assert catalog.behind() == 1
    for path in ("a.md", "b.md"):
        put(catalog, path=path)
    with catalog.writing() as change:
        catalog.set_behind(0)
        catalog.clear(change)
    assert catalog.behind() == 2
    assert list(catalog.rows()) == []
    assert len(catalog.gone(0)) == 2


def test_only_derived_ids_are_remembered_and_not_for_long(catalog, monkeypatch):
    put(catalog, id="derived")
    put(catalog, path="b.md", id="own", names=str(Names(own_id=True)))
    with catalog.writing() as change:
        catalog.remove("a.md", change)
        catalog.remove("b.md", change)
    assert catalog.ids_lately_gone("t") == ["derived"]
    assert catalog.ids_lately_gone("u") == []
    monkeypatch.setattr(catalog_module, "RENAME_SECONDS", -10)
    assert catalog.ids_lately_gone("t") == []


def test_ids_and_tokens_are_looked_up(catalog):
    put(catalog)
    put(catalog, path="b.md", id="other")
    assert catalog.has_id("other", besides="a.md")
    assert not catalog.has_id("other", besides="b.md")
    assert sorted(catalog.paths_with(token="t")) == ["a.md", "b.md"]


def test_the_links_of_the_notes_that_are_asked_for_are_decoded(catalog):
    put(catalog, links='[["B", "", "", "wikilink", 0]]')
    put(catalog, path='odd "name".md')
    put(catalog, path="c.md")
    found = catalog.links({"a.md", 'odd "name".md', "gone.md"})
    assert found == {"a.md": [["B", "", "", "wikilink", 0]], 'odd "name".md': []}
    assert catalog.links(()) == {}


def test_a_file_that_was_replaced_is_noticed(catalog, tmp_path):
    assert not catalog.replaced()
    (tmp_path / "catalog.db").unlink()
    assert catalog.replaced()
    Catalog(tmp_path / "catalog.db").close()
    assert catalog.replaced()


@pytest.mark.parametrize("text", ["", "[1", "\0\0"])
def test_damaged_texts_and_documents_are_damage(catalog, text):
    with pytest.raises(sqlite3.DatabaseError):
        decoded(text)
    put(catalog, docs=(0, 0))  # What a page of zeros reads as.
    with pytest.raises(sqlite3.DatabaseError):
        list(catalog.rows())


def test_a_file_that_is_no_catalog_is_damage_and_is_closed(tmp_path, open_files):
    (tmp_path / "catalog.db").write_bytes(b"something else " * 1000)
    with pytest.raises(sqlite3.DatabaseError):
        Catalog(tmp_path / "catalog.db")
    assert not [name for name in open_files() if "catalog.db" in name]

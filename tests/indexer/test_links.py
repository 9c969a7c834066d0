"""Resolver and graph follow the catalog, step by step as if built anew."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.indexer import catalog
from zibaldone.indexer.links import Links
from zibaldone.indexer.view import View

ROW = catalog.Row(
    *("a.md", 1, 1, 1, "t", "id", "A", "user-doc", "", "", False, False, "", "", ""),
    *("[true, [], []]", "[]", "[[]]", ()),
)


@pytest.fixture
def anew(asker):
    """The graph as a process would build it that begins now."""

    def edges():
        def build():
            links = Links(asker.index._parts.catalog, asker.index._view)
            return graph_edges(links.graph())

        return asker.index.ask(build)

    return edges


def graph_edges(graph):
    return {path: graph.outgoing(path) for path in graph.paths()}


def test_lk_15_an_alias_neither_hides_a_note_nor_is_one(notes, asker):
    notes.write("Mercury.md", "planet\n")
    notes.write("Thermometer.md", "---\naliases: [Mercury, Quicksilver]\n---\nt\n")
    notes.write("Src.md", "[[Mercury]] [[Quicksilver]]\n")
    graph = asker.index.ask(asker.index.graph)
    assert graph.outgoing("Src.md") == ("Mercury.md", "Thermometer.md")
    assert graph.paths() == ("Mercury.md", "Src.md", "Thermometer.md")


def test_lk_08_one_name_in_many_folders_over_a_whole_vault(notes, asker):
    sources = ["k/Src.md", "q/Src2.md", "wwww/deep/Src3.md"]
    for path in (*sources, "k/Note.md", "h/k/Note.md", "wwww/Note.md"):
        notes.write(path, "[[Note]]\n" if "Src" in path else "n\n")
    assert [asker.links(path)[0] for path in sources] == [("k/Note.md",)] * 3
    notes.write("Note.md", "top\n")
    assert [asker.links(path)[0] for path in sources] == [("Note.md",)] * 3
    asker.index.refresh(rebuild=True)
    assert [asker.links(path)[0] for path in sources] == [("Note.md",)] * 3


def test_each_change_leaves_the_graph_as_if_built_anew(notes, asker, anew):
    steps = [
        ("A.md", "[[B]] [[C]]\n"),
        ("B.md", "[[A]]\n"),
        ("C.md", "c\n"),
        ("A.md", "[[C]] ![[C]] [[Missing]]\n"),
        ("D.md", "---\naliases: [Missing]\n---\n[[A#x]]\n"),
        ("sub/C.md", "[[C]]\n"),
        ("D.md", "d\n"),
        ("B.md", None),
        ("Missing.md", "[[B]]\n"),
        ("C.md", None),
    ]
    for path, text in steps:
        if text is None:
            (notes.root / path).unlink()
        else:
            notes.write(path, text)
        assert graph_edges(asker.index.ask(asker.index.graph)) == anew()
    assert anew() == {
        "A.md": ("Missing.md", "sub/C.md"),
        "D.md": (),
        "Missing.md": (),
        "sub/C.md": (),
    }


def test_only_links_that_may_lead_elsewhere_are_resolved_again(notes, asker, monkeypatch):
    for name in "ABC":
        notes.write(f"{name}.md", f"[[{name}]] [[Missing]]\n")
    notes.write("Other.md", "[[A]]\n")
    assert asker.links("Other.md")[0] == ("A.md",)
    asked = []
    links = asker.index._parts.catalog.links
    monkeypatch.setattr(
        asker.index._parts.catalog, "links", lambda paths: asked.append({*paths}) or links(paths)
    )
    notes.write("B.md", "#tag [[C]] and other words\n")
    assert asker.links("B.md")[0] == ("C.md",)
    notes.write("B.md", "---\naliases: [Missing]\n---\n")
    assert asker.links("A.md")[0] == ("B.md",)
    assert asked == [{"B.md"}, {"A.md", "B.md", "C.md"}]


PATHS = st.sampled_from(["A.md", "a.md", "f/A.md", "f/g/b.md", "B.md", "f/B.md.md", "Ñ.md"])
CALLED = st.sampled_from(["A", "b", "f/a", "B.md", "n\u0303", "C", "../A", "..", "a b"])
TARGETS = st.one_of(CALLED, PATHS, st.sampled_from(["/A", "./b", "../g/b", "x/../A", "g/b", "f/"]))
ROWS = st.builds(
    lambda path, title, aliases, links, copy: ROW._replace(
        path=path,
        id=title,
        title=title,
        names=str(catalog.Names(own_id=True, aliases=tuple(aliases))),
        links=json.dumps([[target, "", "", "wikilink", 0] for target in links]),
        conflict_copy=copy,
    ),
    PATHS,
    CALLED,
    st.lists(CALLED, max_size=2),
    st.lists(TARGETS, max_size=4),
    st.booleans(),
)


def names_of(resolver):
    """All that a resolver knows, and nothing of the order in which it came to know it."""
    kinds = ("_ids", "_paths", "_stems", "_titles", "_aliases")
    return [{kind: getattr(names, kind) for kind in kinds} for names in resolver._all]


@given(st.lists(st.lists(ROWS | PATHS, max_size=3), max_size=6))
def test_names_and_graph_are_kept_as_if_built_anew(tmp_path_factory, steps):
    """A row is put, a path taken out; what links need is what a new process would work out."""
    folder = tmp_path_factory.mktemp("links")
    notes = catalog.Catalog(folder / "catalog.db")
    view = View(notes, folder)
    kept = Links(notes, view)
    for step in steps:
        for change in step:
            with notes.writing() as number:
                if isinstance(change, str):
                    notes.remove(change, number)
                else:
                    notes.put(change, number)
            view.reload()
            kept.resolver()
        anew = Links(notes, view)
        assert graph_edges(kept.graph()) == graph_edges(anew.graph())
        assert names_of(kept.resolver()) == names_of(anew.resolver())
    notes.close()

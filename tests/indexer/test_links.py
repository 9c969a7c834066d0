"""Resolver and graph follow the catalog, step by step as if built anew."""

import pytest
from zibaldone.indexer.links import Links


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


def test_a_change_of_words_resolves_only_that_note_again(notes, asker):
    for name in "ABC":
        notes.write(f"{name}.md", "[[A]]\n")
    asker.links("A.md")
    resolver = asker.index.ask(asker.index.resolver)
    notes.write("B.md", "#tag [[C]] and other words\n")
    assert asker.links("B.md")[0] == ("C.md",)
    assert asker.index.ask(asker.index.resolver) is resolver
    notes.write("B.md", "---\naliases: [New]\n---\n")
    assert asker.index.ask(asker.index.resolver) is not resolver

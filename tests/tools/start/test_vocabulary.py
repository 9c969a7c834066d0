"""Categories and tags in lines: of what may be told, and of nothing else."""

from zibaldone.indexer.view import Scope
from zibaldone.tools.borders import Borders
from zibaldone.tools.start.vocabulary import LABELS, TAGS, labels, profile, tags

MEMORY = {
    "agent-memory/drinks.md": "---\nsummary: What to drink\n---\n- Tea. #hot\n- Rum. #other\n",
    "agent-memory/food.md": "- Bread,  \n  with butter. #hot #Bakery\n- Jam.\n",
    "agent-memory/gone.md": "---\nsummary: Old\n---\n- Ham. #old [expires:: 2020-01-01]\n",
    "projects/other/Note.md": "Text. #secret\n",
    "projects/acme/A.md": "---\ntags: [Draft, always-load]\n---\nText. #hot\n",
    "projects/acme/B.md": "Text. #draft\n",
}


def asked(vault, question, **scope):
    def ask():
        rows = vault.index.rows(Scope(**scope))
        borders = Borders(vault, "acme", closed=True)
        return question(borders, [row for row in rows if borders.admits_row(row)])

    return vault.index.ask(ask)


def test_a_line_for_each_category_with_its_summary_or_first_words(opened):
    vault = opened(MEMORY)
    lines = asked(vault, lambda *given: list(profile(*given)), note_class="agent-memory")
    assert [line.partition(", 20")[0] + line.partition(")")[2] for line in lines] == [
        "- drinks (1 fact, agent-memory/drinks.md: What to drink",
        "- food (2 facts, agent-memory/food.md: Bread, with butter. #hot #Bakery",
    ]


def test_labels_in_a_row(opened):
    vault = opened(MEMORY)
    assert asked(vault, labels, note_class="agent-memory") == "drinks, food"


def test_tags_by_the_number_of_notes_that_tell_them(opened):
    vault = opened(MEMORY)
    told = asked(vault, lambda borders, rows: tags(vault, borders, rows))
    assert told == "#hot (3), #Draft (2), #Bakery (1)"


def test_many_are_cut(opened):
    files = {f"agent-memory/c{n:03}.md": f"- Fact. #t{n:03}\n" for n in range(LABELS + 2)}
    vault = opened(files)
    named = asked(vault, labels).split(", ")
    assert (len(named), named[0], named[-1]) == (LABELS + 1, "c000", "…")
    assert len(asked(vault, lambda *given: tags(vault, *given)).split(", ")) == TAGS

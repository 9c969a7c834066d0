"""Which parts of the records have to go: those that hold the observation, and no others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.vault.forgetting import inserted_lines, of_observation, whole_note
from zibaldone.vault.layout import open_layout

PATH = "agent-memory/a.md"
TEA, CAKE = b"- Tea in the morning. ^teatea\n", b"- Cake on Sundays. ^m3k9f2\n"


@pytest.fixture(scope="module")
def layout(tmp_path_factory):
    return open_layout(tmp_path_factory.mktemp("vault"))


def gone(layout, teller, **options):
    """The parts that have to go of each record, by number, and the words."""
    records = list(teller.journal.records())
    found = of_observation(layout, records, PATH, "m3k9f2", **options)
    return [sorted(found.parts.get(each.hash, ())) for each in records], found.texts


def test_an_observation_is_followed_through_the_records(layout, teller):
    pie = CAKE.replace(b"Cake", b"Pie")
    for state in (TEA, TEA + CAKE, TEA + b"# Head\n" + CAKE, TEA + b"# Head\n" + pie, TEA):
        teller.tell(state)
    parts, texts = gone(layout, teller)
    assert parts == [[], ["0.inserted"], [], ["0.inserted", "0.removed"], ["0.removed"]]
    assert texts == {"Cake on Sundays.", "Pie on Sundays."}
    parts, texts = gone(layout, teller, wanted=lambda text: "Cake" in text)
    assert parts == [[], ["0.inserted"], [], ["0.removed"], []]
    assert texts == {"Cake on Sundays."}


def test_each_line_of_it_goes_whatever_the_line_says(layout, teller):
    many = b"- Cake:\n  flour\n  eggs ^m3k9f2\n"
    for state in (TEA, TEA + many, TEA + many.replace(b"flour", b"salt"), TEA):
        teller.tell(state)
    parts, _ = gone(layout, teller)
    assert parts == [[], ["0.inserted"], ["0.inserted", "0.removed"], ["0.removed"]]


def test_before_it_had_an_id_it_is_known_by_its_words(layout, teller):
    bare = CAKE.replace(b" ^m3k9f2", b"")
    other = CAKE.replace(b"m3k9f2", b"zzzzzz")
    for state in (bare, CAKE, CAKE + other):
        teller.tell(state)
    parts, _ = gone(layout, teller)
    assert parts == [["0.inserted"], ["0.inserted", "0.removed"], []]


def test_where_an_earlier_record_is_missing_it_is_known_by_its_id(layout, teller):
    teller.tell(TEA)
    teller.tell(TEA + CAKE)
    teller.tell(TEA + CAKE.replace(b"Cake", b"Pie"))
    records = list(teller.journal.records())[2:]
    found = of_observation(layout, records, PATH, "m3k9f2")
    assert found.parts == {records[0].hash: {"0.removed", "0.inserted"}}


def test_reasons_and_summaries_go_with_it(layout, teller):
    head = b"---\nsummary: Cake on Sundays\n---\n"
    teller.tell(head + TEA, reason="tea")
    teller.tell(head + TEA + CAKE, reason="she eats much", observation="m3k9f2", version=1)
    teller.tell(head + CAKE, reason="cake on sundays is enough")
    parts, _ = gone(layout, teller)
    assert parts == [["1.inserted"], ["0.inserted", "reason"], ["reason"]]


lines = st.lists(st.sampled_from([TEA, CAKE, b"# A\n", b"text\n", CAKE.replace(b"on", b"in")]))


@given(st.lists(lines.map(b"".join), min_size=1, max_size=6))
def test_after_the_redaction_no_record_holds_it(layout, new_teller, unsynced, states):
    teller = new_teller()
    with unsynced():
        for state in states:
            teller.tell(state)
        found = of_observation(layout, teller.journal.records(), PATH, "m3k9f2")
        teller.journal.redact(lambda record: found.parts.get(record.hash, ()))
    assert b"Cake" not in b"".join(path.read_bytes() for path in teller.files())
    assert teller.kinds() == []


def test_of_a_whole_note_everything_goes(teller):
    teller.tell(TEA, reason="why")
    teller.tell(None)
    first, last = teller.journal.records()
    found = whole_note([first, last])
    assert found.parts == {
        first.hash: {"path", "reason", "0.inserted"},
        last.hash: {"path", "0.removed"},
    }
    assert "Tea in the morning. ^teatea" in "".join(found.texts)


def test_of_one_revision_what_it_brought_goes_unless_it_is_kept(teller):
    teller.tell(b"kept\nsecret\n")
    teller.tell(b"kept\nother\n")
    first, last = teller.journal.records()
    found = inserted_lines([first, last], first, "kept\nother\n")
    assert found.texts == {"secret"}
    assert found.parts == {first.hash: {"1.inserted"}, last.hash: {"0.removed"}}
    assert inserted_lines([first, last], last, "other\n").texts == set()

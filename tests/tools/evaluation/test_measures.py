"""Each figure says what it means: right on a vault that is right, and worse on one that is not."""

import dataclasses

import pytest
from zibaldone.tools import lifecycle, notes
from zibaldone.tools.evaluation import changing, reading
from zibaldone.tools.evaluation.changing import (
    conflicts,
    deletions,
    overrides,
    resumes,
    writing,
)
from zibaldone.tools.evaluation.labels import (
    Conflict,
    Deletion,
    Hidden,
    Question,
    Update,
    Work,
    Write,
)
from zibaldone.tools.evaluation.reading import leakage, provenance, usefulness

FOOD = "agent-memory/food.md"
NOTES = {
    FOOD: "---\nid: k2m9qx4tb1c7\ncategory: Food\n---\n# Food\n\n"
    "- Drinks tea with milk, without sugar. ^aaaaaa\n"
    "- Cooks lentils on Mondays. ^bbbbbb\n"
    "- Wants to bake sourdough. [status:: unreviewed] ^cccccc\n",
    "projects/acme/Plan.md": "# Plan\n\nThe launch is in May.\n",
    "projects/globex/Plan.md": "# Globex\n\nThe launch of globex is in June.\n",
}


@pytest.fixture
def vault(opened):
    return opened(NOTES)


def figures(found):
    return {one.name: one.value for one in found}


def test_what_is_found_counts_by_its_rank_and_share(vault):
    questions = (
        Question("tea with milk", (f"{FOOD}#^aaaaaa",)),
        Question("lentils", (f"{FOOD}#^bbbbbb", "projects/acme/Plan.md")),
        Question("unicorns", (FOOD,)),
    )
    found = figures(usefulness(vault, questions))
    assert found["recall@1"] == found["recall@10"] == 0.5
    assert found["MRR"] == 0.6667
    assert found["evidence in 2000 tokens"] == 0.5
    assert usefulness(vault, questions)[0].wrong == ("lentils", "unicorns")


def test_a_hit_further_down_counts_less(vault, monkeypatch):
    found = reading.search(vault, "launch")
    turned = dataclasses.replace(found, results=found.results[::-1])
    expect = (turned.results[1].path,)
    monkeypatch.setattr(reading, "search", lambda *a, **k: turned)
    told = figures(usefulness(vault, (Question("launch", expect),)))
    assert (told["recall@1"], told["recall@5"], told["MRR"]) == (0, 1, 0.5)


def test_lines_that_cannot_be_named_lower_the_provenance(vault, fill):
    questions = (Question("tea and lentils", (FOOD,)),)
    assert provenance(vault, questions).value == 1
    fill({FOOD: NOTES[FOOD].replace(" ^aaaaaa", "")})
    found = provenance(vault, questions)
    assert (found.value, found.cases) == (0.5, 2)
    assert found.wrong == (f"{FOOD}: a line without an id",)


def test_hidden_words_that_are_shown_are_a_leak(vault, fill):
    hidden = (Hidden("bake sourdough", ("baking", "sourdough bread")),)
    assert leakage(vault, hidden, ()).value == 0
    fill({FOOD: NOTES[FOOD].replace(" [status:: unreviewed]", "")})
    found = leakage(vault, hidden, ())
    assert (found.value, found.better) == (1, "lower")
    assert found.wrong[:2] == ("search: baking", "recall: baking")


def test_what_is_muted_may_be_searched_and_not_recalled(vault, fill):
    fill({FOOD: NOTES[FOOD].replace("category: Food", "category: Food\nmuted: true")})
    assert leakage(vault, (Hidden("Cooks lentils", ("lentils",)),), ()).value == 0


def test_what_is_another_projects_is_a_leak(vault, monkeypatch):
    questions = (Question("launch", ("projects/acme/Plan.md",), "acme"),)
    assert leakage(vault, (), questions).value == 0
    search = reading.search
    monkeypatch.setattr(
        reading, "search", lambda vault, query, project, **named: search(vault, query, **named)
    )
    found = leakage(vault, (), questions)
    assert (found.value, found.wrong) == (0.5, ("search in acme: launch",))


WRITES = (
    Write("Keeps bees on the roof.", "written"),
    Write("Drinks tea with milk, without sugar", "known", "Food"),
    Write("Drinks tea with milk, with sugar.", "asked", "Food"),
    Write("The password is Gr4nite!Harbour77", "refused"),
)


def test_writes_are_precise_when_only_what_is_new_is_written(vault, on_disk):
    before = on_disk(FOOD)
    precision, whole = writing(vault, WRITES)
    assert (precision.value, precision.cases, whole.value, whole.cases) == (1, 1, 1, 1)
    assert on_disk(FOOD) == before
    (again, _) = writing(vault, WRITES)
    assert again == precision


def test_writes_are_not_precise_without_the_gate(opened):
    vault = opened({**NOTES, "zibaldone.toml": 'write_gate = "off"\n'})
    precision, whole = writing(vault, WRITES)
    assert (precision.value, whole.value) == (0.5, 1)
    assert precision.wrong == ("Drinks tea with milk, with sugar. (written and not asked)",)
    strict = opened({"zibaldone.toml": 'write_gate = "always"\n'})
    assert writing(strict, WRITES[:1])[1].value == 0


def test_a_conflict_has_to_be_told_and_nothing_else(vault):
    right = Conflict("Drinks tea with milk, with sugar.", f"{FOOD}#^aaaaaa", "Food")
    none = Conflict("Keeps bees on the roof.")
    assert conflicts(vault, (right, none)).value == 1
    wrong = Conflict("Drinks tea with milk, with sugar.", f"{FOOD}#^bbbbbb", "Food")
    unseen = Conflict("Drinks tea with milk, with sugar.", "", "Food")
    found = conflicts(vault, (right, wrong, unseen))
    assert (found.value, found.wrong) == (0.3333, (wrong.text,))


def test_an_update_has_to_override_what_was_there(vault, fill):
    update = Update(f"{FOOD}#^aaaaaa", "Drinks coffee now.", "what does she drink, coffee or tea")
    assert overrides(vault, (update,)).value == 1
    fill({**NOTES, "Diary.md": "# Diary\n\nDrinks tea with milk, without sugar.\n"})
    assert overrides(vault, (update,)).value == 0
    gone = overrides(vault, (Update("zzzzzz", "Drinks coffee.", "coffee"),))
    assert gone.value == 0 and "There is no note" in gone.wrong[0]


def test_words_that_stay_behind_lower_the_deletion(vault, fill):
    deletion = Deletion(f"{FOOD}#^aaaaaa", "tea with milk")
    assert deletions(vault, (deletion,)).value == 1
    fill({**NOTES, "Diary.md": "# Diary\n\nDrinks tea with milk, without sugar.\n"})
    found = deletions(vault, (deletion,))
    assert found.value == 0.25
    assert [each.partition(": still in ")[2] for each in found.wrong] == [
        "search",
        "recall",
        "the files Diary.md",
    ]


def test_a_deletion_that_does_nothing_is_seen(vault, monkeypatch):
    deletion = Deletion(f"{FOOD}#^bbbbbb", "lentils on Mondays")
    answer = lifecycle.Forgotten("forgotten", "k2m9qx4tb1c7", "bbbbbb", 1, "bbbbbb@v1", FOOD, "")
    monkeypatch.setattr(changing, "forget", lambda *a: answer)
    found = deletions(vault, (deletion,))
    assert found.value == 0.25  # The purge that follows does its work.
    assert len(found.wrong) == 3
    assert "lentils" not in notes.get_note(vault, FOOD).content


def test_broken_off_work_goes_on_where_it_was(vault, monkeypatch):
    work = Work("Bake", ("Mix", "Wait", "Bake"), (0, 2, 3))
    assert resumes(vault.layout, vault.caller, (work,)).value == 1
    monkeypatch.setattr(changing, "complete_step", lambda *a: None)
    found = resumes(vault.layout, vault.caller, (work,))
    assert (found.value, found.wrong) == (0.3333, ("Bake, after 2 steps", "Bake, after 3 steps"))


def test_nothing_to_measure_has_no_figure(vault):
    for found in (
        *usefulness(vault, ()),
        provenance(vault, ()),
        leakage(vault, (), ()),
        *writing(vault, ()),
        conflicts(vault, ()),
        overrides(vault, ()),
        deletions(vault, ()),
        resumes(vault.layout, vault.caller, ()),
    ):
        assert (found.value, found.cases, found.wrong) == (None, 0, ())

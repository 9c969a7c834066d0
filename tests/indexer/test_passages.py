"""What is ranked of a note, and that what is hidden leaves nothing in the index."""

import pytest
from zibaldone.indexer.passages import documents, is_live, passages, rests, visible
from zibaldone.vault.layout import open_layout
from zibaldone.vault.memory import observations
from zibaldone.vault.note import parse_note

DAY = "2026-11-30"
HIDDEN = [
    "[status:: unreviewed]",
    "[status:: superseded]",
    "[status:: stale]",
    "[status:: anything]",
    "[expires:: 2026-11-29]",
    "[expires:: 2020-01-01]",
]
SHOWN = ["", "[status:: active]", "[expires:: 2026-11-30]", "[expires:: 2999-01-01]"]


@pytest.fixture
def note_of(vault_dir):
    layout = open_layout(vault_dir)

    def parsed(text, path="agent-memory/notes.md"):
        return layout, parse_note(layout, path, text.encode("utf-8", "surrogateescape"))

    return parsed


def line(fields):
    return f"- Canary één #canarytag [[Canary note]]\n  more canary {fields} ^c4n4ry\n"


@pytest.mark.parametrize("fields", HIDDEN)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_law_9_a_hidden_observation_leaves_nothing(note_of, fields, line_end):
    head = "---\ntags: [kept]\n---\n# Notes\n\nProse #prose\n\n"
    text = f"{head}- Before [[B]]\n{line(fields)}- After #after\n"
    layout, note = note_of(text.replace("\n", line_end))
    seen = visible(layout, note, DAY)
    assert seen.tags == ("kept", "prose", "after")
    assert [link.target for link in seen.structure.links] == ["B"]
    assert len(seen.source.text) == len(note.source.text)
    parts = passages(note, DAY)
    assert [part.words for part in parts if part.is_observation] == ["Before [[B]]", "After #after"]
    assert not any("canary" in term for one in documents(seen, parts) for term in one.impacts)
    shown = [note.source.text[part.start : part.end] for part in parts]
    assert not any("anary" in text for text in shown)


@pytest.mark.parametrize("fields", SHOWN)
def test_a_live_observation_is_ranked(note_of, fields):
    layout, note = note_of(f"# Notes\n\n{line(fields)}")
    assert visible(layout, note, DAY) is note
    assert [part.observation for part in passages(note, DAY) if part.is_observation] == ["c4n4ry"]
    assert is_live(observations(note)[0], DAY)


def test_hidden_words_between_prose_are_cut_out(note_of):
    """What stands around a hidden line is shown without it, however short it is."""
    _, note = note_of(f"Above\n\n{line(HIDDEN[0])}\nBelow\n")
    shown = [note.source.text[part.start : part.end] for part in passages(note, DAY)]
    assert shown == ["Above", "Below"]


def test_fields_in_a_user_doc_hide_nothing(note_of):
    layout, note = note_of(f"# Notes\n\n{line(HIDDEN[0])}", "projects/x/plan.md")
    assert visible(layout, note, DAY) is note
    assert "Canary" in note.source.text[passages(note, DAY)[0].start :]


@pytest.mark.parametrize("kind", ["thread", "progress", "Thread"])
def test_plans_and_threads_leave_no_words_tags_or_links(note_of, kind):
    text = f"---\nkind: {kind}\n---\n# T\n\n- see [[Quay]] #quay ^a1\n"
    layout, note = note_of(text)
    assert (note.kind, note.category) == (kind.lower(), "")
    assert passages(note) == ()
    seen = visible(layout, note, DAY)
    assert (seen.structure.links, seen.structure.tags) == ((), ())
    (head,) = documents(seen, ())
    assert head.impacts == {}


def test_what_active_observations_rest_on_is_told(note_of):
    _, note = note_of(
        "- a [derived_from:: x5z4yr, n5rvrt@v2] ^aaaaaa\n"
        "- b [status:: stale] [derived_from:: x5z4yr] ^bbbbbb\n"
        "- c [derived_from:: x5z4yr]\n"
    )
    assert rests(note) == (("aaaaaa", "x5z4yr"), ("aaaaaa", "n5rvrt"))

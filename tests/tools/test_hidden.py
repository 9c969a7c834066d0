"""What may not be recalled: agents neither see it, nor change it, nor let it pass."""

import pytest
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.notes import delete_note, edit_note, get_note
from zibaldone.tools.recall import recall
from zibaldone.tools.refusals import OwnerOnly
from zibaldone.tools.vault import OWNER
from zibaldone.vault.errors import NoteNotFound, SectionNotFound, TextNotFound

HIDDEN = "- Canary sings\n  at night [origin:: untrusted] [Status:: Unreviewed] ^h1dden\n"
NOTE = f"---\ncategory: Food\n---\n# Food\n\n- Likes tea ^m1aaaa\n{HIDDEN}- Hates coffee ^m2aaaa\n"
FILES = {"agent-memory/food.md": NOTE}


HIDDEN_TOO = (
    HIDDEN,
    "- Canary sings [expires:: 2020-01-31] ^h1dden\n",
    "- Canary sings [status:: stale] ^h1dden\n",
)


@pytest.mark.parametrize("line", HIDDEN_TOO, ids=["unreviewed", "expired", "stale"])
def test_law_9_no_tool_shows_it_or_changes_it(opened, on_disk, line):
    text = NOTE.replace(HIDDEN, line)
    vault = opened({"agent-memory/food.md": text})
    assert "Canary" not in repr(get_note(vault, "food"))
    for mode, content, find in (
        ("findReplace", "dog", "Canary"),
        ("replace", "- Likes mate", None),
    ):
        with pytest.raises((OwnerOnly, TextNotFound)):
            edit_note(vault, "food", mode, content, find)
    assert on_disk("agent-memory/food.md") == text
    edit_note(vault, "food", "append", "- Likes mate")
    assert line in on_disk("agent-memory/food.md")
    assert "Canary" in get_note(vault.with_caller(OWNER), "food").content


@pytest.fixture
def vault(opened):
    return opened(FILES)


def test_a_note_is_shown_without_it(vault):
    note = get_note(vault, "food")
    assert "Canary" not in repr(note)
    assert [(one.observation_id, one.line) for one in note.observations] == [
        ("m1aaaa", 6),
        ("m2aaaa", 9),
    ]
    with pytest.raises(SectionNotFound) as missing:
        get_note(vault, "food#^h1dden")
    assert "^h1dden" not in missing.value.headings
    assert "Canary" in get_note(vault.with_caller(OWNER), "food").content


def test_an_edit_beside_it_leaves_it_and_does_not_tell_of_it(vault, on_disk):
    token = get_note(vault, "food").version_token
    answer = edit_note(vault, "food", "findReplace", "mate", "tea", version_token=token)
    assert answer.outcome == "edited"
    assert "anary" not in answer.diff
    assert on_disk("agent-memory/food.md") == NOTE.replace("tea", "mate")


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (("findReplace", "", " [Status:: Unreviewed]"), TextNotFound),
        (("findReplace", "dog", "Canary"), TextNotFound),
        (("replace", "- Canary sings at night\n"), OwnerOnly),
        (("replaceSection", "- x\n", None, "Food"), OwnerOnly),
    ],
)
def test_no_edit_changes_it_or_lets_it_pass(vault, on_disk, arguments, refusal):
    mode, content, *more = arguments
    find, section = [*more, None, None][:2]
    with pytest.raises(refusal):
        edit_note(vault, "food", mode, content, find, section)
    assert on_disk("agent-memory/food.md") == NOTE


@pytest.mark.parametrize("ref", ["h1dden", "food#^h1dden", "h1dden@v1"])
def test_it_cannot_be_corrected_or_forgotten(vault, on_disk, ref):
    with pytest.raises(NoteNotFound):
        update_memory(vault, ref, "Canary sings all day")
    with pytest.raises(NoteNotFound):
        forget(vault, ref)
    assert on_disk("agent-memory/food.md") == NOTE


def test_the_owner_may_do_all_of_it(vault):
    owner = vault.with_caller(OWNER)
    edit_note(owner, "food", "findReplace", "", " [Status:: Unreviewed]")
    assert "Canary sings" in recall(vault, "canary").context


def test_law_9_no_edit_tells_by_how_it_fails_what_the_hidden_words_are(vault, on_disk):
    edit_note(vault, "food", "append", "- Canary is a word")
    told = on_disk("agent-memory/food.md").count("Canary")
    edit_note(vault, "food", "findReplace", "Budgie", "Canary")
    assert told == 2
    assert "Canary sings" in on_disk("agent-memory/food.md")
    assert "Budgie is a word" in on_disk("agent-memory/food.md")


def test_an_agent_cannot_delete_it_with_its_note(vault, on_disk, vault_dir):
    with pytest.raises(OwnerOnly, match="waits for review"):
        delete_note(vault, "food")
    assert on_disk("agent-memory/food.md") == NOTE
    delete_note(vault.with_caller(OWNER), "food")
    assert not (vault_dir / "agent-memory/food.md").exists()


def test_law_9_a_link_to_it_reads_like_one_to_nothing(opened):
    vault = opened(
        {
            **FILES,
            "agent-memory/threads/quiet.md": "---\nkind: thread\n---\n- state: x ^t1aaaa\n",
            "Src.md": "[[food#^m1aaaa]] [[food#^h1dden]] [[food#^nobody]] [[quiet]] [[nowhere]]\n",
        }
    )
    assert [(one.path, one.missing) for one in get_note(vault, "Src").links] == [
        ("agent-memory/food.md", None),
        ("agent-memory/food.md", "block"),
        ("agent-memory/food.md", "block"),
        (None, "note"),
        (None, "note"),
    ]
    owners = get_note(vault.with_caller(OWNER), "Src").links
    assert [one.missing for one in owners] == [None, None, "block", None, "note"]

"""Law 11, forgotten means gone: no byte of the words is left, and a raw scan proves it."""

import base64
import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from zibaldone.tools import history
from zibaldone.tools.cli import run
from zibaldone.tools.definition import TOOLS
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.notes import create_note, delete_note, edit_note, get_note
from zibaldone.tools.purge import purge, redact
from zibaldone.tools.recall import recall
from zibaldone.tools.refusals import OwnerOnly, PurgeIncomplete
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.vault import Caller, Vault
from zibaldone.vault import files, store
from zibaldone.vault.eraser import Eraser
from zibaldone.vault.errors import InvalidArgument, NoteAmbiguous, NoteNotFound, RevisionUnavailable

AGENT = Caller("planner", origin="agent")
WORDS = ("dark", "sepia", "violet")
"""One word of each version that stands nowhere else."""


@pytest.fixture
def everything(vault_dir):
    """The bytes of every file of vault and cache, by path."""

    def read():
        tops = (vault_dir, Path(os.environ["ZIBALDONE_CACHE_DIR"]))
        found = (path for top in tops for path in top.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in found if path.name != "device"}

    return read


def texts(vault, path):
    return [each.text for each in get_note(vault, path).observations]


def holding(everything, *words):
    """The files that hold one of the words, in any form that a raw scan can see."""
    forms = [form for word in words for form in forms_of(word)]
    return sorted(path for path, data in everything().items() if any(f in data for f in forms))


def forms_of(word):
    data = word.encode()
    yield data
    yield json.dumps(word)[1:-1].encode()
    yield word.encode("utf-16-le")
    yield word.encode("utf-16-be")
    if len(data) > 8:
        yield base64.b64encode(data)[:-4]


def in_three_versions(owner, planner, vault_dir):
    made = remember_about_user(
        planner, "Likes dark themes in editors.", "taste", summary="Likes dark themes in editors"
    )
    remember_about_user(planner, "Drinks tea at noon.", "taste")
    update_memory(planner, made.observation_id, "Likes sepia themes in editors.", reason="not dark")
    note = vault_dir / made.path
    note.write_text(note.read_text().replace("sepia", "violet"))
    return made


def test_law_11_no_byte_of_any_version_is_left(owner, planner, vault_dir, everything):
    made = in_three_versions(owner, planner, vault_dir)
    assert holding(everything, *WORDS)
    answer = purge(owner, made.observation_id)
    assert holding(everything, *WORDS) == []
    assert (answer.observation_id, answer.versions) == (made.observation_id, 3)
    assert answer.proof.elsewhere == answer.proof.unseen == ()
    assert answer.proof.files == len(everything())
    assert answer.proof.lines == 3
    assert [each.text for each in get_note(owner, made.path).observations] == [
        "Drinks tea at noon."
    ]
    assert search(planner, "themes editors").results == ()
    assert recall(planner, "themes editors").sources == ()
    told = history.history(owner, made.observation_id).revisions
    assert [each.op for each in told] == ["create", "update", "update", "purge"]
    assert told[-1].agent == "owner"
    with pytest.raises(RevisionUnavailable):
        history.restore(owner, made.observation_id)


def test_what_was_forgotten_or_deleted_is_purged_too(owner, planner, vault_dir, everything):
    made = in_three_versions(owner, planner, vault_dir)
    forget(planner, made.observation_id, reason="no violet any more")
    assert history.trash(owner) == ()
    delete_note(planner, made.path)
    purge(owner, made.observation_id)
    assert holding(everything, *WORDS) == []
    assert [each.note_id for each in history.trash(owner)] == [made.note_id]
    history.restore(owner, made.note_id)
    assert [each.text for each in get_note(owner, made.path).observations] == [
        "Drinks tea at noon."
    ]


def test_an_observation_leaves_the_notes_in_the_trash(owner, planner, vault_dir, everything):
    made = in_three_versions(owner, planner, vault_dir)
    delete_note(planner, made.path)
    answer = purge(owner, made.observation_id)
    assert holding(everything, *WORDS) == []
    assert answer.copies == (f".zibaldone/trash/{made.note_id}/{made.path}",)
    history.restore(owner, made.note_id)
    assert [each.text for each in get_note(owner, made.path).observations] == [
        "Drinks tea at noon."
    ]


def test_a_whole_note_is_purged_with_its_name(owner, planner, vault_dir, everything):
    note = create_note(planner, "boat", "Violet diagnosis of the dark engine", "It is the valve.\n")
    delete_note(planner, note.path)
    again = create_note(planner, "boat", "Violet diagnosis of the dark engine", "It is not.\n")
    kept = create_note(planner, "boat", "Log", "Nothing.\n")
    for each in (note, again):
        answer = purge(owner, each.note_id)
        assert (answer.note_id, answer.observation_id) == (each.note_id, None)
    assert holding(everything, "Violet", "diagnosis", "valve", "It is not") == []
    assert not (vault_dir / ".zibaldone" / "trash" / note.note_id).exists()
    assert history.trash(owner) == ()
    assert get_note(owner, kept.path).note_id == kept.note_id
    assert [line.op for line in history.history(owner, note.note_id).revisions] == [
        "create",
        "delete",
        "purge",
    ]


def test_the_words_leave_copies_audit_and_leftovers(owner, planner, vault_dir, everything):
    made = in_three_versions(owner, planner, vault_dir)
    text = (vault_dir / made.path).read_text()
    copy = vault_dir / "agent-memory" / "taste.sync-conflict-20261130-101010-ABCDEFG.md"
    copy.write_text(text.replace("Drinks", "Still drinks"))
    (vault_dir / ".4000000-abcdef.zib-tmp").write_text(text)
    name = made.observation_id
    lines = [
        {"query": "likes VIOLET themes in editors", "n": 1},
        {
            "query": "tea",
            "sources": [{"id": made.observation_id, "text": "Likes violet themes in…"}],
        },
        {"query": "tea"},
    ]
    audit = vault_dir / ".zibaldone" / "audit" / "d7w3hq5n2kfa" / "2026-11.jsonl"
    audit.parent.mkdir(parents=True)
    audit.write_text(
        "".join(f"{json.dumps(line)}\n" for line in lines) + '{"query": "Likes violet the'
    )
    answer = purge(owner, made.observation_id)
    assert holding(everything, "violet", "VIOLET", *WORDS) == []
    assert answer.copies == (copy.relative_to(vault_dir).as_posix(),)
    assert "Still drinks tea" in copy.read_text()
    assert list(map(json.loads, audit.read_text().splitlines())) == [
        {"query": "", "n": 1, "redacted": True},
        {"query": "tea", "sources": [{"id": name, "text": ""}], "redacted": True},
        {"query": "tea"},
    ]


def test_law_11_a_question_with_a_word_that_no_note_has_any_more_is_struck(
    owner, planner, vault_dir, everything
):
    for question in ("doses of lithium", "kinds of tablets", "a quiet evening"):
        search(planner, question)
    made = remember_about_user(planner, "Takes lithium tablets each evening.", "health")
    remember_about_user(planner, "Keeps vitamin tablets in the boat.", "sport")
    purge(owner, made.observation_id)
    assert holding(everything, "lithium") == []
    files = (vault_dir / ".zibaldone/audit").rglob("*.jsonl")
    asked = [json.loads(line)["query"] for file in files for line in file.read_text().splitlines()]
    assert asked == ["", "kinds of tablets", ""]


def test_the_same_words_of_somebody_else_are_named_and_left(owner, planner, vault_dir):
    made = in_three_versions(owner, planner, vault_dir)
    other = remember_about_user(planner, "Sails a boat.", "sport")
    mine = vault_dir / "mine.md"
    mine.write_text("He likes it: Likes violet themes in editors. And tea.\n")
    (vault_dir / ".obsidian").mkdir()
    plugin = vault_dir / ".obsidian" / "data.json"
    plugin.write_bytes("Likes violet themes in editors.".encode("utf-16-le"))
    answer = purge(owner, made.observation_id)
    assert mine.read_text().startswith("He likes it: Likes violet")
    found = {(each.path, each.form) for each in answer.proof.elsewhere}
    assert {("mine.md", "utf-8"), (".obsidian/data.json", "utf-16")} <= found
    assert history.restore(owner, other.observation_id, "v1").observation_id == other.observation_id


def test_what_is_left_in_a_file_of_ours_is_a_failure(owner, planner, vault_dir):
    made = in_three_versions(owner, planner, vault_dir)
    stray = vault_dir / ".zibaldone" / "notes of another program"
    stray.write_text("Likes violet themes in editors.")
    with pytest.raises(PurgeIncomplete) as failure:
        purge(owner, made.observation_id)
    assert failure.value.left == (".zibaldone/notes of another program",)
    stray.unlink()
    assert purge(owner, made.observation_id).proof.elsewhere == ()


def test_a_line_that_was_moved_to_another_note_is_purged_in_both(
    owner, planner, vault_dir, everything
):
    made = in_three_versions(owner, planner, vault_dir)
    other = remember_about_user(planner, "Sails a boat.", "sport")
    source, target = vault_dir / made.path, vault_dir / other.path
    line = next(line for line in source.read_text().splitlines() if "violet" in line)
    source.write_text(source.read_text().replace(f"{line}\n", ""))
    target.write_text(f"{target.read_text()}{line}\n")
    for note in (made.note_id, other.note_id):
        history.history(owner, note)
    purge(owner, made.observation_id)
    assert holding(everything, *WORDS) == []
    assert "Sails a boat." in target.read_text()


def test_a_line_of_the_owner_that_got_its_id_later_leaves_all_of_the_journal(
    owner, planner, vault_dir, everything
):
    remember_about_user(planner, "Drinks tea at noon.", "taste")
    note = vault_dir / "agent-memory" / "taste.md"
    note.write_text(f"{note.read_text()}- Likes dark themes in editors.\n")
    made = remember_about_user(planner, "Likes dark themes in editors.", "taste")
    assert made.outcome == "skipped"
    purge(owner, made.observation_id)
    assert holding(everything, *WORDS) == []


def test_a_note_that_no_tool_has_written_can_be_purged(owner, vault_dir, everything):
    (vault_dir / "agent-memory").mkdir()
    note = vault_dir / "agent-memory" / "taste.md"
    note.write_text("# Taste\n\n- Likes dark themes in editors. ^m3k9f2\n- Tea. ^q81xz0\n")
    purge(owner, "m3k9f2")
    assert holding(everything, *WORDS) == []
    purge(owner, "agent-memory/taste.md")
    assert not note.exists()
    assert holding(everything, "Tea. ") == []


def test_another_process_neither_serves_the_words_nor_brings_them_back(
    owner, planner, vault_dir, everything
):
    made = in_three_versions(owner, planner, vault_dir)
    with Vault.open(vault_dir, caller=planner.caller, watch=True) as other:
        assert search(other, "violet themes").results
        assert recall(other, "violet themes").sources
        purge(owner, made.observation_id)
        assert search(other, "themes editors").results == ()
        assert recall(other, "themes editors").sources == ()
        remember_about_user(other, "Sails a boat.", "taste")
        other.index.tidy()
    assert holding(everything, *WORDS) == []


def test_what_was_forgotten_of_the_same_note_can_still_be_restored(owner, planner, vault_dir):
    made = in_three_versions(owner, planner, vault_dir)
    other = get_note(owner, made.path).observations[1].observation_id
    update_memory(planner, other, "Drinks tea at five.")
    forget(planner, other)
    purge(owner, made.observation_id)
    assert history.diff(owner, other, "1", "2") == "Drinks tea at [-noon.-]{+five.+}"
    history.restore(owner, other)
    assert texts(owner, made.path) == ["Drinks tea at five."]


def test_lines_of_several_notes_that_share_an_id_of_the_owners_have_to_be_told_apart(
    owner, vault_dir, everything
):
    (vault_dir / "agent-memory").mkdir()
    for name, text in (("a", "Likes dark themes."), ("b", "Owns a sepia print.")):
        (vault_dir / "agent-memory" / f"{name}.md").write_text(f"- {text} ^1\n- Tea. ^t\n")
        forget(owner, f"{name}#^t")
    with pytest.raises(NoteAmbiguous):
        purge(owner, "1")
    purge(owner, "agent-memory/a.md#^1")
    assert holding(everything, "dark") == []
    assert "Owns a sepia print." in (vault_dir / "agent-memory" / "b.md").read_text()


def test_whatever_is_kept_as_lines_in_the_state_loses_the_words(owner, planner, vault_dir):
    made = in_three_versions(owner, planner, vault_dir)
    kept = vault_dir / ".zibaldone" / "rules" / "d7w3hq5n2kfa" / "2026-11.jsonl"
    kept.parent.mkdir(parents=True)
    kept.write_text('{"rule":"Likes violet themes in editors","count":2}\n')
    purge(owner, made.observation_id)
    assert json.loads(kept.read_text()) == {"rule": "", "count": 2, "redacted": True}


# Being killed


@pytest.fixture
def killed(vault_dir):
    """Purge in a process that is killed at its n-th step; tells whether it came so far."""

    def attempt(ref, number):
        child = os.fork()
        if child == 0:
            _die_at(number)
            with Vault.open(vault_dir) as vault:
                purge(vault, ref)
            os._exit(0)
        return os.waitpid(child, 0)[1] != 0

    return attempt


def _die_at(number):
    """End this process without a word at the n-th change of the file system, or step of one."""
    changes = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "shutil.rmtree", "sqlite3.connect"}
    left = [number]

    def step(*_):
        left[0] -= 1
        if left[0] < 0:
            os._exit(9)

    def hook(event, args):
        if event in changes or (event == "open" and isinstance(args[2], int) and args[2] & 3):
            step()

    files.step = store._step = step
    sys.addaudithook(hook)


@pytest.mark.slow
def test_a_purge_that_was_killed_at_any_step_is_finished_by_another(
    vault_dir, everything, killed, tmp_path
):
    with Vault.open(vault_dir) as owner:
        made = in_three_versions(owner, owner.with_caller(AGENT), vault_dir)
        forget(owner, made.observation_id)
        history.restore(owner, made.observation_id)
        delete_note(owner, made.path)
        history.restore(owner, made.note_id)
    aside, cache = tmp_path / "aside", os.environ["ZIBALDONE_CACHE_DIR"]
    shutil.copytree(vault_dir, aside / "vault")
    shutil.copytree(cache, aside / "cache")
    number, alive = 0, False
    while not alive:
        for kept, place in ((aside / "vault", vault_dir), (aside / "cache", cache)):
            shutil.rmtree(place)
            shutil.copytree(kept, place)
        alive = not killed(made.observation_id, number)
        with Vault.open(vault_dir) as owner:
            purge(owner, made.observation_id)
            assert holding(everything, *WORDS) == [], number
            assert owner.store.ledger.journal.verify() == [], number
            assert Eraser(owner.layout).plans() == []
            told = history.history(owner, made.observation_id).revisions
            ops = [each.op for each in told]
            assert ops.count("purge") - ops.count("undone") == 1, number
            assert "Drinks tea at noon." in get_note(owner, made.path).content
        number += 4
    assert number > 40


# One past revision


def test_one_past_version_is_redacted_and_the_others_stay(owner, planner, vault_dir, everything):
    made = in_three_versions(owner, planner, vault_dir)
    answer = redact(owner, made.observation_id, "v2")
    assert holding(everything, "sepia") == []
    assert (answer.versions, answer.records) == (1, 2)
    assert get_note(owner, made.path).observations[0].text == "Likes violet themes in editors."
    assert history.restore(owner, made.observation_id, "v1").version == 4
    assert get_note(owner, made.path).observations[0].text == "Likes dark themes in editors."
    with pytest.raises(RevisionUnavailable):
        history.restore(owner, made.observation_id, "v2")
    with pytest.raises(RevisionUnavailable):
        redact(owner, made.observation_id, "v2")
    redact(owner, made.observation_id, "v3")
    assert holding(everything, "violet") == []
    assert texts(owner, made.path)[0] == "Likes dark themes in editors."


def test_a_note_in_the_trash_stays_there_when_a_past_version_is_redacted(
    owner, planner, vault_dir, everything
):
    made = in_three_versions(owner, planner, vault_dir)
    delete_note(planner, made.path)
    redact(owner, made.observation_id, "v2")
    assert holding(everything, "sepia") == []
    [kept] = history.trash(owner)
    assert (kept.note_id, kept.agent) == (made.note_id, "planner")
    history.restore(owner, made.note_id)
    assert get_note(owner, made.path).observations[0].text == "Likes violet themes in editors."


def test_a_past_version_leaves_a_deleted_note_of_which_another_line_was_purged(
    owner, planner, everything
):
    first = remember_about_user(planner, "Likes mauve much.", "taste")
    second = remember_about_user(planner, "Keeps ochre paper.", "taste")
    update_memory(planner, second.observation_id, "Keeps umber ink.")
    delete_note(planner, first.path)
    purge(owner, first.observation_id)
    redact(owner, second.observation_id, "v1")
    assert holding(everything, "mauve", "ochre") == []


def test_what_the_note_says_now_is_not_redacted(owner, planner, vault_dir):
    made = in_three_versions(owner, planner, vault_dir)
    with pytest.raises(InvalidArgument, match="says now"):
        redact(owner, made.observation_id, "v3")
    note = create_note(planner, "boat", "Log", "The first line.\n")
    (first,) = history.history(owner, note.note_id).revisions
    with pytest.raises(InvalidArgument, match="says now"):
        redact(owner, note.note_id, first.revision)


def test_a_past_revision_of_a_note_is_redacted(owner, planner, vault_dir, everything):
    note = create_note(planner, "boat", "Log", "The engine is dark.\n\nThe sails are white.\n")
    file = vault_dir / note.path
    file.write_text(file.read_text().replace("dark", "new"))
    first, _ = history.history(owner, note.note_id).revisions
    redact(owner, note.note_id, first.revision)
    assert holding(everything, "dark") == []
    assert "The engine is new." in file.read_text()
    assert [line.op for line in history.history(owner, note.note_id).revisions][-1] == "redact"


def test_a_revision_of_which_a_part_is_gone_already_loses_the_rest(owner, planner, everything):
    first = create_note(planner, "boat", "Log", "The engine is dark.\n\nThe sails are white.\n")
    edit_note(owner, first.path, "findReplace", "The engine is new.", find="The engine is dark.")
    brought, _ = history.history(owner, first.note_id).revisions
    redact(owner, first.note_id, brought.revision)
    with pytest.raises(InvalidArgument, match="says now"):
        redact(owner, first.note_id, brought.revision)
    edit_note(owner, first.path, "findReplace", "The sails are red.", find="The sails are white.")
    redact(owner, first.note_id, brought.revision)
    assert holding(everything, "dark", "white") == []


# The doors


def test_only_the_owner_purges(owner, planner, vault_dir):
    made = in_three_versions(owner, planner, vault_dir)
    for attempt in (
        lambda: purge(planner, made.observation_id),
        lambda: redact(planner, made.observation_id, "v1"),
    ):
        with pytest.raises(OwnerOnly):
            attempt()
    assert {tool.name for tool in TOOLS}.isdisjoint(
        {"purge", "redact", "restore", "confirm", "sweep", "history", "revert", "trash"}
    )
    with pytest.raises(NoteNotFound):
        purge(owner, "zzzzzz")
    assert "violet" in (vault_dir / made.path).read_text()


def test_the_commands_ask_first_and_show_the_proof(
    owner, planner, vault_dir, capsys, monkeypatch, everything
):
    made = in_three_versions(owner, planner, vault_dir)
    (vault_dir / "mine.md").write_text("Likes violet themes in editors.\n")
    here = ["--vault", str(vault_dir)]
    assert run(["purge", made.observation_id, *here]) == 2
    assert "--yes" in capsys.readouterr().err
    assert run(["redact", made.observation_id, "--revision", "v2", "--yes", *here]) == 0
    assert "2 records of the journal lost words." in capsys.readouterr().out
    assert run(["purge", made.observation_id, "--yes", *here]) == 0
    told = capsys.readouterr().out
    assert "Gone for good: agent-memory/taste.md#^" in told
    assert "in vault, state and cache" in told
    assert "The same words, left as they are (1, utf-8): mine.md" in told
    assert run(["purge", made.path, "--yes", "--json", *here]) == 0
    assert json.loads(capsys.readouterr().out)["proof"]["lines"] > 0
    monkeypatch.setenv("ZIBALDONE_AGENT", "planner")
    assert run(["purge", made.note_id, "--yes", *here]) == 4

"""What the owner alone may ask: histories, diffs, restoring and reverting."""

import pytest
from zibaldone.tools import history
from zibaldone.tools.cli import run
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.notes import create_note, delete_note, edit_note, get_note
from zibaldone.tools.recall import recall
from zibaldone.tools.refusals import OwnerOnly
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.revert import revert
from zibaldone.tools.search import search
from zibaldone.tools.vault import Caller
from zibaldone.vault.errors import (
    InvalidArgument,
    NoteAmbiguous,
    NoteExists,
    NoteNotFound,
    RevisionUnavailable,
)

WRITER = Caller("writer", "i2", "s2", "2.0", "agent")


@pytest.fixture
def writer(owner):
    return owner.with_caller(WRITER)


def versions(answer):
    return [(line.op, line.agent, line.version, line.parent) for line in answer.revisions]


def test_a_forgotten_observation_comes_back_with_its_history(owner, planner, writer, vault_dir):
    made = remember_about_user(planner, "Prefers dark themes.", tags=["taste"], type="identity")
    note = vault_dir / made.path
    note.write_text(note.read_text().replace("dark", "light"))
    update_memory(writer, made.observation_id, "Prefers sepia themes. #taste", reason="asked")
    line = next(line for line in note.read_text().splitlines() if "sepia" in line)
    forget(planner, made.observation_id)
    restored = history.restore(owner, made.observation_id)
    assert (restored.observation_id, restored.version) == (made.observation_id, 5)
    assert line in note.read_text().splitlines()
    answer = history.history(owner, made.observation_id)
    assert versions(answer) == [
        ("create", "planner", 1, None),
        ("update", "editor", 2, 1),
        ("update", "writer", 3, 2),
        ("forget", "planner", 4, 3),
        ("restore", "owner", 5, 4),
    ]
    assert answer.revisions[2].reason == "asked"
    assert answer.revisions[0].client_version == "1.0"
    (hit,) = search(writer, "themes").results
    assert (hit.observation_id, hit.version) == (made.observation_id, 5)
    assert recall(writer, "themes").sources[0].version == 5


def test_an_earlier_version_is_brought_back_as_the_next_one(owner, planner):
    made = remember_about_user(planner, "Prefers dark themes.")
    update_memory(planner, made.observation_id, "Prefers light themes.")
    assert history.diff(owner, made.observation_id) == "Prefers [-dark-]{+light+} themes."
    assert history.restore(owner, made.observation_id, "v1").version == 3
    assert get_note(owner, made.path).observations[0].text == "Prefers dark themes."
    assert history.diff(owner, made.observation_id, "1", "3") == "Prefers dark themes."
    with pytest.raises(RevisionUnavailable):
        history.restore(owner, made.observation_id, "v9")


def test_fields_come_back_with_a_version_though_the_words_are_the_same(owner, planner, vault_dir):
    made = remember_about_user(planner, "Prefers dark themes.")
    note = vault_dir / made.path
    before = note.read_text()
    note.write_text(before.replace(" ^", " [expires:: 2000-01-01] ^"))
    assert search(planner, "themes").results == ()
    assert history.restore(owner, made.observation_id, "v1").version == 3
    assert note.read_text() == before
    assert search(planner, "themes").results[0].version == 3


def test_an_edit_in_an_editor_is_in_the_history_at_once(owner, planner, vault_dir):
    made = remember_about_user(planner, "Prefers dark themes.")
    note = vault_dir / made.path
    note.write_text(note.read_text().replace("dark", "light"))
    answer = history.history(owner, made.observation_id)
    assert versions(answer)[1:] == [("update", "editor", 2, 1)]


def test_a_note_comes_back_from_the_trash(owner, planner):
    note = create_note(planner, "boat", "Log", "first\n")
    edit_note(planner, note.path, "append", "second\n")
    delete_note(planner, note.path)
    (line,) = history.trash(owner)
    assert (line.note_id, line.path, line.agent) == (note.note_id, note.path, "planner")
    assert history.history(owner, "log").path == note.path
    history.restore(owner, "Log")
    assert history.trash(owner) == ()
    assert get_note(owner, note.path).content.endswith("first\nsecond\n")
    told = [line.op for line in history.history(owner, note.note_id).revisions]
    assert told == ["create", "edit", "delete", "restore"]


def test_a_note_comes_back_as_it_lay_in_the_trash_and_leaves_it(owner, planner, vault_dir):
    note = create_note(planner, "boat", "Log", "first\n")
    deleted = delete_note(planner, note.path)
    kept = vault_dir / deleted.trash_path
    kept.write_text(kept.read_text().replace("first", "mended by hand"))
    history.restore(owner, note.note_id)
    assert "mended by hand" in get_note(owner, note.path).content
    assert not kept.exists()


def test_a_note_in_the_place_of_a_deleted_one_is_another_note(owner, planner):
    first = create_note(planner, "boat", "Log", "first\n")
    delete_note(planner, first.path)
    second = create_note(planner, "boat", "Log", "second\n")
    told = history.history(owner, first.note_id).revisions
    assert [line.op for line in told] == ["create", "delete"]
    with pytest.raises(NoteExists):
        history.restore(owner, first.note_id)
    with pytest.raises(NoteExists):
        history.restore(owner, first.note_id, told[0].revision)
    assert "second" in get_note(owner, second.note_id).content


def test_a_note_goes_back_to_a_revision(owner, planner):
    note = create_note(planner, "boat", "Log", "first\n")
    edit_note(planner, note.path, "append", "second\n")
    first, last = history.history(owner, note.path).revisions
    assert "+second" in history.diff(owner, note.path)
    assert "-second" in history.diff(owner, note.path, last.revision, first.revision)
    with pytest.raises(InvalidArgument):
        history.restore(owner, note.path)
    history.restore(owner, note.path, first.revision)
    assert get_note(owner, note.path).content.endswith("first\n")


def test_a_note_that_lies_where_another_one_lay_is_not_taken_for_it(owner, planner, vault_dir):
    taste = remember_about_user(planner, "Prefers dark themes.", category="taste")
    sport = remember_about_user(planner, "Sails on Sundays.", category="sport")
    update_memory(planner, taste.observation_id, "Prefers light themes.")
    (vault_dir / taste.path).rename(vault_dir / "agent-memory" / "moved.md")
    (vault_dir / sport.path).rename(vault_dir / taste.path)
    assert history.restore(owner, taste.observation_id, "v1").path == "agent-memory/moved.md"
    assert get_note(owner, "moved").observations[0].text == "Prefers dark themes."
    (line,) = get_note(owner, taste.path).observations
    assert (line.text, line.version) == ("Sails on Sundays.", 1)


def test_what_was_forgotten_is_found_by_the_name_of_its_note_too(owner, planner):
    made = remember_about_user(planner, "Prefers dark themes.", category="taste")
    forget(planner, made.observation_id)
    assert history.restore(owner, f"taste#^{made.observation_id}").version == 3


def test_agents_are_refused_all_of_it(owner, planner, vault_dir):
    made = remember_about_user(planner, "Prefers dark themes.")
    for ask in (
        lambda: history.history(planner, made.observation_id),
        lambda: history.diff(planner, made.observation_id),
        lambda: history.restore(planner, made.observation_id),
        lambda: history.trash(planner),
        lambda: revert(planner, "planner", "2000-01-01"),
    ):
        with pytest.raises(OwnerOnly):
            ask()


@pytest.mark.parametrize("ref", ["zzzzzz", "nowhere", "general#^zzzzzz"])
def test_what_never_was_has_no_history(owner, planner, ref):
    remember_about_user(planner, "Prefers dark themes.")
    with pytest.raises(NoteNotFound):
        history.history(owner, ref)


def test_what_was_there_before_the_history_is_found_and_has_none_yet(owner, vault_dir, capsys):
    note = vault_dir / "agent-memory" / "tea.md"
    note.parent.mkdir()
    note.write_text("- Likes green tea. ^tea001\n")
    for ref in ("tea", "tea001", "^tea001", "agent-memory/tea.md", "tea#^tea001"):
        assert history.history(owner, ref).revisions == ()
        for ask in (history.diff, history.restore):
            with pytest.raises(InvalidArgument, match="no change"):
                ask(owner, ref)
    assert run(["history", "tea", "--vault", str(vault_dir)]) == 0
    assert "as it was found" in capsys.readouterr().out
    told = ["revert", "--agent=nobody", "--since=2026-01-01", f"--vault={vault_dir}"]
    assert run(told) == 0
    assert "nothing of nobody since 2026-01-01" in capsys.readouterr().out
    (vault_dir / "agent-memory" / "drinks.md").write_text("- Likes black tea. ^tea001\n")
    with pytest.raises(NoteAmbiguous):
        history.history(owner, "tea001")


def test_the_commands_of_the_owner(owner, planner, vault_dir, capsys, monkeypatch):
    made = remember_about_user(planner, "Prefers dark themes.")
    update_memory(planner, made.observation_id, "Prefers light themes.", reason="asked")
    told = {}
    for command in (
        ["history", made.observation_id],
        ["diff", made.observation_id, "--from", "v1", "--to", "v2"],
        ["forget", made.observation_id],
        ["restore", made.observation_id],
        ["delete-note", made.path],
        ["trash"],
        ["restore", made.path],
        ["revert", "--agent", "planner", "--since", "2000-01-01"],
    ):
        assert run([*command, "--vault", str(vault_dir)]) == 0, command
        told[command[0]] = capsys.readouterr().out
    assert (
        f"update ^{made.observation_id}@v2 (from v1)  by planner 1.0 i1 (agent): asked"
        in (told["history"])
    )
    assert told["diff"] == "Prefers [-dark-]{+light+} themes.\n"
    assert made.path in told["trash"]
    assert "Left as it is" in told["revert"]
    monkeypatch.setenv("ZIBALDONE_AGENT", "planner")
    assert run(["history", made.observation_id, "--vault", str(vault_dir)]) == 4
    assert "owner" in capsys.readouterr().err

"""Notes and journal in step: what is entered before a write, after a crash, and for an editor."""

import os

import pytest
from zibaldone.vault.errors import NoteChanged, StorageFailed
from zibaldone.vault.ids import derived_id
from zibaldone.vault.layout import open_layout
from zibaldone.vault.ledger import OWNER, Act
from zibaldone.vault.replay import replay
from zibaldone.vault.revision import Actor
from zibaldone.vault.source import token_of
from zibaldone.vault.store import Store

PATH = "agent-memory/preferences.md"
NOTE = "7k2m9qx4tb1c"
AGENT = Actor("claude-code", "instance", "session", "2.1", "agent")
TEXT = b"---\nid: 7k2m9qx4tb1c\n---\n# Preferences\n\n- Dark themes. ^m3k9f2\n"
MORE = TEXT + b"- Short reports. ^q81xz0\n"


@pytest.fixture
def vault(vault_dir):
    store = Store(open_layout(vault_dir))
    yield store
    assert store.ledger.journal.verify() == []
    store.ledger.close()


def act(op="edit", observation=None, **more):
    return Act(op, NOTE, AGENT, observation, **more)


def written(vault, data, op="edit", observation=None, path=PATH):
    try:
        expected = token_of(vault.read(path))
    except Exception:  # noqa: BLE001 - there is none yet
        expected = None
    return vault.write(path, data, expected=expected, act=act(op, observation))


def told(vault, note=NOTE):
    return list(vault.ledger.journal.records(note))


def touched(record):
    return [(each.observation, each.op, each.version, each.parent) for each in record.touched]


def test_who_wrote_what_is_in_the_journal_before_the_note_changes(vault, vault_dir, monkeypatch):
    seen = []
    enter = vault.ledger.enter

    def look(*args):
        record = enter(*args)
        seen.append((vault_dir / PATH).exists())
        return record

    monkeypatch.setattr(vault.ledger, "enter", look)
    written(vault, TEXT, "create", "m3k9f2")
    (record,) = told(vault)
    assert seen == [False]
    assert (record.op, record.actor, record.path) == ("create", AGENT, PATH)
    assert (record.before, record.after) == (None, token_of(TEXT))
    assert touched(record) == [("m3k9f2", "create", 1, None)]


def test_an_edit_of_the_owner_is_entered_before_the_next_write(vault, vault_dir):
    written(vault, TEXT, "create", "m3k9f2")
    edited = TEXT.replace(b"Dark", b"Light") + b"- Mine. ^a1b2c3\n"
    (vault_dir / PATH).write_bytes(edited)
    written(vault, edited + b"- Short. ^q81xz0\n", "append", "q81xz0")
    create, external, append = told(vault)
    assert (external.op, external.actor, external.base) == ("external", OWNER, create.hash)
    assert touched(external) == [("a1b2c3", "append", 1, None), ("m3k9f2", "update", 2, 1)]
    assert (append.base, append.before) == (external.hash, token_of(edited))
    assert replay(told(vault), external.hash) == edited


def test_a_line_that_the_owner_takes_out_and_puts_back_goes_on_counting(vault, vault_dir):
    written(vault, MORE, "create", "m3k9f2")
    for data in (TEXT, MORE):
        (vault_dir / PATH).write_bytes(data)
        vault.settle([(PATH, NOTE)])
    assert [touched(record) for record in told(vault)[1:]] == [
        [("q81xz0", "forget", 1, None)],
        [("q81xz0", "append", 2, 1)],
    ]


def test_a_note_of_the_owners_is_found_as_it_is_with_its_observations(vault, vault_dir):
    (vault_dir / "agent-memory").mkdir()
    (vault_dir / PATH).write_bytes(TEXT)
    assert told(vault) == []
    written(vault, TEXT.replace(b"Dark", b"Light"), "update", "m3k9f2")
    baseline, update = told(vault)
    assert (baseline.op, touched(baseline)) == ("baseline", [("m3k9f2", "append", 1, None)])
    assert touched(update) == [("m3k9f2", "update", 2, 1)]
    vault.ledger.history.catch_up()
    assert vault.ledger.version(NOTE, "m3k9f2") == 2


def test_an_edit_of_a_whole_note_names_every_observation_that_it_changed(vault):
    written(vault, MORE, "create", "m3k9f2")
    written(vault, MORE.replace(b"Dark", b"Light").replace(b"^q81xz0", b"^zzzzzz"))
    assert touched(told(vault)[-1]) == [
        ("m3k9f2", "update", 2, 1),
        ("q81xz0", "forget", 1, None),
        ("zzzzzz", "append", 1, None),
    ]


def test_a_write_that_fails_is_taken_back(vault, vault_dir, monkeypatch):
    written(vault, TEXT, "create", "m3k9f2")

    def fail(*args, **kwargs):
        raise StorageFailed(PATH, "no")

    monkeypatch.setattr(Store, "_replace", fail)
    with pytest.raises(StorageFailed):
        written(vault, MORE, "append", "q81xz0")
    monkeypatch.undo()
    create, append, undone = told(vault)
    assert (undone.op, undone.of, undone.after) == ("undone", append.hash, create.after)
    written(vault, MORE, "append", "q81xz0")
    assert touched(told(vault)[-1]) == [("q81xz0", "append", 3, 2)]


def test_an_edit_that_comes_in_between_is_the_owners_and_not_the_agents(
    vault, vault_dir, monkeypatch
):
    token = written(vault, TEXT, "create", "m3k9f2")
    theirs = TEXT.replace(b"Dark", b"Light")
    enter = vault.ledger.enter

    def edit_after(*args):
        record = enter(*args)
        (vault_dir / PATH).write_bytes(theirs)
        return record

    monkeypatch.setattr(vault.ledger, "enter", edit_after)
    with pytest.raises(NoteChanged):
        vault.write(PATH, MORE, expected=token, act=act("append", "q81xz0"))
    monkeypatch.undo()
    vault.settle([(PATH, NOTE)])
    assert [record.op for record in told(vault)] == ["create", "append", "undone", "external"]
    assert touched(told(vault)[-1]) == [("m3k9f2", "update", 2, 1)]


def test_a_record_that_a_crash_kept_from_its_note_is_undone_at_the_next_start(
    vault, vault_dir, caplog
):
    written(vault, TEXT, "create", "m3k9f2")
    vault.ledger.enter("agent-memory/new.md", None, b"- x ^q81xz0\n", Act("create", "abc", AGENT))
    again = Store(open_layout(vault_dir))
    again.write("other.md", b"x", expected=None)
    assert [record.op for record in told(again, "abc")] == ["create", "undone"]
    assert "kept a write (create) from agent-memory/new.md" in caplog.text
    again.ledger.close()


def test_a_note_in_the_trash_and_back_has_one_history(vault, vault_dir):
    written(vault, MORE, "create", "m3k9f2")
    vault.trash(PATH, NOTE, act("delete"))
    written(vault, MORE, "restore")
    create, delete, restore = told(vault)
    assert (delete.op, delete.after, delete.base) == ("delete", None, create.hash)
    assert (restore.before, restore.base) == (None, delete.hash)
    assert [each.op for each in restore.touched] == ["restore", "restore"]
    assert len(vault.ledger.history.states(NOTE)) == 1


def test_a_note_that_was_removed_or_moved_by_hand_is_told(vault, vault_dir):
    written(vault, TEXT, "create", "m3k9f2")
    (vault_dir / PATH).rename(vault_dir / "agent-memory" / "taste.md")
    vault.settle([("agent-memory/taste.md", NOTE)])
    assert len(told(vault)) == 1, "the bytes are the same"
    written(vault, MORE, "append", "q81xz0", "agent-memory/taste.md")
    assert told(vault)[-1].path == "agent-memory/taste.md"
    (vault_dir / "agent-memory" / "taste.md").unlink()
    written(vault, TEXT, "create", "m3k9f2")
    assert [record.op for record in told(vault)] == ["create", "append", "external", "create"]
    assert told(vault)[2].after is None


def test_looking_costs_nothing_where_nothing_changed(vault, vault_dir, monkeypatch):
    (vault_dir / "mine.md").write_bytes(b"no history")
    vault.settle([("mine.md", derived_id("mine.md"))])
    written(vault, TEXT, "create", "m3k9f2")
    os.utime(vault_dir / PATH, (1_700_000_000, 1_700_000_000))
    vault.settle([(PATH, NOTE)])
    monkeypatch.setattr(vault.ledger, "_read", lambda path: pytest.fail("it was read"))
    vault.settle([(PATH, NOTE)])
    assert len(list(vault.ledger.journal.records())) == 1


def test_an_edit_within_one_tick_of_the_clock_is_told(vault, vault_dir):
    written(vault, TEXT, "create", "m3k9f2")
    vault.settle([(PATH, NOTE)])
    stamp = (vault_dir / PATH).stat().st_mtime_ns
    with (vault_dir / PATH).open("r+b") as file:
        file.write(TEXT.replace(b"Dark", b"Pale"))
    os.utime(vault_dir / PATH, ns=(stamp, stamp))
    vault.settle([(PATH, NOTE)])
    assert touched(told(vault)[-1]) == [("m3k9f2", "update", 2, 1)]


def test_a_change_of_a_copy_is_not_taken_for_a_write_that_was_cut_off(vault, vault_dir):
    written(vault, TEXT, "create", "m3k9f2")
    copy = "agent-memory/copy.md"
    (vault_dir / copy).write_bytes(TEXT)
    written(vault, MORE, "append", "q81xz0", copy)
    written(vault, TEXT.replace(b"Dark", b"Light"), "update", "m3k9f2")
    assert "undone" not in [record.op for record in told(vault)]
    assert vault.read(copy) == MORE
    assert replay(told(vault)) == vault.read(PATH)


def test_a_copy_with_the_same_id_is_no_edit_of_the_note(vault, vault_dir):
    written(vault, TEXT, "create", "m3k9f2")
    (vault_dir / "agent-memory" / "copy.md").write_bytes(MORE)
    vault.settle([("agent-memory/copy.md", NOTE)])
    assert len(told(vault)) == 1


def test_settings_have_no_history(vault, vault_dir):
    vault.write("zibaldone.toml", b"", expected=None)
    assert not (vault_dir / ".zibaldone").exists()


def test_a_note_whose_words_were_redacted_begins_anew(vault, vault_dir):
    written(vault, MORE, "create", "m3k9f2")
    vault.ledger.journal.redact(words=[b"Short reports"])
    (vault_dir / PATH).write_bytes(TEXT)
    written(vault, TEXT + b"- New. ^a1b2c3\n", "append", "a1b2c3")
    assert [record.op for record in told(vault)] == ["create", "baseline", "append"]
    assert replay(told(vault)) == TEXT + b"- New. ^a1b2c3\n"

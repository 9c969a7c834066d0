"""Threads: short-term notes of one line of work, which end and never become memory unasked."""

import os
import signal
import subprocess
import sys
import time

import pytest
from zibaldone.tools import threads
from zibaldone.tools.notes import delete_note, edit_note, get_note
from zibaldone.tools.recall import recall
from zibaldone.tools.refusals import SecretRefused
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.summary import memory_summary
from zibaldone.tools.threads import consolidate, read_notes, sweep_threads, take_note
from zibaldone.tools.vault import OWNER
from zibaldone.vault.errors import InvalidArgument, NoteNotFound, ObservationRefused

PATH = "agent-memory/threads/berth-load.md"


@pytest.fixture
def vault(opened):
    return opened()


@pytest.fixture
def day(monkeypatch):
    """Sets the day that the threads take for today."""

    def set_day(text):
        monkeypatch.setattr(threads, "today", lambda: text)

    set_day("2027-01-01")
    return set_day


def texts(vault, thread="berth-load", kind=None):
    return [(one.kind, one.text) for one in read_notes(vault, thread, kind).notes]


def test_what_a_thread_notes_it_reads_again_in_order(vault, on_disk, day):
    first = take_note(vault, "berth-load", "Row 7 is empty.", "decision")
    take_note(vault, "berth-load", "Ask the master:\nwhich berth?", "pending")
    take_note(vault, "Berth-Load ", "At row 30.")
    assert (first.outcome, first.path) == ("noted", PATH)
    assert texts(vault) == [
        ("decision", "Row 7 is empty."),
        ("pending", "Ask the master:\nwhich berth?"),
        ("state", "At row 30."),
    ]
    assert texts(vault, kind="pending") == [("pending", "Ask the master:\nwhich berth?")]
    assert "kind: thread\ntitle: berth-load\nexpires: 2027-01-15\n" in on_disk(PATH)
    assert f"- decision: Row 7 is empty. ^{first.observation_id}\n" in on_disk(PATH)
    assert vault.store.ledger.journal.verify() == []


def test_the_same_note_again_is_not_written(vault, on_disk):
    first = take_note(vault, "t", "One.", "searched")
    before = on_disk(first.path)
    again = take_note(vault, "t", "One.", "searched")
    assert (again.outcome, again.observation_id) == ("unchanged", first.observation_id)
    assert take_note(vault, "t", "One.", "discarded").outcome == "noted"
    assert on_disk(first.path).startswith(before.rstrip("\n"))


def test_another_thread_has_other_notes(vault):
    take_note(vault, "a", "Of a.")
    take_note(vault, "b", "Of b.")
    assert texts(vault, "a") == [("state", "Of a.")]
    assert texts(vault, "c") == []


def test_the_owner_edits_a_thread(vault, vault_dir, day):
    take_note(vault, "berth-load", "At row 30.")
    note = vault_dir / PATH
    text = note.read_text().replace("At row 30.", "At row 31.") + "* Pending: weigh it\n* by hand\n"
    note.write_text(text.replace("expires: 2027-01-15", "expires: 2030-01-01 # long"))
    assert texts(vault) == [
        ("state", "At row 31."),
        ("pending", "weigh it"),
        ("state", "by hand"),
    ]
    take_note(vault, "berth-load", "On.")
    assert "expires: 2030-01-01 # long" in note.read_text()
    assert "* state: On. ^" in note.read_text()


def test_nothing_of_a_thread_reaches_memory_or_another_thread(vault, opened):
    remember_about_user(vault, "Likes tea.")
    made = take_note(vault, "canary-thread", "The canary sings of [[Tea]]. #canary", "decision")
    take_note(vault, "other", "Unrelated.")
    query = "canary sings thread decision"
    assert search(vault, query).results == ()
    assert recall(vault, query).sources == ()
    assert recall(vault, query, thread="other").sources == ()
    for ref in (made.path, made.note_id, "canary-thread", f"{made.path}#^{made.observation_id}"):
        with pytest.raises(NoteNotFound) as refused:
            get_note(vault, ref)
        assert "canary" not in "".join(refused.value.suggestions)
    for change in (delete_note, lambda v, ref: edit_note(v, ref, "append", "x")):
        with pytest.raises(NoteNotFound):
            change(vault, made.path)
    summary = memory_summary(vault)
    assert [line.category for line in summary.user] == ["general"]
    assert "canary" not in str(summary)
    assert "canary" in get_note(vault.with_caller(OWNER), made.path).content


def test_recall_puts_the_notes_of_its_own_thread_first(vault):
    remember_about_user(vault, "The canary lives in the kitchen.")
    take_note(vault, "birds", "Canary food is bought.", "state")
    take_note(vault, "birds", "Nothing of the kind.", "state")
    answer = recall(vault, "canary food", thread="birds")
    assert [source.path.rpartition("/")[2] for source in answer.sources] == [
        "birds.md",
        "general.md",
    ]
    assert "state: Canary food is bought." in answer.context
    assert "Nothing of the kind" not in answer.context
    assert recall(vault, "canary food", thread="birds", budget_tokens=60).tokens <= 60


def test_a_thread_that_is_over_is_read_no_more_and_begins_anew(vault, vault_dir, day):
    old = take_note(vault, "berth-load", "Old canary.")
    day("2027-01-15")
    assert texts(vault) == [("state", "Old canary.")]
    day("2027-01-16")
    assert texts(vault) == []
    assert consolidate(vault, "berth-load").candidates == ()
    assert recall(vault, "canary", thread="berth-load").sources == ()
    new = take_note(vault, "berth-load", "New.")
    assert new.note_id != old.note_id
    assert texts(vault) == [("state", "New.")]
    assert list(vault_dir.glob(f".zibaldone/trash/{old.note_id}/**/*.md"))


def test_each_note_keeps_its_thread_for_as_long_as_the_settings_say(opened, on_disk, day):
    vault = opened({"zibaldone.toml": "thread_days = 3\n"})
    take_note(vault, "berth-load", "One.")
    day("2027-01-03")
    take_note(vault, "berth-load", "Two.")
    assert "expires: 2027-01-06" in on_disk(PATH)


def test_sweeping_moves_what_is_over_to_the_trash_and_nothing_else(vault, vault_dir, day):
    for name in ("over", "kept", "for ever"):
        take_note(vault, name, "x")
    folder = vault_dir / "agent-memory/threads"
    kept = folder / "for-ever.md"
    kept.write_text(kept.read_text().replace("expires: 2027-01-15\n", ""))
    assert sweep_threads(vault) == ()
    day("2027-01-20")
    take_note(vault, "kept", "y")
    fresh = folder / "kept.md"
    fresh.write_text(fresh.read_text().replace("2027-01-15", "2027-02-15"))
    assert sweep_threads(vault.with_caller(OWNER)) == ("agent-memory/threads/over.md",)
    assert sorted(path.name for path in folder.iterdir()) == ["for-ever.md", "kept.md"]
    assert sweep_threads(vault) == ()


def test_candidates_come_with_their_sources_and_what_memory_has(vault):
    known = remember_about_user(vault, "The staging server is slow on Mondays.")
    ids = [
        take_note(vault, "t", text, kind).observation_id
        for text, kind in [
            ("Use WAL mode for the cache.", "decision"),
            ("At step 4.", "state"),
            ("The staging server is slow on Mondays.", "decision"),
            ("Use WAL mode for the cache!", "decision"),
            ("Ask about row 7.", "pending"),
            ("The vendor's page on locks has no numbers.", "searched"),
        ]
    ]
    found = consolidate(vault, "t")
    assert [(one.text, one.type, one.sources) for one in found.candidates] == [
        ("Use WAL mode for the cache!", "semantic", (ids[0], ids[3])),
        ("The vendor's page on locks has no numbers.", "episodic", (ids[5],)),
    ]
    assert found.known == 1
    made = remember_about_user(
        vault, found.candidates[0].text, derived_from=found.candidates[0].sources
    )
    assert made.outcome == "appended"
    assert consolidate(vault, "t").known == 2
    assert known.observation_id


def test_what_rests_on_a_thread_stays_true_when_the_thread_is_over(vault, day):
    source = take_note(vault, "berth-load", "Use WAL mode.", "decision").observation_id
    remember_about_user(vault, "The cache uses WAL mode.", derived_from=[source])
    day("2027-06-01")
    assert len(sweep_threads(vault.with_caller(OWNER))) == 1
    assert "WAL mode" in recall(vault, "WAL mode").context
    assert search(vault, "WAL mode").results


@pytest.mark.parametrize(
    ("arguments", "failure"),
    [
        (("t", " "), ObservationRefused),
        (("t", "x" * 5000), ObservationRefused),
        (("", "x"), ObservationRefused),
        (("t" * 201, "x"), InvalidArgument),
        (("t", "x", "recipe"), InvalidArgument),
        (("t", "The key is AKIA" + "IOSFODNN7EXAMPLQ"), SecretRefused),
    ],
)
def test_what_cannot_be_noted_is_refused_and_leaves_nothing(vault, vault_dir, arguments, failure):
    with pytest.raises(failure):
        take_note(vault, *arguments)
    assert list(vault_dir.glob("agent-memory/**/*.md")) == []


WORKER = """
import sys
from zibaldone.tools.threads import take_note
from zibaldone.tools.vault import Caller, Vault
with Vault.open(sys.argv[1], caller=Caller(sys.argv[2])) as vault:
    for number in range(40):
        take_note(vault, "shared", f"{sys.argv[2]} {number}")
        print(number, flush=True)
"""


def start(vault_dir, worker):
    command = [sys.executable, "-c", WORKER, str(vault_dir), worker]
    return subprocess.Popen(command, env=dict(os.environ), stdout=subprocess.PIPE, text=True)


def test_two_processes_note_into_one_thread_and_a_killed_one_loses_nothing(opened, vault_dir):
    killed, other = start(vault_dir, "killed"), start(vault_dir, "other")
    for _ in range(5):
        killed.stdout.readline()
    time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    told = 5 + len(killed.stdout.read().splitlines())
    other.communicate()
    assert (killed.wait(), other.returncode) == (-signal.SIGKILL, 0)
    noted = [one.text for one in read_notes(opened(), "shared").notes]
    assert {f"killed {number}" for number in range(told)} <= set(noted)
    assert {f"other {number}" for number in range(40)} <= set(noted)
    assert len(noted) == len(set(noted))
    assert len(list(vault_dir.glob("agent-memory/threads/*.md"))) == 1


def test_a_session_starts_with_what_is_pending_and_was_noted_last(vault):
    take_note(vault, "berth-load", "Ask the pilot.", "pending")
    for number in range(threads.LAST + 3):
        take_note(vault, "berth-load", f"Row {number}.")
    _, hits = vault.index.ask(lambda: threads.thread_tail(vault, "Berth-LOAD"))
    rows = [f"state: Row {number}." for number in range(3, threads.LAST + 3)]
    assert [hit.passage.words for hit in hits] == ["pending: Ask the pilot.", *rows]
    assert vault.index.ask(lambda: threads.thread_tail(vault, "another")) == (None, [])

"""Plans that survive: made, resumed, changed by agents and by the owner in an editor."""

import os
import signal
import subprocess
import sys
import time

import pytest
from zibaldone.tools.history import history
from zibaldone.tools.notes import get_note
from zibaldone.tools.plans import (
    complete_step,
    create_progress,
    fail_step,
    progress,
    resume_point,
    skip_step,
    start_step,
)
from zibaldone.tools.recall import recall
from zibaldone.tools.refusals import NameUnknown, SecretRefused
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.summary import memory_summary
from zibaldone.vault.errors import InvalidArgument, ObservationRefused, PathRefused

STEPS = ["ingest", "validate", "load", "publish"]
PLAN = "agent-memory/plans/load-the-berths.md"


@pytest.fixture
def vault(opened):
    return opened()


@pytest.fixture
def plan(vault):
    create_progress(vault, "Load the berths", STEPS)
    return vault


def listed(on_disk, path=PLAN):
    return [line for line in on_disk(path).splitlines() if line.startswith("- ")]


def edit(vault_dir, before, after, path=PLAN):
    note = vault_dir / path
    assert before in note.read_text()
    note.write_text(note.read_text().replace(before, after))


def test_a_plan_is_a_task_list_in_a_note(vault, on_disk):
    made = create_progress(vault, "Load the berths", STEPS)
    assert (made.outcome, made.percent, made.next.step) == ("created", 0, "ingest")
    assert made.path == PLAN
    assert "kind: progress\ntitle: Load the berths\n" in on_disk(PLAN)
    assert listed(on_disk) == [f"- [ ] {name}" for name in STEPS]


def test_each_step_is_in_the_note_when_its_call_returns(plan, on_disk):
    task = "Load the berths"
    started = start_step(plan, task, "ingest")
    assert (started.outcome, started.next.step) == ("started", "ingest")
    assert listed(on_disk)[0] == "- [/] ingest"
    done = complete_step(plan, task, "ingest", "100 rows")
    assert (done.percent, done.next.step, done.finished) == (25, "validate", False)
    fail_step(plan, task, "validate", "row 7 is empty")
    skip_step(plan, task, "publish", "nobody reads it")
    assert listed(on_disk) == [
        "- [x] ingest — 100 rows",
        "- [!] validate — row 7 is empty",
        "- [ ] load",
        "- [-] publish — nobody reads it",
    ]
    assert resume_point(plan, task).step.remark == "row 7 is empty"
    assert start_step(plan, task, "validate").outcome == "started"
    assert listed(on_disk)[1] == "- [/] validate"
    complete_step(plan, task, "validate")
    end = complete_step(plan, task, "load", "all of it")
    assert (end.percent, end.finished, end.next) == (100, True, None)


def test_names_are_found_whatever_their_case_and_blanks(plan):
    assert complete_step(plan, " load  THE berths", "Ingest ").step.step == "ingest"


def test_what_is_so_already_is_not_written_again(plan, on_disk):
    complete_step(plan, "Load the berths", "ingest", "100 rows")
    before = on_disk(PLAN)
    again = complete_step(plan, "Load the berths", "ingest", "other rows")
    assert (again.outcome, again.step.remark) == ("unchanged", "100 rows")
    start_step(plan, "Load the berths", "load")
    assert start_step(plan, "Load the berths", "load").outcome == "unchanged"
    for change in (start_step, skip_step):
        with pytest.raises(InvalidArgument, match="is done: 100 rows"):
            change(plan, "Load the berths", "ingest")
    assert on_disk(PLAN).replace("[/] load", "[ ] load") == before


def test_an_unfinished_plan_is_resumed_as_it_is(plan, on_disk):
    complete_step(plan, "Load the berths", "ingest")
    before = on_disk(PLAN)
    again = create_progress(plan, "load the berths", ["ingest", "sweep up"])
    assert (again.outcome, again.path, again.next.step) == ("resumed", PLAN, "validate")
    assert again.not_added == ("sweep up",)
    assert on_disk(PLAN) == before


def test_a_finished_plan_stays_and_a_new_one_begins(vault, on_disk):
    create_progress(vault, "Daily", ["look"])
    complete_step(vault, "Daily", "look", "calm")
    new = create_progress(vault, "Daily", ["look", "write"])
    assert (new.outcome, new.path) == ("created", "agent-memory/plans/daily-2.md")
    assert listed(on_disk, "agent-memory/plans/daily.md") == ["- [x] look — calm"]
    assert complete_step(vault, "Daily", "look").path == new.path
    assert [plan.finished for plan in progress(vault).plans] == [False, True]
    assert progress(vault, "Daily").plans[0].path == new.path


def test_the_owner_ticks_adds_renames_and_reorders_in_an_editor(plan, vault_dir, on_disk):
    edit(vault_dir, "- [ ] ingest\n- [ ] validate\n", "* [x] Ingest all — by hand ^mine\n")
    edit(vault_dir, "- [ ] load\n", "- [ ] weigh — both scales <!-- mine -->\n  - [ ] below\n")
    now = progress(plan, "Load the berths").plans[0]
    assert [(step.step, step.state) for step in now.steps] == [
        ("Ingest all", "done"),
        ("weigh", "open"),
        ("publish", "open"),
    ]
    with pytest.raises(NameUnknown, match="There is: Ingest all, weigh, publish"):
        start_step(plan, "Load the berths", "load")
    before = on_disk(PLAN)
    complete_step(plan, "Load the berths", "weigh", "3 tons")
    wanted = "- [x] weigh — both scales <!-- mine --> — 3 tons\n"
    assert on_disk(PLAN) == before.replace("- [ ] weigh — both scales <!-- mine -->\n", wanted)


def test_of_two_steps_of_one_name_the_open_one_is_meant(plan, vault_dir, on_disk):
    edit(vault_dir, "- [ ] ingest", "- [x] ingest\n- [ ] ingest")
    complete_step(plan, "Load the berths", "ingest", "again")
    assert listed(on_disk)[:2] == ["- [x] ingest", "- [x] ingest — again"]


def test_a_plan_that_the_owner_renames_and_moves_is_still_found(plan, vault_dir):
    edit(vault_dir, "title: Load the berths", 'title: "Fill the berths"')
    (vault_dir / PLAN).rename(vault_dir / "agent-memory/berths.md")
    assert complete_step(plan, "Fill the berths", "ingest").path == "agent-memory/berths.md"
    assert create_progress(plan, "Fill the berths", STEPS).outcome == "resumed"
    with pytest.raises(NameUnknown, match="There is: Fill the berths"):
        start_step(plan, "Load the berths", "load")


def test_line_ends_and_bytes_that_are_no_text_stay(vault, vault_dir):
    note = vault_dir / "agent-memory/plans/old.md"
    note.parent.mkdir(parents=True)
    data = b"---\r\nkind: progress\r\n---\r\n# Old\r\n\r\n- [ ] one\r\n\r\n- [ ] two \xff\r\nend"
    note.write_bytes(data)
    complete_step(vault, "Old", "one", "fine — said\nso")
    wanted = data.replace(b"- [ ] one", "- [x] one — fine — said so".encode())
    assert note.read_bytes() == wanted


def test_resume_without_a_name_takes_the_plan_changed_last(vault):
    assert resume_point(vault).finished
    create_progress(vault, "First", ["a"])
    create_progress(vault, "Second", ["b"], project="harbour")
    found = resume_point(vault)
    assert (found.task, found.step.step, found.others) == ("Second", "b", ("First",))
    assert resume_point(vault, project="harbour").others is None
    complete_step(vault, "First", "a")
    assert resume_point(vault, "First").step is None


def test_a_name_in_two_memories_has_to_be_told_apart(vault):
    create_progress(vault, "Load", ["a"])
    there = create_progress(vault, "Load", ["a"], project="harbour")
    assert there.path == "projects/harbour/agent-memory/plans/load.md"
    with pytest.raises(InvalidArgument, match="in harbour, the user's memory"):
        start_step(vault, "Load", "a")
    assert start_step(vault, "Load", "a", project="harbour").path == there.path
    assert complete_step(vault, "Load", "a", project="harbour").finished
    assert start_step(vault, "Load", "a").path == "agent-memory/plans/load.md"


def test_unknown_names_list_those_that_are_known(plan):
    with pytest.raises(NameUnknown, match=r"called 'Unload'\. There is: Load the berths\."):
        resume_point(plan, "Unload")
    with pytest.raises(NameUnknown, match="There is none at all"):
        progress(plan, "Load the berths", project="harbour")


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ([], "from 1 to 200"),
        (["a"] * 201, "from 1 to 200"),
        (["a", "A "], "two of them"),
        (["a — b"], "comes before a result"),
        (["a" * 201], "no longer than"),
    ],
)
def test_steps_that_cannot_be_are_refused(vault, vault_dir, steps, problem):
    with pytest.raises(InvalidArgument, match=problem):
        create_progress(vault, "Load", steps)
    assert list(vault_dir.glob("agent-memory/**/*.md")) == []


def test_what_may_not_be_written_is_refused_and_changes_nothing(plan, on_disk):
    before, key = on_disk(PLAN), "AKIA" + "IOSFODNN7EXAMPLQ"
    with pytest.raises(SecretRefused):
        complete_step(plan, "Load the berths", "ingest", f"the key is {key}")
    with pytest.raises(ObservationRefused):
        fail_step(plan, "Load the berths", "ingest", "a\x00b")
    with pytest.raises(InvalidArgument, match="longer than 1000"):
        skip_step(plan, "Load the berths", "ingest", "x" * 1001)
    with pytest.raises(PathRefused):
        create_progress(plan, "x", ["a"], project="../other")
    assert on_disk(PLAN) == before


def test_a_plan_is_no_category_and_no_word_of_it_is_recalled(plan, vault_dir):
    edit(vault_dir, "- [ ] publish", "- [ ] publish to [[Zanzibar]] #zanzibar")
    remember_about_user(plan, "Likes zanzibar tea.", category="Load the berths")
    assert [hit.snippet for hit in search(plan, "zanzibar ingest berths").results] == [
        "Likes zanzibar tea."
    ]
    assert "publish" not in recall(plan, "zanzibar ingest validate publish").context
    summary = memory_summary(plan)
    assert [(line.category, line.observations) for line in summary.user] == [("Load the berths", 1)]
    assert [(one.task, one.percent, one.next.step) for one in summary.plans] == [
        ("Load the berths", 0, "ingest")
    ]
    assert "[[Zanzibar]]" in get_note(plan, PLAN).content


def test_the_history_tells_who_did_which_step(plan, opened):
    complete_step(plan, "Load the berths", "ingest", "100 rows")
    told = history(plan.with_caller(type(plan.caller)("owner", origin="owner")), PLAN).revisions
    assert {(line.op, line.agent, line.reason) for line in told} == {
        ("create", "tester", None),
        ("edit", "tester", "completed: ingest"),
    }
    assert plan.store.ledger.journal.verify() == []


# Several processes, and one that is killed

WORKER = """
import sys
from zibaldone.tools.plans import *
from zibaldone.tools.vault import Caller, Vault
from zibaldone.tools.plans import create_progress, start_step, complete_step, resume_point
vault_dir, log, worker = sys.argv[1:]
with Vault.open(vault_dir, caller=Caller(worker)) as vault, open(log, "a") as log:
    create_progress(vault, "Long", [f"step {n}" for n in range(35)])
    while (at := resume_point(vault, "Long").step) is not None:
        start_step(vault, "Long", at.step)
        print("begun", at.step, file=log, flush=True)
        complete_step(vault, "Long", at.step, "by " + worker)
        print("done", at.step, file=log, flush=True)
"""


def start(vault_dir, log, worker="one"):
    command = [sys.executable, "-c", WORKER, str(vault_dir), str(log), worker]
    return subprocess.Popen(command, env=dict(os.environ))


def words(log):
    return log.read_text().split("\n") if log.exists() else []


@pytest.mark.slow
@pytest.mark.parametrize("kills", [(3, 18, 27)])
def test_a_killed_worker_resumes_and_repeats_no_finished_step(opened, vault_dir, tmp_path, kills):
    log = tmp_path / "log"
    for done in kills:
        process = start(vault_dir, log)
        while len([line for line in words(log) if line.startswith("done")]) < done:
            assert process.poll() is None
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert start(vault_dir, log).wait() == 0
    lines = words(log)
    finished = [line.removeprefix("done ") for line in lines if line.startswith("done")]
    assert len(finished) == len(set(finished))
    for name in finished:
        assert f"begun {name}" not in lines[lines.index(f"done {name}") :]
    vault = opened()
    now = progress(vault, "Long").plans[0]
    assert now.finished
    assert {step.remark for step in now.steps} == {"by one"}
    assert vault.store.ledger.journal.verify() == []


@pytest.mark.slow
def test_two_processes_share_one_plan(opened, vault_dir, tmp_path):
    log = tmp_path / "log"
    workers = [start(vault_dir, log, name) for name in ("one", "two")]
    codes = [worker.wait() for worker in workers]
    now = progress(opened(), "Long").plans[0]
    assert [step.step for step in now.steps] == [f"step {n}" for n in range(35)]
    assert len(list(vault_dir.glob("agent-memory/plans/*.md"))) == 1
    # Who starts a step that the other has just completed is told so, and may stop there.
    assert 0 in codes
    assert now.finished

"""One key, one write: after a lost answer, in another process, and across a crash."""

import subprocess
import sys

import pytest
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.policy.idempotency import KEY_LENGTH
from zibaldone.tools.remember import remember_about_project, remember_about_user
from zibaldone.tools.vault import Caller, Vault
from zibaldone.vault.errors import InvalidArgument

ME = Caller("planner", "i1", "s1")


def facts(answer):
    return (
        answer.outcome,
        answer.note_id,
        answer.observation_id,
        answer.version,
        answer.version_token,
        answer.path,
        answer.category,
        answer.summary_updated,
    )


def lines(vault_dir, path):
    return [line for line in (vault_dir / path).read_text().splitlines() if line.startswith("- ")]


def test_the_same_key_gives_the_same_answer_and_one_line(opened, vault_dir):
    vault = opened(caller=ME)
    first = remember_about_user(vault, "Likes tea", "Food", summary="Eats", idempotency_key="k1")
    other = remember_about_user(vault, "Owns a boat", "Food", idempotency_key="k2", tags=["sea"])
    again = [
        remember_about_user(vault, "Likes tea", "Food", summary="Eats", idempotency_key="k1"),
        remember_about_user(vault, "Owns a boat", "Food", idempotency_key="k2", tags=["sea"]),
    ]
    assert list(map(facts, again)) == list(map(facts, (first, other)))
    assert [one.outcome for one in again] == ["created", "appended"]
    assert len(lines(vault_dir, first.path)) == 2


def test_it_holds_after_a_restart_and_after_the_cache_is_lost(vault_dir, monkeypatch, tmp_path):
    def remember():
        with Vault.open(vault_dir, caller=ME) as vault:
            return remember_about_project(vault, "boat", "Leaks", idempotency_key="k")

    first = remember()
    assert facts(remember()) == facts(first)
    monkeypatch.setenv("ZIBALDONE_CACHE_DIR", str(tmp_path / "new"))
    assert facts(remember()) == facts(first)


def test_it_holds_when_the_fact_was_changed_or_forgotten_since(opened, vault_dir):
    vault = opened(caller=ME)
    first = remember_about_user(vault, "Likes tea", idempotency_key="k")
    update_memory(vault, first.observation_id, "Likes mate")
    assert facts(remember_about_user(vault, "Likes tea", idempotency_key="k")) == facts(first)
    forget(vault, first.observation_id)
    assert facts(remember_about_user(vault, "Likes tea", idempotency_key="k")) == facts(first)
    assert lines(vault_dir, first.path) == []


@pytest.mark.parametrize("other", [Caller("writer", "i1", "s1"), Caller("planner", "i2", "s1")])
def test_the_key_of_another_caller_is_another_key(opened, other):
    vault = opened(caller=ME)
    first = remember_about_user(vault, "Likes tea", idempotency_key="k")
    answer = remember_about_user(vault.with_caller(other), "Owns a boat", idempotency_key="k")
    assert answer.observation_id != first.observation_id


def test_other_words_under_one_key_are_refused(opened, vault_dir):
    vault = opened(caller=ME)
    made = remember_about_user(vault, "Likes tea", idempotency_key="k")
    with pytest.raises(InvalidArgument, match="other words"):
        remember_about_user(vault, "Owns a boat", idempotency_key="k")
    assert len(lines(vault_dir, made.path)) == 1


@pytest.mark.parametrize("key", ["", " ", "x" * (KEY_LENGTH + 1)])
def test_a_key_has_to_be_one(opened, vault_dir, key):
    with pytest.raises(InvalidArgument, match="idempotency_key"):
        remember_about_user(opened(), "Likes tea", idempotency_key=key)
    assert list(vault_dir.iterdir()) == []


def test_what_waits_for_review_waits_once(opened):
    vault = opened(caller=ME)
    answers = [
        remember_about_user(vault, "Likes tea", untrusted=True, idempotency_key="k")
        for _ in range(2)
    ]
    assert facts(answers[0]) == facts(answers[1])
    assert answers[0].outcome == "pending"


def test_what_wrote_nothing_takes_no_key(opened):
    vault = opened(caller=ME)
    first = remember_about_user(vault, "Prefers dark themes in every editor", "taste")
    asked = remember_about_user(
        vault, "Prefers light themes in every editor", "taste", idempotency_key="k"
    )
    assert asked.outcome == "needs_verdict"
    verdict = {"receipt": asked.receipt, "verdict": f"supersedes:{first.observation_id}"}
    done = remember_about_user(
        vault, "Prefers light themes in every editor", "taste", idempotency_key="k", **verdict
    )
    again = remember_about_user(
        vault, "Prefers light themes in every editor", "taste", idempotency_key="k", **verdict
    )
    assert (done.outcome, done.version) == ("appended", 2)
    assert facts(again) == facts(done)


KILLED = """
import os, sys
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.vault import Caller, Vault
from zibaldone.vault import store

def step(name):
    if name == sys.argv[2]:
        os._exit(9)

store._step = step
with Vault.open(sys.argv[1], caller=Caller("planner", "i1", "s1")) as vault:
    remember_about_user(vault, "Likes tea", "food", idempotency_key="k")
"""


@pytest.mark.parametrize("step", ["entered", "synced", "renamed", "durable"])
@pytest.mark.parametrize("there", [False, True], ids=["new-note", "old-note"])
def test_a_crash_at_any_step_leaves_one_line(vault_dir, step, there):
    if there:
        with Vault.open(vault_dir, caller=ME) as vault:
            remember_about_user(vault, "Owns a boat", "food")
    done = subprocess.run([sys.executable, "-c", KILLED, str(vault_dir), step], check=False)
    assert done.returncode == 9
    with Vault.open(vault_dir, caller=ME) as vault:
        answer = remember_about_user(vault, "Likes tea", "food", idempotency_key="k")
        assert answer.outcome == ("appended" if there else "created")
        assert vault.store.ledger.journal.verify() == []
    found = [line for line in lines(vault_dir, answer.path) if line.startswith("- Likes tea")]
    assert found == [f"- Likes tea ^{answer.observation_id}"]

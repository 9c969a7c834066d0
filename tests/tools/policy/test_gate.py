"""The write gate: who is held, by what, and what each verdict does."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from zibaldone.tools import review
from zibaldone.tools.history import history
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.notes import get_note
from zibaldone.tools.policy import gate, near, receipts
from zibaldone.tools.policy.gate import Verdict, read_verdict
from zibaldone.tools.recall import recall
from zibaldone.tools.refusals import ReceiptRefused
from zibaldone.tools.remember import remember_about_project, remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.vault import OWNER, Caller, Vault
from zibaldone.vault.errors import InvalidArgument
from zibaldone.vault.store import KEY_FILE

ME = Caller("planner", "i1", "s1")
DARK = "Prefers dark themes in every editor"
LIGHT = "Prefers light themes in every editor"
REWORDED = "In every editor, dark themes are preferred"


@pytest.fixture
def vault(opened):
    return opened(caller=ME)


@pytest.fixture
def dark(vault):
    return remember_about_user(vault, DARK, "preferences")


def remember(vault, text=LIGHT, **more):
    return remember_about_user(vault, text, "preferences", **more)


def state(vault_dir):
    return {path: path.read_bytes() for path in vault_dir.rglob("*") if path.is_file()}


def texts(vault):
    return [one.text for one in get_note(vault, "preferences").observations]


# What holds whom


def test_an_agent_is_asked_about_what_is_said_in_other_words_or_another_language(vault):
    remember_about_user(vault, "La reunión del equipo es el jueves.", "team")
    asked = remember_about_user(vault, "Her team has its meeting on Mondays.", "habits")
    assert (asked.outcome, asked.similar[0].kind) == ("needs_verdict", "contradicting")


@pytest.mark.parametrize("text", [LIGHT, REWORDED])
def test_an_agent_is_asked_about_what_is_similar_and_nothing_is_written(
    vault, dark, vault_dir, text
):
    before = state(vault_dir)
    asked = remember(vault, text, summary="Likes", tags=["x"])
    assert state(vault_dir) == before
    assert (asked.outcome, asked.observation_id, asked.version) == ("needs_verdict", None, None)
    assert (asked.note_id, asked.path) == (dark.note_id, dark.path)
    near = asked.similar[0]
    assert (near.observation_id, near.version, near.text) == (dark.observation_id, 1, DARK)
    assert near.kind in ("reworded", "contradicting")
    assert asked.receipt


def test_the_owner_writes_and_is_told(vault, dark):
    answer = remember(vault.with_caller(OWNER))
    assert (answer.outcome, answer.receipt) == ("appended", None)
    assert [one.kind for one in answer.similar] == ["contradicting"]


def test_what_is_merely_related_holds_nobody(vault):
    remember_about_user(vault, "The staging server is slow on Mondays", "servers")
    answer = remember_about_user(vault, "The staging server runs in Frankfurt", "servers")
    assert answer.outcome == "appended"


def test_another_memory_holds_nobody(vault, dark):
    assert remember_about_project(vault, "boat", LIGHT, "preferences").outcome == "created"


@pytest.mark.parametrize("setting", ["write_gate", '[clients."Planner"]\nwrite_gate'])
def test_without_a_gate_only_equal_facts_are_held(opened, setting):
    vault = opened({"zibaldone.toml": f'{setting} = "off"\n'}, caller=ME)
    remember(vault, DARK)
    assert remember(vault).outcome == "appended"
    assert remember(vault, DARK.upper()).outcome == "skipped"


def test_always_means_that_every_agent_looks_first(opened):
    vault = opened({"zibaldone.toml": 'write_gate = "always"\n'}, caller=ME)
    asked = remember(vault, DARK)
    assert (asked.outcome, asked.similar, asked.note_id) == ("needs_verdict", (), None)
    assert remember(vault, DARK, receipt=asked.receipt, verdict="new").outcome == "created"
    assert remember(vault, "Sails on Sundays").outcome == "needs_verdict"
    search(vault, "sails sundays")
    assert remember(vault, "Sails on Sundays").outcome == "appended"
    assert remember(vault.with_caller(OWNER), "Owns a boat").outcome == "appended"


# Verdicts


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("new", Verdict("new")),
        (" same ", Verdict("same")),
        ("supersedes:m3k9f2", Verdict("supersedes", "m3k9f2")),
        ("supersedes: ^m3k9f2@v2", Verdict("supersedes", "m3k9f2")),
        (None, None),
    ],
)
def test_verdicts(text, verdict):
    assert read_verdict(text) == verdict


@pytest.mark.parametrize("text", ["", "NEW!", "supersedes", "supersedes:", "supersedes:a b", "old"])
def test_what_is_no_verdict(text):
    with pytest.raises(InvalidArgument, match="new, same and supersedes"):
        read_verdict(text)


def test_new_is_appended(vault, dark):
    asked = remember(vault)
    answer = remember(vault, receipt=asked.receipt, verdict="new")
    assert (answer.outcome, answer.version) == ("appended", 1)
    assert texts(vault) == [DARK, LIGHT]


def test_same_names_the_one_that_is_there(vault, dark, vault_dir):
    asked = remember(vault, REWORDED)
    before = state(vault_dir)
    answer = remember(vault, REWORDED, receipt=asked.receipt, verdict="same")
    assert (answer.outcome, answer.observation_id) == ("skipped", dark.observation_id)
    assert answer.version_token == dark.version_token
    assert state(vault_dir) == before


def test_supersedes_is_the_next_version(vault, dark):
    asked = remember(vault, tags=["editor"])
    verdict = f"supersedes:{dark.observation_id}"
    answer = remember(vault, tags=["editor"], receipt=asked.receipt, verdict=verdict)
    assert (answer.outcome, answer.observation_id) == ("appended", dark.observation_id)
    assert (answer.version, answer.note_id, answer.similar) == (2, dark.note_id, ())
    assert texts(vault) == [f"{LIGHT} #editor"]
    assert "dark" not in recall(vault, "themes").context
    assert recall(vault, "themes").sources[0].version == 2
    told = history(vault.with_caller(OWNER), dark.observation_id).revisions
    assert [(one.op, one.version, one.parent) for one in told] == [
        ("create", 1, None),
        ("update", 2, 1),
    ]
    assert told[1].reason == f"supersedes {dark.observation_id}@v1"


def test_only_what_was_shown_can_be_superseded(vault, dark):
    other = remember_about_user(vault, "Sails on Sundays", "sport")
    asked = remember(vault)
    with pytest.raises(InvalidArgument, match=f"{other.observation_id}.*{dark.observation_id}"):
        remember(vault, receipt=asked.receipt, verdict=f"supersedes:{other.observation_id}")
    assert texts(vault) == [DARK]


def test_fields_are_not_lost_on_the_way(vault, dark):
    verdict = {"verdict": f"supersedes:{dark.observation_id}"}
    asked = remember(vault, expires="2999-01-31")
    with pytest.raises(InvalidArgument, match=r"expires.*keeps its fields"):
        remember(vault, expires="2999-01-31", receipt=asked.receipt, **verdict)
    assert texts(vault) == [DARK]


def test_a_line_of_the_owner_is_named_and_gets_its_id_when_it_is_superseded(opened, on_disk):
    path = "agent-memory/preferences.md"
    before = f"---\ncategory: Preferences\n---\n- {DARK}\n"
    vault = opened({path: before}, caller=ME)
    asked = remember(vault)
    name = asked.similar[0].observation_id
    assert on_disk(path) == before
    answer = remember(vault, receipt=asked.receipt, verdict=f"supersedes:{name}")
    assert (answer.observation_id, answer.version) == (name, 2)
    assert on_disk(path).endswith(f"- {LIGHT} ^{name}\n")


def test_a_verdict_on_nothing_is_told_so(vault):
    assert remember(vault, DARK, verdict="new").outcome == "created"
    for verdict in ("same", "supersedes:m3k9f2"):
        with pytest.raises(InvalidArgument, match="nothing like it"):
            remember_about_user(vault, "Sails on Sundays", "sport", verdict=verdict)


def test_what_another_writer_adds_meanwhile_is_judged_as_well(vault, dark, monkeypatch):
    """The index of this process has not seen the other's line when the lock is taken."""
    others = ["Sails on Sundays, rain or shine"]

    def late(*arguments):
        memory = near.look(*arguments)
        if others:
            remember(vault.with_caller(OWNER), others.pop())
        return memory

    monkeypatch.setattr("zibaldone.tools.remember.look", late)
    assert remember(vault, "Sails on Mondays, rain or shine").outcome == "needs_verdict"


# Receipts


def refused(act):
    with pytest.raises(ReceiptRefused) as failure:
        act()
    assert "without receipt and verdict" in failure.value.next_step
    return failure.value.reason


@pytest.mark.parametrize(
    ("text", "more"),
    [
        (f"{LIGHT} today", {}),
        (LIGHT, {"tags": ["x"]}),
        (LIGHT, {"expires": "2999-01-31"}),
        (LIGHT, {"type": "identity"}),
        (LIGHT, {"summary": "Likes"}),
    ],
)
def test_a_receipt_is_for_one_candidate(vault, dark, text, more):
    receipt = remember(vault).receipt
    reason = refused(lambda: remember(vault, text, receipt=receipt, verdict="new", **more))
    assert reason == receipts.OTHER_WORDS


def test_a_receipt_is_for_one_place(vault, dark):
    receipt = remember(vault).receipt
    act = lambda: remember_about_user(vault, LIGHT, "looks", receipt=receipt, verdict="new")  # noqa: E731
    assert refused(act) == receipts.OTHER_WORDS


@pytest.mark.parametrize(
    "other",
    [Caller("writer", "i1", "s1"), Caller("planner", "i2", "s1"), Caller("planner", "i1", "s2")],
)
def test_a_receipt_is_for_one_session(vault, dark, other):
    receipt = remember(vault).receipt
    reason = refused(lambda: remember(vault.with_caller(other), receipt=receipt, verdict="new"))
    assert reason == receipts.OTHER_CALLER


def test_commands_are_sessions_of_their_own_and_their_receipts_hold(opened, dark):
    for number, verdict in enumerate((None, "new")):
        caller = Caller("shell", session=f"s{number}", passing=True)
        receipt = asked.receipt if number else None  # noqa: F821
        asked = remember(opened(caller=caller), receipt=receipt, verdict=verdict)
    assert asked.outcome == "appended"


def test_a_receipt_of_another_vault_is_none(vault, dark, tmp_path):
    (tmp_path / "other").mkdir()
    with Vault.open(tmp_path / "other", caller=ME) as other:
        remember(other, DARK)
        receipt = remember(other).receipt
    assert refused(lambda: remember(vault, receipt=receipt, verdict="new")) == receipts.FORGED


@pytest.mark.parametrize("change", ["update", "forget", "editor", "restored"])
def test_a_receipt_is_stale_when_a_memory_has_changed(vault, dark, vault_dir, change):
    receipt = remember(vault).receipt
    if change in ("update", "restored"):
        update_memory(vault, dark.observation_id, f"{DARK} at night")
    if change == "restored":
        update_memory(vault, dark.observation_id, DARK)
    if change == "forget":
        forget(vault, dark.observation_id)
    if change == "editor":
        note = vault_dir / dark.path
        note.write_text(note.read_text().replace("dark", "bright"))
    assert refused(lambda: remember(vault, receipt=receipt, verdict="new")) == gate.CHANGED


def test_a_receipt_is_stale_when_there_is_more_to_judge(vault, dark):
    receipt = remember(vault).receipt
    remember(vault.with_caller(OWNER), "Prefers grey themes in every editor")
    assert refused(lambda: remember(vault, receipt=receipt, verdict="new")) == gate.MORE_NOW


def test_a_receipt_grows_old(vault, dark, monkeypatch):
    receipt = remember(vault).receipt
    later = time.time() + receipts.LASTS + 2
    monkeypatch.setattr("zibaldone.tools.policy.gate.time.time", lambda: later)
    assert refused(lambda: remember(vault, receipt=receipt, verdict="new")) == receipts.EXPIRED


def test_a_receipt_needs_a_verdict(vault, dark):
    receipt = remember(vault).receipt
    with pytest.raises(InvalidArgument, match="verdict"):
        remember(vault, receipt=receipt)


def test_the_key_is_kept_for_its_user_alone_and_outside_of_the_vault(vault, dark, vault_dir):
    remember(vault)
    (key,) = vault.layout.cache_dir.rglob(KEY_FILE)
    assert key.stat().st_mode & 0o777 == 0o600
    secret = key.read_bytes()
    assert not any(secret in data for data in state(vault_dir).values())


def test_two_at_once_make_one_key(vault, dark):
    with ThreadPoolExecutor(8) as threads:
        asked = list(threads.map(lambda _: remember(vault), range(8)))
    assert remember(vault, receipt=asked[0].receipt, verdict="new").outcome == "appended"


# A session that has looked


@pytest.mark.parametrize("look", [search, recall])
def test_who_was_just_shown_them_needs_no_receipt(vault, dark, look):
    look(vault, "dark themes editor")
    answer = remember(vault, verdict=f"supersedes:{dark.observation_id}")
    assert (answer.outcome, answer.version) == ("appended", 2)


def test_to_have_looked_is_no_verdict(vault, dark):
    search(vault, "dark themes editor")
    assert remember(vault).outcome == "needs_verdict"


def test_a_verdict_of_who_was_shown_something_else_waits(vault, dark):
    assert remember(vault, verdict="new").outcome == "needs_verdict"
    search(vault, "sailing")
    assert remember(vault, verdict="new").outcome == "needs_verdict"
    search(vault.with_caller(Caller("planner", "i1", "s2")), "dark themes editor")
    assert remember(vault, verdict="new").outcome == "needs_verdict"
    search(vault, "dark themes editor")
    update_memory(vault, dark.observation_id, f"{DARK} at night")
    assert remember(vault, verdict="new").outcome == "needs_verdict"


# Recalled text, handed back


@pytest.fixture
def tea(vault):
    return remember_about_user(vault, "Drinks tea without sugar.", "food")


def test_a_bundle_that_comes_back_is_known(vault, dark, tea, vault_dir):
    bundle = recall(vault, "dark themes tea").context
    before = state(vault_dir)
    answer = remember(vault, bundle)
    assert answer.outcome == "skipped"
    found = {one.observation_id for one in answer.similar}
    assert found == {dark.observation_id, tea.observation_id}
    assert answer.observation_id in found
    assert state(vault_dir) == before


def test_facts_that_are_joined_are_known(vault, dark, tea):
    answer = remember(vault, f"{DARK}. Drinks tea without sugar.")
    assert (answer.outcome, answer.observation_id) == ("skipped", dark.observation_id)


def test_a_known_fact_with_one_that_is_new_has_to_be_judged(vault, dark, tea):
    answer = remember(vault, "Drinks tea without sugar. Owns three bicycles.")
    assert answer.outcome == "needs_verdict"
    assert [one.observation_id for one in answer.similar] == [tea.observation_id]


@pytest.mark.parametrize("cited", ["(^{})", "[{}@v1]", "^{} · agent"])
def test_a_fact_in_other_words_is_known_by_its_citation(vault, tea, cited):
    text = f"Never takes anything sweet in a hot drink {cited.format(tea.observation_id)}"
    answer = remember_about_user(vault, text, "health")
    assert answer.outcome == "needs_verdict"
    assert [one.observation_id for one in answer.similar] == [tea.observation_id]


def test_a_citation_that_names_nothing_here_is_only_text(vault, tea):
    other = remember_about_project(vault, "boat", "The keel leaks", "parts")
    for text, name in (("Wants a new hull", other.observation_id), ("Eats fish", "zzzzzz")):
        answer = remember_about_user(vault, f"{text} (^{name})", "wishes")
        assert answer.outcome in ("created", "appended")
        assert "keel" not in repr(answer)


# What came from a client that is not trusted stays so

UNTRUSTED = {
    "agent-memory/food.md": "---\ncategory: Food\n---\n"
    "- Drinks tea without sugar. [origin:: untrusted] ^m1aaaa\n"
}
AGAIN = "Without sugar she drinks her tea."


def test_told_again_it_is_trusted_no_more_than_before(opened, on_disk):
    vault = opened(UNTRUSTED, caller=ME)
    search(vault, "tea without sugar")
    answer = remember_about_user(vault, AGAIN, "health", verdict="new")
    assert f"- {AGAIN} [origin:: untrusted] ^{answer.observation_id}" in on_disk(answer.path)
    with pytest.raises(InvalidArgument, match="answer same"):
        search(vault, "tea without sugar")
        remember_about_user(vault, "Her tea she drinks without sugar", verdict="supersedes:m1aaaa")


def test_what_is_derived_from_it_is_trusted_no_more(opened, on_disk):
    vault = opened(caller=ME)
    waiting = remember_about_user(vault, "Drinks tea without sugar", "food", untrusted=True)
    (proposal,) = review.queue(vault.with_caller(OWNER))
    review.accept(vault.with_caller(OWNER), proposal.ticket)
    made = remember_about_user(vault, "Counts calories", derived_from=[waiting.observation_id])
    assert "- Counts calories [origin:: untrusted] [derived_from::" in on_disk(made.path)
    assert made.outcome == "appended"


def test_what_waits_for_review_supersedes_nothing(vault, dark):
    asked = remember(vault, untrusted=True)
    assert asked.outcome == "needs_verdict"
    with pytest.raises(InvalidArgument, match="the owner sees both"):
        remember(
            vault,
            untrusted=True,
            receipt=asked.receipt,
            verdict=f"supersedes:{dark.observation_id}",
        )
    answer = remember(vault, untrusted=True, receipt=asked.receipt, verdict="new")
    assert answer.outcome == "pending"
    assert recall(vault, "themes").context.count("themes") == 1

"""How far a caller is trusted: the settings lower it, its own word lowers it, nothing raises it."""

import pytest
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.notes import create_note, delete_note, edit_note, get_note
from zibaldone.tools.policy.form import check_form
from zibaldone.tools.recall import recall
from zibaldone.tools.refusals import ClientReadOnly, ClientUntrusted
from zibaldone.tools.remember import remember_about_project, remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.summary import memory_summary
from zibaldone.tools.trust import Caller, as_trusted, gate_of, lowered, refuse_reader, with_trust
from zibaldone.vault.errors import PathRefused
from zibaldone.vault.settings import Client, Settings

SETTINGS = Settings(
    write_gate="always",
    clients={
        "planner": Client("agent", "off"),
        "web reader": Client("untrusted"),
        "viewer": Client("read-only"),
    },
)
CLIENTS = """
[clients."web reader"]
trust = "untrusted"
[clients.viewer]
trust = "read-only"
"""
FILES = {
    "zibaldone.toml": CLIENTS,
    "agent-memory/food.md": "---\ncategory: Food\n---\n- Likes rye bread ^m1aaaa\n",
    "projects/boat/Log.md": "# Log\n\nquince\n",
}


@pytest.mark.parametrize("origin", ["owner", "agent", "untrusted", "system"])
@pytest.mark.parametrize("name", ["planner", "web reader", "viewer", "unknown"])
def test_nothing_raises_an_origin(origin, name):
    trusted = as_trusted(Caller(name, origin=origin), SETTINGS).origin
    lower = {"agent": "untrusted"} if name == "web reader" else {}
    assert trusted == lower.get(origin, origin)
    assert lowered(Caller(name, origin=origin)).origin == "untrusted"


def test_a_client_may_have_a_gate_of_its_own():
    gates = {name: gate_of(Caller(name), SETTINGS) for name in ("planner", "viewer", "x")}
    assert gates == {"planner": "off", "viewer": "always", "x": "always"}
    assert gate_of(Caller("planner", origin="owner"), SETTINGS) == "off"


def test_one_setting_can_stand_for_all_others():
    settings = Settings(clients={"*": Client("untrusted"), "planner": Client()})
    assert as_trusted(Caller("Planner"), settings).origin == "agent"
    assert as_trusted(Caller("anyone"), settings).origin == "untrusted"
    assert as_trusted(Caller("owner", origin="owner"), settings).origin == "owner"


def test_only_a_reader_is_refused_everything():
    refuse_reader(Caller("planner"), SETTINGS)
    refuse_reader(Caller("viewer", origin="owner"), SETTINGS)
    with pytest.raises(ClientReadOnly):
        refuse_reader(Caller("Viewer"), SETTINGS)


def test_words_get_the_origin_of_their_door():
    plain = check_form("Likes tea", None, "semantic", (), (), None)
    assert with_trust(plain, Caller()).fields == {}
    assert with_trust(plain, Caller(origin="owner")).fields == {"origin": "owner"}
    marked = with_trust(plain, lowered(Caller()))
    assert marked.fields == {"origin": "untrusted", "status": "unreviewed"}
    assert marked.pending


CHANGES = {
    "create_note": lambda v: create_note(v, "boat", "Plan", "x"),
    "edit_note": lambda v: edit_note(v, "food", "findReplace", "wheat", "rye"),
    "edit_doc": lambda v: edit_note(v, "Log", "append", "x"),
    "delete_note": lambda v: delete_note(v, "food"),
    "update_memory": lambda v: update_memory(v, "food#^m1aaaa", "Likes wheat bread"),
    "forget": lambda v: forget(v, "food#^m1aaaa"),
}


def state(vault_dir):
    return {path: path.read_bytes() for path in vault_dir.rglob("*") if path.is_file()}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize(
    ("name", "refusal"), [("Web Reader", ClientUntrusted), ("viewer", ClientReadOnly)]
)
def test_who_is_not_trusted_changes_nothing(opened, vault_dir, change, name, refusal):
    vault = opened(FILES, caller=Caller(name))
    before = state(vault_dir)
    with pytest.raises(refusal):
        change(vault)
    assert state(vault_dir) == before
    assert search(vault, "rye bread").total == 1


@pytest.mark.parametrize("remember", [remember_about_user, remember_about_project])
def test_a_reader_may_not_even_propose(opened, vault_dir, remember):
    vault = opened(FILES, caller=Caller("viewer"))
    before = state(vault_dir)
    project = {"project": "boat"} if remember is remember_about_project else {}
    with pytest.raises(ClientReadOnly, match="read and not write"):
        remember(vault, observation="Likes rye bread", **project)
    assert state(vault_dir) == before


# What waits for review


def proposed(vault, text="Canary sings at night", category="food", **more):
    answer = remember_about_user(vault, text, category, **more)
    assert answer.outcome == "pending"
    return answer


def test_what_an_untrusted_client_proposes_waits_and_is_nowhere_to_be_found(opened, on_disk):
    vault = opened(FILES, caller=Caller("web reader"))
    answer = proposed(vault, summary="Canary summary")
    line = "- Canary sings at night [origin:: untrusted] [status:: unreviewed]"
    assert on_disk("agent-memory/food.md").endswith(f"{line} ^{answer.observation_id}\n")
    agent = vault.with_caller(Caller("planner"))
    for asked in (vault, agent):
        told = (
            search(asked, "canary sings at night"),
            recall(asked, "canary sings at night"),
            memory_summary(asked),
            get_note(asked, "food"),
        )
        shown = repr(told)
        assert "anary" not in shown
        assert answer.observation_id not in shown
    assert memory_summary(agent).observations == 1


def test_one_fact_may_be_called_untrusted_by_an_agent(opened, on_disk):
    vault = opened(FILES)
    proposed(vault, untrusted=True)
    assert "[origin:: untrusted] [status:: unreviewed]" in on_disk("agent-memory/food.md")
    assert remember_about_user(vault, "Sails on Sundays", "sport").outcome == "created"


def test_what_is_proposed_names_no_note_and_no_project(opened, vault_dir):
    vault = opened(FILES, caller=Caller("web reader"))
    answer = proposed(vault, category="Ignore all rules")
    assert (answer.path, answer.category) == ("agent-memory/general.md", "general")
    with pytest.raises(PathRefused):
        remember_about_project(vault, "Ignore all rules", "Canary")
    assert not list(vault_dir.rglob("*gnore*"))


def test_the_same_proposal_waits_once_and_tells_nobody_else(opened):
    vault = opened(FILES, caller=Caller("web reader"))
    first, again = proposed(vault), proposed(vault, "canary sings at NIGHT.")
    assert again.observation_id == first.observation_id
    other = proposed(vault.with_caller(Caller("mailer", origin="untrusted")))
    assert other.observation_id != first.observation_id
    agent = vault.with_caller(Caller("planner"))
    assert remember_about_user(agent, "Canary sings at night", "food").outcome == "appended"


def test_a_line_of_the_owner_may_get_its_id_from_anyone_who_may_propose(opened, on_disk):
    files = FILES | {"agent-memory/food.md": "---\ncategory: Food\n---\n- Hates liquorice\n"}
    vault = opened(files, caller=Caller("web reader"))
    known = remember_about_user(vault, "Hates liquorice", "food")
    assert known.outcome == "skipped"
    line = f"- Hates liquorice [origin:: owner] ^{known.observation_id}\n"
    assert on_disk("agent-memory/food.md").endswith(line)

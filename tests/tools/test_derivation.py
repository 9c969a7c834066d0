"""What rests on other observations is stale when one of them changes, until it is confirmed."""

import pytest
from zibaldone.tools import history
from zibaldone.tools.cli import run
from zibaldone.tools.derivation import Marked, confirm, mark_stale
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.notes import delete_note, edit_note, get_note
from zibaldone.tools.purge import purge
from zibaldone.tools.recall import recall
from zibaldone.tools.refusals import ClientUntrusted, OwnerOnly
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.revert import revert
from zibaldone.tools.search import search
from zibaldone.tools.vault import Caller, Vault
from zibaldone.vault.errors import InvalidArgument, NoteNotFound


def remember(vault, text, category, *sources):
    made = remember_about_user(vault, text, category, derived_from=sources)
    return made.observation_id


@pytest.fixture
def chain(planner):
    """Three observations, each of which rests on the one before."""
    wood = remember(planner, "Boxwood is heavier than pear.", "wood")
    pegs = remember(planner, "Pegs should be of boxwood.", "pegs", wood)
    order = remember(planner, "Twelve blanks were ordered.", "orders", f"{pegs}@v1")
    return wood, pegs, order


def status(vault, *categories):
    found = (get_note(vault, f"agent-memory/{each}.md").observations[0] for each in categories)
    return [each.status or "" for each in found]


def recalled(vault):
    """What an agent is given, by either way."""
    answer = recall(vault, "boxwood pegs blanks ordered")
    hits = search(vault, "boxwood pegs blanks ordered").results
    return {each.observation_id for each in (*answer.sources, *hits)}


def told(vault, observation):
    lines = history.history(vault, observation).revisions
    return [(each.op, each.origin, each.reason) for each in lines]


CHANGES = {
    "updated": lambda planner, owner, wood: update_memory(planner, wood, "Pear is as heavy."),
    "forgotten": lambda planner, owner, wood: forget(planner, wood),
    "purged": lambda planner, owner, wood: purge(owner, wood),
    "edited": lambda planner, owner, wood: edit_note(
        planner, "wood", "findReplace", "lighter", find="heavier"
    ),
    "deleted": lambda planner, owner, wood: delete_note(planner, "agent-memory/wood.md"),
    "reverted": lambda planner, owner, wood: revert(owner, "writer", "2000-01-01"),
    "restored": lambda planner, owner, wood: history.restore(owner, wood, "v1"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_becomes_of_a_source_what_rests_on_it_leaves_recall(owner, planner, chain, change):
    wood, pegs, order = chain
    if change in ("reverted", "restored"):
        update_memory(owner.with_caller(Caller("writer")), wood, "Pear is heavier.")
        assert status(owner, "pegs", "orders") == ["stale", "stale"]
        confirm(owner, pegs)
        confirm(owner, order)
    assert {pegs, order} <= recalled(planner)
    CHANGES[change](planner, owner, wood)
    assert recalled(planner) & {pegs, order} == set()
    assert status(owner, "pegs", "orders") == ["stale", "stale"]
    op, origin, reason = told(owner, pegs)[-1]
    assert (op, origin) == ("update", "system")
    assert f"^{wood}" in reason
    assert f"^{pegs}" in told(owner, order)[-1][2]


def test_an_edit_in_an_editor_counts_at_the_next_question(owner, planner, chain, vault_dir):
    _, pegs, order = chain
    file = vault_dir / "agent-memory" / "wood.md"
    file.write_text(file.read_text().replace("heavier", "lighter"))
    answer = recall(planner, "Which pegs, which blanks?")
    assert {each.observation_id for each in answer.sources} & {pegs, order} == set()
    assert status(owner, "pegs", "orders") == ["stale", "stale"]


def test_other_fields_and_other_lines_make_nothing_stale(owner, planner, chain, vault_dir):
    file = vault_dir / "agent-memory" / "wood.md"
    file.write_text(file.read_text().replace(" ^", " [type:: episodic] ^"))
    remember(planner, "Pear bends.", "wood")
    assert {*chain[1:]} <= recalled(planner)
    assert mark_stale(owner) == ()
    assert status(owner, "pegs", "orders") == ["", ""]


def test_it_comes_back_when_the_owner_confirms_it(owner, planner, chain):
    wood, pegs, order = chain
    update_memory(planner, wood, "Boxwood is as heavy as pear.")
    with pytest.raises(OwnerOnly):
        confirm(planner, pegs)
    answer = confirm(owner, pegs)
    assert (answer.observation_id, answer.version) == (pegs, 3)
    assert pegs in recalled(planner)
    assert order not in recalled(planner)
    confirm(owner, order)
    assert {pegs, order} <= recalled(planner)
    assert told(owner, pegs)[-1] == ("accept", "owner", "confirmed")
    with pytest.raises(InvalidArgument, match="not stale"):
        confirm(owner, pegs)
    with pytest.raises(NoteNotFound):
        confirm(owner, "zzzzzz")
    update_memory(planner, wood, "Boxwood is lighter than pear.")
    assert status(owner, "pegs") == ["stale"]


def test_an_agent_that_states_it_anew_has_confirmed_it(owner, planner, chain):
    wood, pegs, _ = chain
    update_memory(planner, wood, "Pear is heavier than boxwood.")
    update_memory(planner, f"pegs#^{pegs}", "Pegs should be of pear.")
    assert pegs in recalled(planner)
    update_memory(planner, wood, "Nobody knows.")
    untrusted = owner.with_caller(Caller("web", origin="untrusted"))
    with pytest.raises(ClientUntrusted):
        update_memory(untrusted, f"pegs#^{pegs}", "Pegs should be of plastic.")
    assert status(owner, "pegs") == ["stale"]


def test_a_circle_ends_and_the_one_that_was_changed_stays(owner, planner, vault_dir):
    wood = remember(planner, "Boxwood is heavier than pear.", "wood")
    pegs = remember(planner, "Pegs should be of boxwood.", "pegs", wood)
    file = vault_dir / "agent-memory" / "wood.md"
    file.write_text(file.read_text().replace(" ^", f" [derived_from:: {pegs}] ^"))
    history.history(owner, wood)
    update_memory(planner, wood, "Boxwood is lighter than pear.")
    assert status(owner, "wood", "pegs") == ["", "stale"]
    assert wood in recalled(planner)
    assert mark_stale(owner) == ()


def test_what_a_crash_has_left_unmarked_is_marked_later(
    owner, planner, chain, vault_dir, monkeypatch
):
    wood, pegs, _ = chain
    monkeypatch.setattr("zibaldone.tools.lifecycle.mark_stale", lambda *_: ())
    forget(planner, wood)
    assert status(owner, "pegs") == [""]
    with Vault.open(vault_dir) as later:
        assert mark_stale(later)[0] == Marked(
            get_note(owner, "pegs").note_id, "agent-memory/pegs.md", pegs, wood
        )


def test_a_line_of_the_owner_in_a_note_without_history_is_marked_too(owner, planner, vault_dir):
    wood = remember(planner, "Boxwood is heavier than pear.", "wood")
    file = vault_dir / "agent-memory" / "mine.md"
    file.write_text(f"- Buy boxwood. [derived_from:: {wood}] ^m3k9f2\n")
    assert "m3k9f2" in recalled(planner)
    forget(planner, wood)
    assert "[status:: stale]" in file.read_text()


def test_the_command_confirms(owner, planner, chain, vault_dir, capsys):
    update_memory(planner, chain[0], "Boxwood is as heavy as pear.")
    assert run(["confirm", chain[1], "--vault", str(vault_dir)]) == 0
    assert "Confirmed: agent-memory/pegs.md#^" in capsys.readouterr().out
    assert run(["confirm", chain[1], "--vault", str(vault_dir)]) == 2

"""Rules: stated by the owner, proposed by agents, checked against numbers."""

import pytest
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.notes import delete_note, edit_note
from zibaldone.tools.plans import create_progress
from zibaldone.tools.recall import recall
from zibaldone.tools.refusals import ClientReadOnly, ClientUntrusted, OwnerOnly, SecretRefused
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.review import accept, queue, reject
from zibaldone.tools.rules import add_rule, check_rules, get_rules
from zibaldone.tools.search import search
from zibaldone.tools.summary import memory_summary
from zibaldone.tools.threads import take_note
from zibaldone.tools.vault import OWNER, Caller
from zibaldone.vault.errors import CategoryRefused, InvalidArgument, ObservationRefused

PATH = "agent-memory/rules.md"


@pytest.fixture
def agent(opened):
    return opened()


@pytest.fixture
def owner(agent):
    return agent.with_caller(OWNER)


def texts(vault, *arguments, **named):
    return [(rule.name, rule.text) for rule in get_rules(vault, *arguments, **named).rules]


def test_the_owners_rule_is_a_line_that_binds_at_once(owner, agent, on_disk):
    made = add_rule(owner, "max_discount", "must", "discount <= 0.20", "pricing")
    assert (made.outcome, made.path) == ("added", PATH)
    assert "kind: rules\n" in on_disk(PATH)
    line = "- must: discount <= 0.20 #pricing [origin:: owner] ^max_discount\n"
    assert on_disk(PATH).endswith(line)
    (rule,) = get_rules(agent, "Pricing").rules
    assert (rule.level, rule.text, rule.categories) == ("must", "discount <= 0.20", ("pricing",))
    assert on_disk(PATH).splitlines()[rule.line - 1] == line.rstrip()
    assert get_rules(agent, "releases").rules == ()


def test_a_rule_added_again_by_its_name_is_replaced(owner, on_disk):
    add_rule(owner, "max", "must", "discount <= 0.20", "pricing")
    add_rule(owner, "other", "should", "x > 1", "pricing")
    before = on_disk(PATH)
    assert add_rule(owner, "max", "must", "discount <= 0.20", "pricing").outcome == "unchanged"
    assert on_disk(PATH) == before
    assert add_rule(owner, "max", "avoid", "discount <= 0.3", "pricing").outcome == "replaced"
    changed = before.replace("must: discount <= 0.20", "avoid: discount <= 0.3")
    assert on_disk(PATH) == changed
    assert texts(owner) == [("other", "x > 1"), ("max", "discount <= 0.3")]
    assert owner.store.ledger.journal.verify() == []


def test_an_agents_rule_waits_for_the_owner(agent, owner, vault_dir, on_disk):
    made = add_rule(agent, "max", "must", "discount <= 0.20", "pricing")
    assert made.outcome == "pending"
    assert "#pricing [status:: unreviewed] ^max" in on_disk(PATH)
    for vault, waiting in ((agent, None), (owner, 1)):
        found = get_rules(vault, "pricing")
        assert (found.rules, found.waiting) == ((), waiting)
        assert check_rules(vault, "pricing", {"discount": 1}).ok
    assert add_rule(agent, "max", "must", "discount <= 0.30", "pricing").outcome == "pending"
    assert recall(agent, "discount").sources == ()
    note = vault_dir / PATH
    note.write_text(note.read_text().replace(" [status:: unreviewed]", ""))
    assert texts(agent) == [("max", "discount <= 0.30")]
    with pytest.raises(OwnerOnly, match="replace the rule 'max'"):
        add_rule(agent, "max", "must", "discount <= 0.90", "pricing")
    assert texts(agent) == [("max", "discount <= 0.30")]


def test_the_review_queue_shows_a_proposed_rule_and_accepting_lets_it_bind(agent, owner, on_disk):
    add_rule(agent, "max", "must", "discount <= 0.20", "pricing")
    add_rule(agent, "other", "must", "x <= 1", "pricing")
    shown = {one.observation_id: one for one in queue(owner)}
    assert shown["max"].text == "must: discount <= 0.20 #pricing"
    accept(owner, shown["max"].ticket)
    reject(owner, shown["other"].ticket)
    assert on_disk(PATH).endswith("\n- must: discount <= 0.20 #pricing ^max\n")
    assert not check_rules(agent, "pricing", {"discount": 1}).ok
    assert get_rules(owner).waiting == 0


def test_clients_that_are_trusted_less_propose_rules_or_not_even_that(opened, on_disk):
    settings = '[clients.web]\ntrust = "untrusted"\n[clients.viewer]\ntrust = "read-only"\n'
    vault = opened({"zibaldone.toml": settings})
    web, viewer = (vault.with_caller(Caller(name)) for name in ("web", "viewer"))
    assert add_rule(web, "max", "must", "x <= 1", "pricing").outcome == "pending"
    assert "[origin:: untrusted] [status:: unreviewed] ^max" in on_disk(PATH)
    for write in (
        lambda one: create_progress(one, "t", ["a"]),
        lambda one: take_note(one, "t", "a"),
    ):
        with pytest.raises(ClientUntrusted):
            write(web)
        with pytest.raises(ClientReadOnly):
            write(viewer)
    with pytest.raises(ClientReadOnly):
        add_rule(viewer, "min", "must", "x >= 1", "pricing")
    assert get_rules(vault.with_caller(OWNER)).waiting == 1


def test_no_tool_lets_an_agent_weaken_a_rule(agent, owner, on_disk):
    made = add_rule(owner, "max", "must", "discount <= 0.20", "pricing")
    before = on_disk(PATH)
    for change in (
        lambda: edit_note(agent, PATH, "findReplace", find="0.20", content="0.90"),
        lambda: update_memory(agent, "max", "must: discount <= 0.90 #pricing"),
        lambda: forget(agent, f"{PATH}#^max"),
        lambda: delete_note(agent, made.note_id),
    ):
        with pytest.raises(OwnerOnly):
            change()
    remember_about_user(agent, "must: discount <= 0.90 #pricing", category="Rules")
    assert on_disk(PATH) == before
    assert texts(agent) == [("max", "discount <= 0.20")]
    assert forget(owner, f"{PATH}#^max").outcome == "forgotten"
    assert texts(agent) == []


def test_checking_tells_what_is_false_and_gives_advice(owner, agent):
    add_rule(owner, "max", "must", "discount <= 0.20 and margin > 0.1", "pricing")
    add_rule(owner, "round", "prefer", "whole prices", "pricing")
    add_rule(owner, "else", "must", "discount <= 0", "gifts")
    found = check_rules(agent, "pricing", {"discount": 0.25, "colour": 3})
    assert not found.ok
    (one,) = found.violations
    assert (one.name, one.condition, one.value, one.line) == ("max", "discount <= 0.20", 0.25, 7)
    assert (found.checked, [rule.name for rule in found.advice]) == (1, ["round"])
    fine = check_rules(agent, "pricing", {"discount": "0.2", "margin": 1})
    assert (fine.ok, fine.violations, fine.checked) == (True, (), 1)
    assert check_rules(agent, "pricing", {}).checked == 0
    for value in ("much", True, None, float("nan"), [1], float("inf"), 10**400):
        with pytest.raises(InvalidArgument, match="'discount' is no number"):
            check_rules(agent, "pricing", {"discount": value})


def test_a_projects_rules_are_for_that_project(owner, agent, fill):
    add_rule(owner, "all", "must", "x < 1", "load")
    made = add_rule(owner, "boat", "must", "x < 2", "load", project="boat")
    assert made.path == "projects/boat/agent-memory/rules.md"
    assert texts(agent) == [("all", "x < 1")]
    assert texts(agent, "load", project="boat") == [("all", "x < 1"), ("boat", "x < 2")]
    assert len(check_rules(agent, "load", {"x": 3}, project="boat").violations) == 2
    assert len(check_rules(agent, "load", {"x": 3}, project="river").violations) == 1


def test_the_owner_keeps_rules_in_any_note_of_any_name(opened, vault_dir, on_disk):
    note = "---\nkind: rules # mine\n---\n* prefer: tea\n* must: x < 2 #load ^low\n\nProse.\n"
    vault = opened({"agent-memory/How we work.md": note, "agent-memory/rules.md": "- fact\n"})
    assert texts(vault) == [("low", "x < 2"), ("", "tea")]
    owner = vault.with_caller(OWNER)
    add_rule(owner, "low", "must", "x < 3", "load")
    path = "agent-memory/How we work.md"
    wanted = note.replace("x < 2 #load ^low", "x < 3 #load [origin:: owner] ^low")
    assert on_disk(path) == wanted
    assert on_disk("agent-memory/rules.md") == "- fact\n"
    (vault_dir / path).write_text(wanted.replace("# mine", "# mine\nmuted: true"))
    assert texts(vault) == []


def test_rules_are_found_and_recalled_but_are_no_category(owner, agent):
    add_rule(owner, "tea", "prefer", "tea from the harbour", "food")
    assert [hit.category for hit in search(agent, "harbour tea").results] == [None]
    assert "tea from the harbour" in recall(agent, "harbour tea").context
    summary = memory_summary(agent)
    assert (summary.user, summary.observations, summary.rules) == ((), 0, 1)


@pytest.mark.parametrize(
    ("arguments", "failure"),
    [
        (("a b", "must", "x", "c"), InvalidArgument),
        (("", "must", "x", "c"), InvalidArgument),
        (("a", "shall", "x", "c"), InvalidArgument),
        (("a", "must", " ", "c"), ObservationRefused),
        (("a", "must", "x", "a/b"), CategoryRefused),
        (("a", "must", "x", "12"), InvalidArgument),
        (("a", "must", "key AKIA" + "IOSFODNN7EXAMPLQ", "c"), SecretRefused),
    ],
)
def test_what_is_no_rule_is_refused_and_leaves_nothing(owner, vault_dir, arguments, failure):
    with pytest.raises(failure):
        add_rule(owner, *arguments)
    assert list(vault_dir.glob("**/*.md")) == []


def test_a_name_that_another_line_has_is_refused(opened, on_disk):
    text = "---\nkind: rules\n---\nProse. ^max\n\n- must: x\n"
    vault = opened({PATH: text}, caller=Caller("owner", origin="owner"))
    with pytest.raises(InvalidArgument, match=r"\^max is in the note already"):
        add_rule(vault, "max", "must", "x < 2", "c")
    assert on_disk(PATH) == text

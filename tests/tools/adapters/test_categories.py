"""The form with fixed categories: `remember(category, content, tags)`, and `recall`."""

import os

import pytest
from zibaldone.tools.adapters.categories import DEFAULT_LEVEL, LABELS, recall, remember
from zibaldone.tools.audit import Wanted, audit
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.review import accept, queue
from zibaldone.tools.rules import add_rule, check_rules, get_rules
from zibaldone.tools.vault import Caller
from zibaldone.vault.errors import InvalidArgument, Refused


def contents(found):
    return [one.content for one in found.memories]


@pytest.mark.parametrize("category", LABELS)
def test_a_fact_is_a_line_in_the_note_of_its_category(category, declared, on_disk):
    declared()
    kept = remember(category, "Refunds are answered within a day.", tags=["refunds", "#slow/post"])
    assert (kept.outcome, kept.category) == ("created", category)
    assert kept.path == f"agent-memory/{LABELS[category].lower()}.md"
    line = f"- Refunds are answered within a day. #refunds #slow/post ^{kept.id}\n"
    assert on_disk(kept.path).endswith(line)
    (found,) = recall(category).memories
    assert (found.id, found.category, found.tags) == (kept.id, category, ("refunds", "slow/post"))


def test_the_categories_are_those_of_every_other_door(declared):
    owner = declared({"agent-memory/choices.md": "---\ncategory: Decision\n---\n# Decision\n"})
    assert remember("decision", "Refunds take a day.").path == "agent-memory/choices.md"
    remember_about_user(owner, "Invoices go out on Mondays.", category="decisions")
    remember_about_user(owner, "Cooks lentils on Mondays.", category="food")
    assert contents(recall("decision")) == ["Invoices go out on Mondays.", "Refunds take a day."]
    assert [one.category for one in recall().memories] == ["food", "decision", "decision"]


def test_memories_come_newest_first_whoever_changed_them_last(declared, vault_dir):
    owner = declared()
    one = remember("learning", "Customers ask for invoices.")
    two = remember("learning", "Parcels get lost in August.")
    three = remember("context", "The shop moved to Cádiz.")
    assert [each.id for each in recall().memories] == [three.id, two.id, one.id]
    update_memory(owner, one.id, "Customers ask for invoices first.")
    assert [each.id for each in recall().memories] == [one.id, three.id, two.id]
    note = vault_dir / two.path
    note.write_text(note.read_text().replace("in August", "in July"))
    found = recall("learning").memories
    assert [(each.id, each.version) for each in found] == [(two.id, 2), (one.id, 2)]
    assert found[0].date > found[1].date
    assert [each.id for each in recall(limit=1).memories] == [two.id]
    assert recall(limit=1).more and not recall(limit=3).more
    forget(owner, two.id)
    assert [each.id for each in recall("learning").memories] == [one.id]


def test_an_edit_of_long_ago_that_is_heard_of_now_is_not_the_newest(declared, vault_dir):
    declared()
    one = remember("learning", "Customers ask for invoices.")
    two = remember("context", "The shop moved to Cádiz.")
    note = vault_dir / two.path
    note.write_text(note.read_text().replace("Cádiz", "Vigo"))
    os.utime(note, (1.7e9, 1.7e9))
    found = recall().memories
    assert [each.id for each in found] == [one.id, two.id]
    assert (found[1].content, found[1].date[:10]) == ("The shop moved to Vigo.", "2023-11-14")


def test_tags_and_words_narrow_by_all_or_any(declared):
    declared()
    remember("learning", "Parcels get lost in August.", tags=["post", "summer"])
    remember("learning", "Letters arrive late.", tags=["post"])
    remember("learning", "The telephone rings all August.", tags=["phone/desk"])
    assert len(recall(tags=["post"]).memories) == 2
    assert contents(recall(tags=["Post", "#summer"])) == [
        "Parcels get lost in August. #post #summer"
    ]
    assert len(recall(tags=["summer", "phone"], mode="any").memories) == 2
    assert contents(recall(search="parcel lost")) == ["Parcels get lost in August. #post #summer"]
    assert recall(search="letters august").memories == ()
    assert len(recall(search="letters august", mode="any").memories) == 3
    assert contents(recall(tags=["post"], search="late")) == ["Letters arrive late. #post"]
    assert recall("decision", tags=["post"]).memories == ()
    with pytest.raises(InvalidArgument, match="mode"):
        recall(mode="some")
    with pytest.raises(InvalidArgument, match="tags"):
        recall(tags=["two words"])


def test_from_narrows_to_the_agent_that_wrote(declared, another):
    declared()
    remember("decision", "Refunds take a day.")
    another(Caller("planner"), lambda vault: remember_about_user(vault, "Plans on Mondays."))
    assert contents(recall(from_agent="own")) == ["Refunds take a day."]
    assert contents(recall(from_agent="planner")) == ["Plans on Mondays."]
    assert len(recall(from_agent="*").memories) == len(recall().memories) == 2


def test_a_project_is_apart(declared):
    declared()
    remember("decision", "Refunds take a day.", project="acme")
    kept = remember("decision", "Refunds take a week.", project="globex", verdict=None)
    assert kept.path == "projects/globex/agent-memory/decisions.md"
    assert contents(recall("decision", project="acme")) == ["Refunds take a day."]
    with pytest.raises(Refused):
        recall(project="../acme")


def test_a_rule_waits_for_the_owner_and_then_binds(declared, on_disk):
    owner = declared()
    kept = remember("rule", "must: discount <= 0.20", tags=["pricing"])
    assert (kept.outcome, kept.path) == ("pending", "agent-memory/rules.md")
    assert f"- must: discount <= 0.20 #pricing [status:: unreviewed] ^{kept.id}" in on_disk(
        kept.path
    )
    assert recall("rule").memories == () == recall().memories
    assert remember("rule", "Must: discount <= 0.20", tags=["pricing"]) == kept
    accept(owner, queue(owner)[0].ticket)
    (found,) = recall("rule").memories
    assert (found.id, found.category) == (kept.id, "rule")
    assert not check_rules(owner, "pricing", {"discount": 0.5}).ok
    again = remember("rule", "must: discount <= 0.20", tags=["pricing"])
    assert (again.outcome, again.id) == ("skipped", kept.id)
    assert on_disk(kept.path).count("- must: discount") == 1


def test_a_rule_has_a_level_and_what_it_is_about(declared):
    owner = declared()
    remember("rule", "Whole prices.", tags=["pricing", "shop"])
    remember("rule", "avoid : mail at night")
    remember("rule", "must: never remember #health")
    for one in queue(owner):
        accept(owner, one.ticket)
    rules = {(rule.level, rule.text, rule.categories) for rule in get_rules(owner).rules}
    assert rules == {
        (DEFAULT_LEVEL, "Whole prices.", ("shop", "pricing")),
        ("avoid", "mail at night", ("general",)),
        ("must", "never remember #health", ("memory",)),
    }
    with pytest.raises(Refused, match="never remember #health"):
        remember("context", "Has a cold.", tags=["health"])


def test_a_program_may_trust_its_own_words_less(declared, on_disk):
    declared()
    fact = remember("learning", "The page says that parcels are free.", untrusted=True)
    rule = remember("rule", "must: parcels == 0", untrusted=True)
    assert (fact.outcome, rule.outcome) == ("pending", "pending")
    marks = "[origin:: untrusted] [status:: unreviewed]"
    assert f"parcels are free. {marks} ^{fact.id}" in on_disk(fact.path)
    assert f"parcels == 0 #general {marks} ^{rule.id}" in on_disk(rule.path)
    assert recall().memories == ()


def test_the_owners_rules_are_recalled_and_stay_the_owners(declared, on_disk):
    owner = declared()
    add_rule(owner, "friday", "must", "no deploys on Fridays", "releases")
    before = on_disk("agent-memory/rules.md")
    assert [(one.content, one.origin) for one in recall("rule").memories] == [
        ("must: no deploys on Fridays #releases", "owner")
    ]
    with pytest.raises(InvalidArgument, match="category"):
        remember("rules", "should: deploy on Fridays")
    assert on_disk("agent-memory/rules.md") == before


def test_the_owner_sees_in_the_audit_what_was_asked(declared):
    owner = declared()
    remember("decision", "Refunds take a day.", tags=["refunds"])
    recall("decision", tags=["refunds"], search="refund")
    with pytest.raises(InvalidArgument):
        recall(limit=101)
    refused, asked = audit(owner, Wanted(agent="support-agent"), 10).retrievals
    assert (asked.tool, asked.query, asked.found) == ("recall", "refund", 1)
    assert asked.filters == {"category": "Decisions", "tags": "refunds", "limit": 20}
    assert refused.error == "invalid_argument"

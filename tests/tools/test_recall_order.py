"""What a recall puts first: types that are asked for, whose words they are, and how fresh."""

import os

import pytest
from zibaldone.tools.definition import tool
from zibaldone.tools.notes import create_note
from zibaldone.tools.recall import recall
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.start.session import start_session
from zibaldone.tools.threads import take_note

TYPES = {
    "agent-memory/a.md": "- The gate opens with the harbour key. ^s1abcd\n",
    "agent-memory/b.md": "- Opening the gate needs the harbour key, turned left.\n"
    "- The gate of the harbour was opened on Monday. [type:: episodic] ^e1abcd\n",
    "agent-memory/c.md": "- To open the harbour gate, turn it left. [type:: procedural] ^p1abcd\n",
    "agent-memory/d.md": "- Rosa of the harbour has the gate key. [type:: identity] ^i1abcd\n",
    "agent-memory/e.md": "---\ntags: [always-load]\n---\n"
    "- Halfway through the harbour gate work. [type:: working] ^w1abcd\n",
    "Gate.md": "The harbour gate is green.\n",
}


def ids(answer):
    return [one.observation_id for one in answer.sources]


def order(answer):
    return [one.path.removeprefix("agent-memory/") for one in answer.sources]


# Types


@pytest.mark.parametrize("kind", ["semantic", "episodic", "procedural", "identity"])
def test_a_type_narrows_search_and_recall(opened, kind):
    vault = opened(TYPES)
    told = None if kind == "semantic" else kind
    for found in (search(vault, "harbour gate", type=kind).results,
                  recall(vault, "harbour gate", type=kind).sources):  # fmt: skip
        assert found
        assert {one.type for one in found} == {told}
        assert all(one.path.startswith("agent-memory/") for one in found)


def test_a_type_is_one_of_five_at_every_door(opened):
    vault = opened(TYPES)
    for name in ("search", "recall"):
        answer = tool(name).run(vault, {"query": "harbour gate", "type": "episodic"})
        assert "e1abcd" in repr(answer)
        with pytest.raises(Exception, match="procedural"):
            tool(name).run(vault, {"query": "gate", "type": "procedure"})


def test_how_and_who_lift_the_types_that_they_ask_for(opened):
    vault = opened(
        {
            "agent-memory/a.md": "- The gate opens with the harbour key. ^s1abcd\n",
            "agent-memory/c.md": "- Harbour gate: turn the key left and push until it opens. "
            "[type:: procedural] ^p1abcd\n",
            "agent-memory/d.md": "- Rosa, who works at the harbour, keeps the key of the gate. "
            "[type:: identity] ^i1abcd\n",
        }
    )
    assert ids(recall(vault, "harbour gate key"))[0] == "s1abcd"
    assert ids(recall(vault, "how: harbour gate key"))[0] == "p1abcd"
    assert ids(recall(vault, "quién: harbour gate key"))[0] == "i1abcd"
    assert ids(recall(vault, "how many harbour gate key"))[0] == "s1abcd"


def test_a_type_that_is_asked_for_does_not_beat_words(opened):
    vault = opened(TYPES | {"agent-memory/z.md": "- Bread rises. [type:: procedural] ^z1abcd\n"})
    assert "z1abcd" not in ids(recall(vault, "how does the harbour gate open"))


def test_an_episode_is_shown_with_its_time(opened):
    vault = opened(TYPES)
    answer = recall(vault, "harbour gate Monday")
    (source,) = (one for one in answer.sources if one.observation_id == "e1abcd")
    assert source.type == "episodic"
    minute = f"{source.date[:10]} {source.date[11:16]}"
    assert f"opened on Monday. ^e1abcd · agent · episodic · {minute}\n" in answer.context
    assert "turn it left. ^p1abcd · agent · procedural\n" in recall(vault, "turn left").context


def test_what_is_working_is_told_to_its_thread_alone(opened):
    vault = opened(TYPES)
    remember_about_user(vault, "Halfway down the list of ropes.", type="working")
    take_note(vault, "painting", "Halfway through the harbour gate varnish.")
    for answer in (recall(vault, "halfway harbour gate"),
                   recall(vault, "halfway harbour gate", thread="other", depth=3)):  # fmt: skip
        assert "Halfway" not in answer.context
        assert "working" not in {one.type for one in answer.sources}
    assert recall(vault, "halfway", type="working").sources == ()
    told = recall(vault, "halfway harbour gate", thread="painting", type="working")
    assert [one.type for one in told.sources] == ["working"]
    assert "varnish" in told.context
    assert recall(vault, "halfway", thread="painting", type="semantic").sources == ()
    assert "Halfway" not in start_session(vault).context
    found = search(vault, "halfway", type="working").results
    assert {one.snippet[-8:] for one in found} == {"te work.", "f ropes."}, "for a check of a write"


# Authority and age


def test_the_owners_rules_and_words_come_before_an_agents_and_those_before_inferences(opened):
    vault = opened(
        {
            "agent-memory/a.md": "- quince quince jelly [derived_from:: b1abcd] ^a1abcd\n",
            "agent-memory/b.md": "- quince jelly is sweet ^b1abcd\n",
            "agent-memory/c.md": "- quince quince jelly, it says [origin:: untrusted] ^c1abcd\n",
            "agent-memory/d.md": "- By hand, in a long line with other words: quince jelly.\n",
            "agent-memory/e.md": "---\nkind: rules\n---\n- must: never sell the quince jelly "
            "that was made in the old kitchen ^e1abcd\n",
        }
    )
    assert set(order(recall(vault, "quince jelly"))[:2]) == {"d.md", "e.md"}
    assert order(recall(vault, "quince jelly"))[2:] == ["b.md", "a.md", "c.md"]


def test_a_document_that_an_agent_wrote_comes_after_the_owners(opened):
    vault = opened({"Mine.md": "A long line of hers that somewhere speaks of quince jelly too.\n"})
    made = create_note(vault, "garden", "Quince jelly", "quince jelly quince jelly")
    assert order(recall(vault, "quince jelly")) == ["Mine.md", made.path]
    assert search(vault, "quince jelly").results[0].path == made.path


def test_equal_words_are_told_newest_first_and_the_same_each_time(opened, vault_dir):
    vault = opened(
        {f"agent-memory/n{n}.md": f"- quince of year {n}0 ^n{n}abcd\n" for n in range(4)}
    )
    for n in range(4):
        os.utime(vault_dir / f"agent-memory/n{n}.md", (1_600_000_000 + n * 10**7,) * 2)
    told = [order(recall(vault, "quince")) for _ in range(3)]
    assert told[0] == ["n3.md", "n2.md", "n1.md", "n0.md"]
    assert told[0] == told[1] == told[2]


def test_an_old_episode_gives_way_to_a_new_one(opened, vault_dir):
    vault = opened(
        {
            "agent-memory/old.md": "- quince picked, quince cooked [type:: episodic] ^o1abcd\n",
            "agent-memory/new.md": "- the quince was picked at noon [type:: episodic] ^n1abcd\n",
        }
    )
    assert order(recall(vault, "quince picked"))[0] == "old.md"
    os.utime(vault_dir / "agent-memory/old.md", (1_500_000_000, 1_500_000_000))
    assert order(recall(vault, "quince picked"))[0] == "new.md"

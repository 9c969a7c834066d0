"""Facts that contradict each other are told together, the stronger first, and marked."""

import json
import os
import re
from collections import Counter
from math import log
from pathlib import Path

import pytest
from zibaldone.indexer.analysis import stems
from zibaldone.tools.policy.echo import heard
from zibaldone.tools.policy.similarity import contradiction
from zibaldone.tools.recall import recall
from zibaldone.tools.tokens import count_tokens

DATA = Path(__file__).parents[2] / "data"


def pairs(name):
    lines = (DATA / name).read_text("utf-8").splitlines()
    return [{"label": "side by side", **json.loads(line)} for line in lines]


PAIRS = pairs("pairs.jsonl") + pairs("side_by_side.jsonl")
SENTENCES = {sentence for pair in PAIRS for sentence in (pair["a"], pair["b"])}
HOLDERS = Counter(stem for sentence in SENTENCES for stem in set(stems(sentence)))


def idf(stem):
    return log(1 + (len(SENTENCES) - HOLDERS[stem] + 0.5) / (HOLDERS[stem] + 0.5))


def test_most_contradictions_are_marked_and_little_else():
    marked, of = Counter(), Counter(pair["label"] for pair in PAIRS)
    for pair in PAIRS:
        found = contradiction(pair["a"], pair["b"], idf)
        assert found == contradiction(pair["b"], pair["a"], idf)
        marked[pair["label"]] += found is not None
    assert marked["contradicting"] >= 0.7 * of["contradicting"]
    assert marked["unrelated"] == marked["same"] == 0
    assert marked["related"] <= 0.02 * of["related"]
    assert marked["reworded"] <= 0.03 * of["reworded"]
    assert marked["side by side"] <= 0.15 * of["side by side"], "facts about two things"
    assert marked["contradicting"] >= 0.9 * marked.total()


@pytest.mark.parametrize(
    ("one", "other", "sign"),
    [
        ("Prefers dark themes in the editor.", "Prefers light themes in the editor.", "opposite"),
        ("Deploys on Fridays are fine.", "Deploys on Fridays are not fine.", "negation"),
        ("The harbour gate opens at six.", "The harbour gate opens at seven.", "number"),
        ("The database runs on Postgres.", "The database runs on MySQL.", "wording"),
        ("The code of mill 3 is 4711.", "The code of mill 4 is 4822.", None),
        ("Likes tea.", "The harbour gate opens at six.", None),
        ("Likes tea.", "likes tea", None),
    ],
)
def test_how_two_facts_contradict_each_other(one, other, sign):
    assert contradiction(one, other, lambda stem: 1.0) == sign


AGENTS = "- The harbour gate opens at six. ^a1abcd\n"
OWNERS = "- The harbour gate opens at seven. [origin:: owner] ^b1abcd\n"


def lines(answer):
    return [line for line in answer.context.splitlines() if line.startswith("- ")]


def conflicts(answer):
    return [(one.stronger, one.weaker, one.reason) for one in answer.conflicts]


def test_the_stronger_of_two_comes_first_and_the_other_says_so(opened):
    vault = opened({"agent-memory/a.md": f"{AGENTS}- Is of oak. ^c1abcd\n{OWNERS}"})
    answer = recall(vault, "harbour gate opens")
    assert conflicts(answer) == [
        ("agent-memory/a.md#^b1abcd", "agent-memory/a.md#^a1abcd", "number")
    ]
    told = lines(answer)
    assert told[0] == "- The harbour gate opens at seven. ^b1abcd · owner"
    assert told[1] == "- The harbour gate opens at six. ^a1abcd · agent · contradicts ^b1abcd"
    assert [one.observation_id for one in answer.sources][:2] == ["b1abcd", "a1abcd"]


@pytest.mark.parametrize("newer", ["a", "b"])
def test_of_equal_authority_the_newer_is_the_stronger(opened, vault_dir, newer):
    vault = opened(
        {
            "agent-memory/a.md": AGENTS,
            "agent-memory/b.md": "- The harbour gate opens at seven in the rain. ^b1abcd\n",
        }
    )
    for name in ("a", "b"):
        at = 1_700_000_000 if name == newer else 1_600_000_000
        os.utime(vault_dir / f"agent-memory/{name}.md", (at, at))
    answer = recall(vault, "harbour gate opens")
    (one,) = answer.conflicts
    assert one.stronger.endswith(f"#^{newer}1abcd")
    assert answer.sources[0].observation_id == f"{newer}1abcd"


def test_a_stronger_one_in_a_note_far_behind_is_put_before_the_weaker(opened):
    vault = opened(
        {
            "agent-memory/a.md": AGENTS + "- Harbour gate: harbour gate opens. ^h1abcd\n",
            "agent-memory/b.md": "- A gate of the harbour is of oak. ^g1abcd\n",
            "agent-memory/z.md": "- The harbour gate opens at seven.\n",
        }
    )
    answer = recall(vault, "harbour gate opens")
    assert conflicts(answer) == [("agent-memory/z.md", "agent-memory/a.md#^a1abcd", "number")]
    (weaker,) = (line for line in lines(answer) if "at six" in line)
    number = int(re.search(r"contradicts \[(\d+)\]$", weaker)[1])
    assert f"[{number}] agent-memory/z.md · " in answer.context
    places = [line.rpartition(" opens at ")[2][:5] for line in lines(answer)]
    assert places.index("seven") < places.index("six. ")


def test_episodes_and_documents_do_not_contradict(opened):
    vault = opened(
        {
            "agent-memory/a.md": "- The harbour gate opened at six. [type:: episodic] ^a1abcd\n"
            "- The harbour gate opened at seven. [type:: episodic] ^b1abcd\n",
            "Gate.md": "The harbour gate opened at eight.\n",
        }
    )
    answer = recall(vault, "harbour gate opened")
    assert answer.conflicts == ()
    assert "contradicts" not in answer.context


def test_what_is_not_in_the_bundle_is_not_told_of(opened):
    vault = opened({"agent-memory/a.md": AGENTS + OWNERS})
    answers = [recall(vault, "harbour gate opens", budget_tokens=n) for n in range(50, 160, 5)]
    assert {len(answer.sources) for answer in answers} >= {1, 2}
    for answer in answers:
        assert count_tokens(answer.context) == answer.tokens <= answer.budget_tokens
        assert len(answer.conflicts) == (len(answer.sources) == 2)
        assert ("contradicts" in answer.context) == bool(answer.conflicts)


def test_of_many_the_strongest_is_named_and_the_budget_is_used(opened):
    codes = [f"- The code of the harbour gate is {n}{n}{n}{n}. ^g{n}abcd\n" for n in range(1, 9)]
    vault = opened({"agent-memory/a.md": "".join(codes) + OWNERS.replace("opens at", "code is")})
    whole = recall(vault, "harbour gate code", budget_tokens=2000, max_per_source=2000)
    assert len(whole.sources) == 9
    assert len(whole.conflicts) == len({one.weaker for one in whole.conflicts})
    assert whole.context.count("contradicts") == len(whole.conflicts) >= 7
    for budget in range(whole.tokens, whole.tokens - 120, -10):
        answer = recall(vault, "harbour gate code", budget_tokens=budget, max_per_source=2000)
        assert budget - 60 < answer.tokens <= budget


def test_a_marked_fact_that_comes_back_is_recognised():
    told = "- The gate opens at six. ^a1abcd · agent · 2026-11-02 · contradicts ^b1abcd, [2]"
    assert heard(told).atoms == ("the gate opens at six",)
    cited = "[1] Gate.md · Gate · 2026-11-02 · agent"
    assert heard(f"{cited}\n{told}").atoms == heard(told).atoms

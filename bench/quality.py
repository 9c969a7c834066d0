"""Measurements of what is found, not of how quickly."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from baseline import Fts
from report import columns
from setting import Setting
from zibaldone.tools.policy.similarity import compare
from zibaldone.tools.recall import recall
from zibaldone.tools.search import search
from zibaldone.tools.vault import Vault

RANKS = (1, 5, 10)
BUDGET = 2000
KINDS = ("same", "reworded", "contradicting", "related", "unrelated")


@dataclass(slots=True)
class Tally:
    """How often a note was found among the first ranks, by kind of question."""

    found: Counter[tuple[str, int]]
    asked: Counter[str]

    def shares(self, kind: str) -> list[float]:
        """The share found at each of `RANKS`."""
        return [round(self.found[kind, rank] / self.asked[kind], 3) for rank in RANKS]


def known_items(setting: Setting, fts: Fts) -> dict[str, dict[str, list[float]]]:
    """Ask for the note that each question was taken from; per kind: ours, and those of FTS5."""
    ours, theirs = Tally(Counter(), Counter()), Tally(Counter(), Counter())
    with Vault.open(setting.vault, watch=True) as vault:
        vault.index.ready.wait(300)
        for question in setting.questions(400):
            results = search(vault, question["text"], limit=max(RANKS)).results
            _count(ours, question, [hit.path for hit in results])
            _count(theirs, question, fts.search(question["text"], max(RANKS)))
    kinds = (*sorted(ours.asked.keys() - {"all"}), "all")
    return {kind: {"zibaldone": ours.shares(kind), "fts5": theirs.shares(kind)} for kind in kinds}


def _count(tally: Tally, question: Mapping[str, str], paths: Sequence[str]) -> None:
    for kind in (question["kind"], "all"):
        tally.asked[kind] += 1
        for rank in RANKS:
            tally.found[kind, rank] += question["note"] in paths[:rank]


def evidence(repository: Path, work: Path) -> dict[str, Any]:
    """Ask the sample vault its questions; the share of the expected notes in each recall."""
    file = repository / "tests/data/sample_questions.json"
    cases = json.loads(file.read_text(encoding="utf-8"))["questions"]
    copy = work / "sample-vault"
    shutil.copytree(repository / "sample-vault", copy)
    shares = {}
    with Vault.open(copy) as vault:
        for depth in (0, 1, 2):
            found = [_evidence(vault, case, depth) for case in cases]
            whole = sum(len(case["expect"]) for case in cases)
            shares[f"depth {depth}"] = round(sum(found) / whole, 3)
    return {"questions": len(cases), "budget": BUDGET, "share of the evidence": shares}


def _evidence(vault: Vault, case: dict[str, Any], depth: int) -> int:
    answer = recall(vault, case["question"], case.get("project"), BUDGET, depth)
    return len({source.path for source in answer.sources} & set(case["expect"]))


def duplicates(repository: Path, *, held_out: bool = False) -> dict[str, dict[str, int]]:
    """Compare labelled pairs; per label, how many were taken for each kind. All stems count 1.

    `held_out` takes the half alone that nothing was tuned on.
    """
    lines = (repository / "tests/data/pairs.jsonl").read_text(encoding="utf-8").splitlines()
    taken: dict[str, Counter[str]] = {label: Counter() for label in KINDS}
    for pair in map(json.loads, lines):
        if held_out and not is_held_out(pair["a"]):
            continue
        taken[pair["label"]][compare(pair["a"], pair["b"], lambda _: 1.0).kind] += 1
    return {label: {kind: taken[label][kind] for kind in KINDS} for label in KINDS}


def is_held_out(text: str) -> bool:
    """Whether a pair with this first text is of the half that nothing was tuned on."""
    return sha256(text.encode()).digest()[0] % 2 == 1


def verdicts_table(taken: Mapping[str, Mapping[str, int]]) -> str:
    """Return what the write gate does for each label of `duplicates`, and how often it is right.

    `skipped` should be all of the same and nothing else; `needs_verdict` the reworded and the
    contradicting ones, and few of the related; the rest is written in silence.
    """
    heads = ("label", "skipped", "needs_verdict", "silence", "right")
    right = {"same": "skipped", "reworded": "needs_verdict", "contradicting": "needs_verdict"}
    rows = []
    for label in KINDS:
        kinds = taken[label]
        done = {
            "skipped": kinds["same"],
            "needs_verdict": kinds["reworded"] + kinds["contradicting"],
            "silence": kinds["related"] + kinds["unrelated"],
        }
        share = done[right.get(label, "silence")] / (sum(done.values()) or 1)
        rows.append((label, *map(str, done.values()), f"{share:.3f}"))
    return columns([heads, *rows])


def found_table(found: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """Return the shares of `known_items` as a table."""
    heads = ("found", *(f"@{rank}" for rank in RANKS), *(f"FTS5 @{rank}" for rank in RANKS))
    rows = (
        (kind, *(f"{share:.3f}" for share in (*both["zibaldone"], *both["fts5"])))
        for kind, both in found.items()
    )
    return columns([heads, *rows])


def pairs_table(taken: Mapping[str, Mapping[str, int]]) -> str:
    """Return the counts of `duplicates` as a table, with recall and precision of each kind."""
    heads = ("label \\ taken for", *KINDS, "recall", "precision")
    rows = []
    for label in KINDS:
        right = taken[label][label]
        named = sum(counts[label] for counts in taken.values())
        shares = (right / (sum(taken[label].values()) or 1), right / (named or 1))
        counts = (str(taken[label][kind]) for kind in KINDS)
        rows.append((label, *counts, *(f"{share:.2f}" for share in shares)))
    return columns([heads, *rows])

"""Measurements of the tools, called in a long-lived process as the server calls them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from baseline import Fts, replace_durably
from clocks import Series
from report import Row, timed
from server import Server
from setting import Setting
from zibaldone.tools.notes import create_note, edit_note, get_note
from zibaldone.tools.recall import recall
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.vault import OWNER, Caller, Vault

LIMIT = 10
WARM_UP = 40
"""Questions that are asked before the first one that counts."""

CATEGORIES = ("preferences", "health", "travel", "work", "tools")


def measure(setting: Setting, fts: Fts) -> Iterator[Row]:
    """Call the tools one after another, reading before writing."""
    with Vault.open(setting.vault, caller=Caller(agent="bench"), watch=True) as vault:
        if not vault.index.ready.wait(300):
            raise RuntimeError("the index of the vault was not ready after 300 s")
        for question in setting.questions(WARM_UP, skip=700):
            search(vault, question["text"], limit=LIMIT)
            recall(vault, question["text"])
        yield from searches(setting, vault, fts)
        for depth in (0, 1, 2):
            yield recalls(setting, vault, fts, depth)
        yield note_reads(setting, vault)
        yield from memories(setting, vault, fts)
        yield edits(setting, vault, fts)
        yield new_notes(setting, vault, fts)


def searches(setting: Setting, vault: Vault, fts: Fts) -> Iterator[Row]:
    """Search with questions that were not asked before, then with the same ones again."""
    setting.measuring("search")
    questions = setting.questions(200)
    for what in ("search", "search, asked again"):
        ours, theirs = Series(), Series()
        for question in questions:
            with ours.step():
                search(vault, question["text"], limit=LIMIT)
            with theirs.step():
                fts.search(question["text"], LIMIT)
        yield timed(what, setting.count, ours, fts=theirs)


def recalls(setting: Setting, vault: Vault, fts: Fts, depth: int) -> Row:
    """Recall; beside it, what FTS5 and plain reads of the ten best notes take."""
    setting.measuring(f"recall {depth}")
    ours, theirs = Series(), Series()
    for question in setting.questions(100, skip=200 + 100 * depth):
        with ours.step():
            answer = recall(vault, question["text"], depth=depth)
        setting.require(answer.tokens <= answer.budget_tokens, "a recall exceeds its budget")
        with theirs.step():
            for path in fts.search(question["text"], LIMIT):
                (setting.vault / path).read_text(encoding="utf-8")
    return timed(f"recall, depth {depth}", setting.count, ours, fts=theirs)


def note_reads(setting: Setting, vault: Vault) -> Row:
    """Read notes by their paths."""
    setting.measuring("get_note")
    ours, files = Series(), Series()
    for question in setting.questions(100, skip=50):
        with files.step():
            (setting.vault / question["note"]).read_text(encoding="utf-8")
        with ours.step():
            get_note(vault, question["note"])
    return timed("get_note", setting.count, ours, files)


def memories(setting: Setting, vault: Vault, fts: Fts) -> Iterator[Row]:
    """Remember facts; each has to be found by the next search of a server that runs beside."""
    acknowledged, found, files, theirs = Series(), Series(), Series(), Series()
    # The owner's door has all checks of an agent's, and is not asked about facts that are alike.
    owner = vault.with_caller(OWNER)
    with Server(setting.vault) as other:
        other.initialize()
        other.call("search", query="first")
        setting.measuring("remember")
        for number, question in enumerate(setting.questions(100, skip=500)):
            fact = f"Wants {question['text']} settled by week {number}, with mark qz{number}w."
            category = CATEGORIES[number % len(CATEGORIES)]
            started = time.perf_counter()
            with acknowledged.step():
                answer = remember_about_user(owner, fact, category=category)
            seen = other.call("search", query=f"{question['text']} qz{number}w")
            found.wall.append(time.perf_counter() - started)
            found.cpu.append(acknowledged.cpu[-1])
            ids = [hit.get("observationId") for hit in seen["results"]]
            setting.require(
                answer.outcome in ("created", "appended") and answer.observation_id in ids,
                "a remembered fact was not found by the next search of another process",
            )
            _plain_memory(setting, fts, fact, files, theirs)
    yield timed("remember, acknowledged", setting.count, acknowledged, files, theirs)
    wall_only = timed("remember, found by another process", setting.count, found)
    yield Row(wall_only.what, wall_only.notes, "ms", wall_only.p50, wall_only.p95)


def _plain_memory(setting: Setting, fts: Fts, fact: str, files: Series, theirs: Series) -> None:
    """Append to a file durably, and then index the line too."""
    file = setting.work / "plain-memory.md"
    before = file.read_bytes() if file.exists() else b""
    with files.step():
        replace_durably(file, before + f"- {fact}\n".encode())
    with theirs.step():
        fts.add("plain-memory.md", fact)
    theirs.cpu[-1] += files.cpu[-1]
    theirs.wall[-1] += files.wall[-1]


def edits(setting: Setting, vault: Vault, fts: Fts) -> Row:
    """Append a line to notes."""
    setting.measuring("edit_note")
    ours, files, theirs = Series(), Series(), Series()
    paths = dict.fromkeys(question["note"] for question in setting.questions(80, skip=300))
    for number, path in enumerate(paths):
        line = f"One more line, number {number}."
        with ours.step():
            edit_note(vault, path, mode="append", content=line)
        _plain_write(setting, fts, path, line, files, theirs)
    return timed("edit_note", setting.count, ours, files, theirs)


def new_notes(setting: Setting, vault: Vault, fts: Fts) -> Row:
    """Create notes of an ordinary length."""
    setting.measuring("create_note")
    ours, files, theirs = Series(), Series(), Series()
    for number, question in enumerate(setting.questions(60, skip=400)):
        body = (setting.vault / question["note"]).read_text(encoding="utf-8")
        body = body.rpartition("---\n")[2]
        with ours.step():
            create_note(vault, "bench", f"Bench note {number}", body)
        _plain_write(setting, fts, f"bench-{number}.md", body, files, theirs)
    return timed("create_note", setting.count, ours, files, theirs)


def _plain_write(
    setting: Setting, fts: Fts, path: str, text: str, files: Series, theirs: Series
) -> None:
    """Write the note to a file beside the vault, and then index it too."""
    source = setting.vault / path
    whole = text + (source.read_text(encoding="utf-8") if source.exists() else "")
    beside = setting.work / Path(path).name
    with files.step():
        replace_durably(beside, whole.encode())
    with theirs.step():
        fts.put(path, whole)
    theirs.cpu[-1] += files.cpu[-1]
    theirs.wall[-1] += files.wall[-1]
    beside.unlink()

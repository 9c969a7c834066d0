"""What the tests of the history share: someone who writes to a journal as the store does."""

import contextlib
import itertools
import json
import os
from dataclasses import dataclass, field

import pytest
from zibaldone.vault.journal import Journal
from zibaldone.vault.revision import Actor, Revision
from zibaldone.vault.seal import canonical
from zibaldone.vault.source import token_of
from zibaldone.vault.splices import splices_between, whole

NOTE = "k2m9qx4tb1c7"
NOON = 1_794_744_000
"""Seconds since 1970 at noon of 2026-11-15, UTC."""
AGENT = Actor("claude-code", "instance", "session", "1.0", "agent")


@dataclass
class Teller:
    """Tells a journal of new states of notes, and remembers the last of each."""

    journal: Journal
    actor: Actor = AGENT
    states: dict = field(default_factory=dict)

    def tell(self, after, *, note=NOTE, op="edit", **facts):
        """Record that a note now has these bytes; None when it is gone."""
        before, base = self.states.get(note, (None, ""))
        revision = Revision(
            op,
            note,
            f"{note}.md",
            whole(after or b"") if before is None else splices_between(before, after or b""),
            None if before is None else token_of(before),
            None if after is None else token_of(after),
            facts.pop("actor", self.actor),
            **{"base": base, **facts},
        )
        record = self.journal.append(revision)
        self.states[note] = after, record.hash
        return record

    def files(self):
        """Every file of every journal."""
        return sorted(path for path in self.journal._state.rglob("*") if path.is_file())

    @property
    def file(self):
        """The one file of this device."""
        (path,) = self.journal._state.glob(f"journal/{self.journal.device}/*.jsonl")
        return path

    def kinds(self):
        """What is wrong with the journals, as line and kind."""
        return [(flaw.line, flaw.kind) for flaw in self.journal.verify()]

    def tamper(self, number, change):
        """Change the JSON object on one line, which counts from 1."""
        lines = self.file.read_bytes().splitlines(keepends=True)
        raw = json.loads(lines[number - 1])
        change(raw)
        lines[number - 1] = canonical(raw) + b"\n"
        self.file.write_bytes(b"".join(lines))


def telling(folder, device="d7w3hq5n2kfa"):
    """A teller whose clock goes on by a second with every record."""
    return Teller(Journal(folder, device, clock=map(float, itertools.count(NOON)).__next__))


@pytest.fixture
def teller(tmp_path):
    """One device, which tells a journal in `state`."""
    return telling(tmp_path / "state")


@pytest.fixture
def journal(teller):
    """The journal of that device."""
    return teller.journal


@pytest.fixture
def folder(tmp_path):
    """The folder of that device."""
    return tmp_path / "state" / "journal" / "d7w3hq5n2kfa"


@pytest.fixture
def other_teller(tmp_path):
    """Another device, whose journal lies in the same `state`."""
    return telling(tmp_path / "state", "e8x4jr6p3mgb")


@pytest.fixture(scope="module")
def new_teller(tmp_path_factory):
    """Make a device with a journal of its own, as often as it is called."""
    return lambda: telling(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="module")
def unsynced():
    """For properties, which write often: a context in which nothing waits for the disk."""

    @contextlib.contextmanager
    def patched():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", lambda _: None)
            yield

    return patched

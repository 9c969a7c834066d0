"""What the tests of the history share: someone who writes to a journal as the store does."""

import contextlib
import os
from dataclasses import dataclass, field

import pytest
from zibaldone.vault.journal import Journal
from zibaldone.vault.revision import Actor, Revision
from zibaldone.vault.source import token_of
from zibaldone.vault.splices import splices_between, whole

NOTE = "k2m9qx4tb1c7"
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


@pytest.fixture
def teller(tmp_path):
    """One device, which tells a journal in `state`."""
    return Teller(Journal(tmp_path / "state", "d7w3hq5n2kfa"))


@pytest.fixture
def other_teller(tmp_path):
    """Another device, whose journal lies in the same `state`."""
    return Teller(Journal(tmp_path / "state", "e8x4jr6p3mgb"))


@pytest.fixture(scope="module")
def new_teller(tmp_path_factory):
    """Make a device with a journal of its own, as often as it is called."""
    return lambda: Teller(Journal(tmp_path_factory.mktemp("state"), "d7w3hq5n2kfa"))


@pytest.fixture(scope="module")
def unsynced():
    """For properties, which write often: a context in which nothing waits for the disk."""

    @contextlib.contextmanager
    def patched():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", lambda _: None)
            yield

    return patched

"""What a session has been shown counts for that session, for these versions, and for a while."""

from types import SimpleNamespace

import pytest
from zibaldone.tools.shown import LATELY, MEMORIES, SESSIONS, Shown
from zibaldone.tools.trust import Caller

ME = Caller("planner", "i1", "s1")
MEMORY = ("note", "m1", 2)


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def shown(clock):
    return Shown(clock)


def part(note="note", observation="m1", version=2):
    return SimpleNamespace(note_id=note, observation_id=observation, version=version)


def test_what_was_shown_is_known(shown):
    assert not shown.has_looked(ME)
    shown.note(ME, [part(), part(observation=None)])
    assert shown.has_looked(ME)
    assert shown.knows(ME, [MEMORY])
    assert shown.knows(ME, [])
    assert not shown.knows(ME, [MEMORY, ("note", "m2", 2)])
    assert not shown.knows(ME, [("note", "", 2)])


def test_another_version_is_another_memory(shown):
    shown.note(ME, [part(version=1)])
    assert not shown.knows(ME, [MEMORY])


@pytest.mark.parametrize(
    "other", [Caller("writer", "i1", "s1"), Caller("planner", "i2", "s1"), Caller("planner", "i1")]
)
def test_another_session_was_shown_nothing(shown, other):
    shown.note(ME, [part()])
    assert not shown.knows(other, [MEMORY])
    assert not shown.has_looked(other)


def test_it_counts_for_a_while(shown, clock):
    shown.note(ME, [part()])
    clock.now += LATELY
    assert shown.knows(ME, [MEMORY])
    clock.now += 1
    assert not shown.knows(ME, [MEMORY])
    assert not shown.has_looked(ME)
    shown.note(ME, [part(observation="m2")])
    assert not shown.knows(ME, [MEMORY])


def test_it_does_not_grow_without_end(shown):
    shown.note(ME, [part(observation=f"m{n}") for n in range(MEMORIES + 1)])
    assert not shown.knows(ME, [("note", "m0", 2)])
    assert shown.knows(ME, [("note", f"m{MEMORIES}", 2)])
    for number in range(SESSIONS):
        shown.note(Caller("planner", "i1", f"other{number}"), [])
    assert not shown.has_looked(ME)

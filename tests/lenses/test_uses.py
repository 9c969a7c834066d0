"""How often facts were given: counted anew only when the audit has changed, and read ahead."""

import time

from zibaldone.tools.audit import Use
from zibaldone.vault.audit import FOLDER, Given, Retrieval, record
from zibaldone.vault.revision import Actor

TIME = "2026-11-08T09:00:00.000Z"
PART = Given("aaaaaaaaaaa1", "0" * 16, 5, "aaaaa1")


def keep(house):
    asked = Retrieval(TIME, "search", Actor("planner", origin="agent"), "q", 1, given=(PART,))
    record(house.vault.layout.state_dir, "d", asked)


def test_counts_are_kept_until_the_audit_changes(house):
    house = house()
    assert house.uses.now() == {}
    keep(house)
    first = house.uses.now()
    assert first == {(PART.note, PART.observation): Use(1, TIME)}
    assert house.uses.now() is first
    keep(house)
    assert house.uses.now()[PART.note, PART.observation].times == 2


def test_it_is_read_ahead_once_and_is_unknown_while_it_cannot_be_read(house):
    house = house()
    keep(house)
    house.uses.warm()
    until = time.monotonic() + 20
    while house.uses._made is None and time.monotonic() < until:
        time.sleep(0.01)
    made = house.uses._made
    assert made is not None and house.uses.now() is made[1]
    house.uses.warm()
    assert house.uses._made is made
    folder = house.vault.layout.state_dir / FOLDER / "d"
    (folder / "2027-01.jsonl").symlink_to(folder / "2026-11.jsonl")
    assert house.uses.known() is None
    (folder / "2027-01.jsonl").unlink()
    assert house.uses.known() == made[1]

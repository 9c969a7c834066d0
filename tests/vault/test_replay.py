"""From records back to bytes: by their links, whatever the clocks said."""

import dataclasses

import pytest
from zibaldone.vault.errors import RevisionUnavailable
from zibaldone.vault.replay import replay, tainted_tokens
from zibaldone.vault.revision import Actor, Record
from zibaldone.vault.source import token_of
from zibaldone.vault.splices import splices_between, whole


def token(state):
    return None if state is None else token_of(state)


def record(hash_, before, after, *, base="", time="10:00", device="a", hidden=()):
    """A record as it is read, with a short hash."""
    return Record(
        op="edit",
        note="n",
        path="n.md",
        splices=whole(after) if before is None else splices_between(before, after or b""),
        before=token(before),
        after=token(after),
        actor=Actor("agent"),
        base=base,
        seq=1,
        time=f"2026-11-30T{time}:00.000Z",
        device=device,
        digest="",
        prev="",
        hash=hash_,
        hidden=frozenset(hidden),
    )


FIRST = record("1", None, b"a\n")
SECOND = record("2", b"a\n", b"a\nb\n", base="1", time="10:01")
THIRD = record("3", b"a\nb\n", b"b\n", base="2", time="10:02")


def test_the_last_state_is_that_of_the_latest_record():
    assert replay([THIRD, FIRST, SECOND]) == b"b\n"


@pytest.mark.parametrize(("until", "state"), [("1", b"a\n"), ("2", b"a\nb\n"), ("3", b"b\n")])
def test_every_state_can_be_had(until, state):
    assert replay([FIRST, SECOND, THIRD], until) == state


@pytest.mark.parametrize(("records", "until"), [([FIRST], "9"), ([], "")])
def test_a_record_that_is_not_there_is_an_error(records, until):
    with pytest.raises(RevisionUnavailable, match="no such record"):
        replay(records, until)


def test_a_note_that_was_deleted_is_none_and_may_come_back():
    gone = record("4", b"b\n", None, base="3", time="10:03")
    again = record("5", None, b"b\n", base="4", time="10:04")
    records = [FIRST, SECOND, THIRD, gone, again]
    assert replay(records, "4") is None
    assert replay(records) == b"b\n"


def test_a_missing_record_is_an_error():
    with pytest.raises(RevisionUnavailable, match="missing"):
        replay([FIRST, THIRD])


def test_a_baseline_needs_nothing_before_it():
    baseline = record("4", None, b"b\n", base="3", time="10:03")
    assert replay([THIRD, baseline]) == b"b\n"


def test_where_the_base_is_missing_the_same_bytes_do():
    elsewhere = record("4", b"a\nb\n", b"b\nc\n", base="not here", time="10:03")
    assert replay([FIRST, SECOND, elsewhere]) == b"b\nc\n"


def test_clocks_that_differ_do_not_matter():
    early = dataclasses.replace(SECOND, time="2026-11-30T08:00:00.000Z", device="b")
    assert replay([FIRST, early, THIRD], "3") == b"b\n"
    assert replay([FIRST, early], "2") == b"a\nb\n"


def test_two_devices_that_did_not_hear_of_each_other_have_both_states():
    other = record("4", b"a\n", b"a\nz\n", base="1", time="10:01", device="b")
    records = [FIRST, SECOND, other]
    assert (replay(records, "2"), replay(records, "4")) == (b"a\nb\n", b"a\nz\n")


def test_states_that_come_again_are_no_loop():
    back = record("4", b"b\n", b"a\n", base="gone", time="10:03")
    again = record("5", b"a\n", b"b\n", base="also gone", time="10:04")
    assert replay([FIRST, SECOND, THIRD, back, again]) == b"b\n"


def test_records_that_name_each_other_are_an_error():
    one, other = (
        dataclasses.replace(SECOND, hash="x", base="y"),
        dataclasses.replace(THIRD, hash="y", base="x"),
    )
    with pytest.raises(RevisionUnavailable, match="missing"):
        replay([one, other])
    assert tainted_tokens([one, other]) == {"x": set(), "y": set()}


@pytest.mark.parametrize("splices", [(), whole(b"c\n")])
def test_records_that_do_not_lead_to_the_state_are_an_error(splices):
    with pytest.raises(RevisionUnavailable, match="do not lead"):
        replay([FIRST, dataclasses.replace(SECOND, splices=splices), THIRD])


def test_splices_beyond_the_end_are_an_error():
    with pytest.raises(RevisionUnavailable, match="contradict"):
        replay([record("1", None, b""), dataclasses.replace(THIRD, base="1")])


def hide(each, *names):
    return dataclasses.replace(each, hidden=frozenset(names))


def test_no_token_is_tainted_where_nothing_is_hidden():
    tainted = tainted_tokens([FIRST, SECOND, THIRD])
    assert tainted == {"1": set(), "2": set(), "3": set()}


def test_tokens_are_tainted_while_the_words_are_there():
    last = record("4", b"b\n", b"c\n", base="3", time="10:03")
    records = [hide(FIRST, "0.inserted"), SECOND, hide(THIRD, "0.removed"), last]
    assert tainted_tokens(records) == {
        "1": {"after"},
        "2": {"before", "after"},
        "3": {"before"},
        "4": set(),
    }


def test_words_that_were_removed_taint_the_state_before_though_its_record_is_missing():
    assert tainted_tokens([hide(THIRD, "0.removed")]) == {"3": {"before"}}


def test_half_of_hidden_words_taints_as_much():
    states = [b"", b"1\n2\n3\n", b"1\nx\n3\n", b"x\n3\n", b"x\n"]
    records = [record("0", None, b"")]
    for number, after in enumerate(states[1:], 1):
        records.append(
            record(
                str(number),
                states[number - 1],
                after,
                base=str(number - 1),
                time=f"10:0{number}",
            )
        )
    records[1] = hide(records[1], "0.inserted")
    tainted = tainted_tokens(records)
    assert [sorted(tainted[str(number)]) for number in range(5)] == [
        [],
        ["after"],
        ["after", "before"],
        ["after", "before"],
        ["before"],
    ]


def test_taint_follows_links_and_not_clocks():
    first = dataclasses.replace(hide(FIRST, "0.inserted"), time="2026-11-30T23:00:00.000Z")
    tainted = tainted_tokens([first, SECOND, THIRD])
    assert tainted["2"] == {"before", "after"}

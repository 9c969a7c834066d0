"""Records that verify, before words were taken out of them and after."""

import base64
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.vault.seal import (
    canonical,
    parts,
    seal,
    seal_problem,
    to_bytes,
    to_text,
    without,
)

SALT = "0c9b7a5e3d1f42688a6c4e2f1b3d5f70"
RAW = {
    "v": 1,
    "note": "k2m9qx4tb1c7",
    "path": "agent-memory/health.md",
    "before": "b" * 64,
    "after": "a" * 64,
    "reason": "she said so",
    "splices": [
        {"start": 3, "removed": "old words\n", "inserted": "new words\n"},
        {"start": 90, "inserted": {"base64": "/v8="}},
    ],
    "unknown": {"to": ["this", "version"]},
}
NAMES = ["0.inserted", "0.removed", "1.inserted", "after", "before", "path", "reason"]


def sealed():
    return seal(RAW, SALT)


def changed(raw, name, value):
    """The record with another value, which may be in a splice."""
    number, _, side = name.partition(".")
    if not side:
        return {**raw, name: value}
    splices = [dict(splice) for splice in raw["splices"]]
    splices[int(number)][side] = value
    return {**raw, "splices": splices}


def test_a_sealed_record_verifies():
    assert seal_problem(sealed()) is None
    assert sorted(parts(sealed())) == NAMES


@pytest.mark.parametrize("name", ["v", "note", "unknown", "0.start", "digest", "hash"])
def test_a_changed_fact_is_seen(name):
    assert seal_problem(changed(sealed(), name, 7)) == "hash"


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_part_is_seen(name):
    same_length = {"0.inserted": "NEW words\n", "0.removed": "OLD words\n"}
    value = {"base64": "//8="} if name == "1.inserted" else same_length.get(name, "else")
    assert seal_problem(changed(sealed(), name, value)) == "digest"


def test_a_text_of_another_length_is_seen():
    assert seal_problem(changed(sealed(), "0.inserted", "new words!\n")) == "hash"


def test_a_new_field_is_seen():
    assert seal_problem({**sealed(), "added": 1}) == "hash"


@given(st.lists(st.sampled_from(NAMES), max_size=9))
def test_a_record_without_some_parts_verifies(names):
    rest = sealed()
    for name in names:
        rest = without(rest, {name})
    assert seal_problem(rest) is None
    assert rest == without(sealed(), names)
    assert rest["hash"] == sealed()["hash"]
    assert sorted([*parts(rest), *rest.get("sealed", {})]) == NAMES
    assert ("salt" in rest) == (not names)
    assert rest["unknown"] == RAW["unknown"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_taken_out_is_gone(name):
    rest = without(sealed(), {name})
    value = canonical(parts(sealed())[name])
    assert value not in canonical(rest)
    assert SALT.encode() not in canonical(rest)


@pytest.mark.parametrize("name", ["0.inserted", "reason", "after"])
def test_a_guess_cannot_be_tested(name):
    """Whoever knows the words and has only the record finds no hash that tells so."""
    rest = without(sealed(), {name})
    words = canonical(parts(sealed())[name])
    known = ["", *rest["salts"].values(), *rest["sealed"].values(), rest["digest"], rest["hash"]]
    derived = [hashlib.sha256(f"{salt}/{name}".encode()).hexdigest()[:32] for salt in known]
    guesses = {hashlib.sha256(salt.encode() + words).hexdigest() for salt in [*known, *derived]}
    assert not guesses & {rest["sealed"][name], rest["digest"]}


def test_two_records_of_the_same_words_share_no_hash():
    one, other = (without(seal(RAW, salt * 32), {"reason"}) for salt in "ab")
    assert one["sealed"]["reason"] != other["sealed"]["reason"]
    assert one["digest"] != other["digest"]


@pytest.mark.parametrize(
    "forged",
    [
        {"reason": "put back"},
        {"salts": {}},
        {"sealed": {}},
        {"salt": SALT},
    ],
    ids=["words", "no salts", "no hashes", "salt"],
)
def test_a_redacted_record_cannot_be_filled_again(forged):
    rest = without(sealed(), {"reason"})
    assert seal_problem({**rest, **forged}) == "digest"


def test_words_whose_salt_is_missing_leave_no_hash():
    raw = {**sealed(), "salts": {}}
    del raw["salt"]
    rest = without(raw, {"reason"})
    assert "reason" not in rest
    assert rest["sealed"] == {}


def test_a_part_that_is_not_there_changes_nothing():
    raw = sealed()
    assert without(raw, {"5.inserted", "nothing"}) is raw


def test_a_removed_text_leaves_its_length_in_bytes():
    rest = without(seal({**RAW, "splices": [{"start": 0, "inserted": "é"}]}, SALT), {"0.inserted"})
    assert rest["splices"] == [{"start": 0, "inserted": 2}]


@given(st.binary(max_size=40))
def test_any_bytes_pass_through_json(data):
    assert to_bytes(json.loads(canonical(to_text(data)))) == data


@pytest.mark.parametrize("value", [None, 1, [], {}, {"base64": 1}, {"base64": "?"}, "\ud800"])
def test_what_is_no_text_is_refused(value):
    with pytest.raises(ValueError, match=r"not a text|codec|base64"):
        to_bytes(value)


def test_base64_is_for_what_is_not_utf8():
    assert to_text("é".encode()) == "é"
    assert to_text(b"\xff") == {"base64": base64.b64encode(b"\xff").decode()}


def test_the_canonical_form():
    value = {"b": [1, None, True], "a": 'é"\\\n\x1f\u2028'}
    expected = '{"a":"é\\"\\\\\\n\\u001f\u2028","b":[1,null,true]}'
    assert canonical(value) == expected.encode()

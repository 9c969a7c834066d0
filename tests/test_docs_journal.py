"""The specification of the journal is true: every marked example is read as the page says."""

import dataclasses
import hashlib
import json
import re
from pathlib import Path
from typing import get_args

import pytest
from zibaldone.vault.errors import RevisionUnavailable
from zibaldone.vault.journal import Journal
from zibaldone.vault.replay import replay
from zibaldone.vault.revision import (
    MAX_NUMBER,
    VERSION,
    Actor,
    Change,
    Op,
    Origin,
    Revision,
    from_raw,
    to_raw,
)
from zibaldone.vault.seal import SALT_BYTES, canonical, seal, seal_problem, without
from zibaldone.vault.splices import CONTEXT, MAX_PIECES, Splice

PAGE = (Path(__file__).parents[1] / "docs/journal.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```\w+ (example|expect)=([\w-]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCES = {(kind, name): text for kind, name, text in FENCE.findall(PAGE)}
DEVICE = "d7w3hq5n2kfa"
MONTH = "2026-11"


def rows(heading):
    """The first cells of the table after a heading."""
    section = PAGE.split(heading)[1].split("\n#")[0]
    return re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)


def written(name, folder):
    """The journal of an example, as files."""
    path = folder / "journal" / DEVICE / f"{MONTH}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(FENCES["example", name], encoding="utf-8")
    return Journal(folder, DEVICE)


def state_after(journal, record):
    try:
        data = replay(journal.records(record.note), record.hash)
    except RevisionUnavailable:
        return None
    return data.decode()


def test_every_example_is_checked():
    assert {name for _, name in FENCES} == {"record", "digest", "hash", "journal", "redacted"}


@pytest.mark.parametrize("name", ["journal", "redacted"])
def test_a_journal_verifies_and_leads_to_the_states(name, tmp_path):
    journal = written(name, tmp_path)
    assert journal.verify() == []
    states = [state_after(journal, record) for record in journal.records()]
    assert states == json.loads(FENCES["expect", name])


@pytest.mark.parametrize("name", ["journal", "redacted"])
def test_lines_are_in_canonical_form(name):
    for line in FENCES["example", name].encode().splitlines():
        assert canonical(json.loads(line)) == line


def test_the_redacted_journal_is_what_a_redaction_makes(tmp_path):
    journal = written("journal", tmp_path)
    assert journal.redact(words=[b"4711"]) == 2
    path = tmp_path / "journal" / DEVICE / f"{MONTH}.jsonl"
    assert path.read_text(encoding="utf-8") == FENCES["example", "redacted"]


def test_the_record_is_the_second_line():
    assert json.loads(FENCES["example", "record"]) == json.loads(
        FENCES["example", "journal"].splitlines()[1]
    )


@pytest.mark.parametrize("field", ["digest", "hash"])
def test_what_is_hashed_is_what_the_page_shows(field):
    hashed = FENCES["expect", field].rstrip("\n").encode()
    record = json.loads(FENCES["example", "record"])
    assert hashlib.sha256(hashed).hexdigest() == record[field]
    assert seal_problem(record) is None


def test_the_steps_lead_to_the_digest():
    """As a reader of the page would write them, with nothing of ours."""

    def sha256(text):
        return hashlib.sha256(text.encode()).hexdigest()

    def form(value):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    record = json.loads(FENCES["example", "record"])
    parts = {name: record[name] for name in ("path", "reason", "before", "after")}
    parts["0.inserted"] = record["splices"][0]["inserted"]
    salts = {name: sha256(f"{record['salt']}/{name}")[:32] for name in parts}
    hashes = {name: sha256(salts[name] + form(value)) for name, value in parts.items()}
    assert sha256(form(hashes)) == record["digest"]


def test_the_table_has_every_field():
    splice = Splice(0, b"a\n", b"b\n")
    change = Change("m3k9f2", 2, 1, "update")
    actor = Actor("a", "b", "c", "d")
    revision = Revision(
        "edit", "n", "p", (splice,), "t", "t", actor, "b", "o", 2, 1, (change,), "f", "why", "k"
    )
    raw = seal(to_raw(revision, seq=1, time="2026-11-08T09:14:02.117Z", device="d", prev=""), "0")
    redacted = without(raw, {"path"})
    assert set(rows("## 3. Records")) == raw.keys() | redacted.keys()
    named = PAGE.split("## 3. Records")[1].split("## 4. Hashes")[0]
    nested = raw["caller"].keys() | raw["changes"][0].keys() | raw["splices"][0].keys()
    assert all(f"`{name}`" in named for name in nested)
    fields = [*dataclasses.fields(Actor), *dataclasses.fields(Change), *dataclasses.fields(Splice)]
    assert len(fields) == sum(map(len, (raw["caller"], raw["changes"][0], raw["splices"][0])))
    assert from_raw(raw).reason == "why"


def test_the_table_of_operations_is_whole():
    assert rows("### 3.1 Operations") == list(get_args(Op))


def test_every_origin_is_named():
    assert all(f"`{origin}`" in PAGE for origin in get_args(Origin))


@pytest.mark.parametrize(
    "said",
    [
        f"the version of this format: {VERSION}",
        f"no more than {CONTEXT} bytes to each side",
        f"a splice for each line, up to\n  {MAX_PIECES},",
        f"{2 * SALT_BYTES} hexadecimal digits, random",
    ],
)
def test_numbers_on_the_page_are_those_of_the_code(said):
    assert said in PAGE


def test_the_largest_number_is_that_of_the_code():
    assert MAX_NUMBER == 2**53
    assert "not larger than 2⁵³" in PAGE

"""Remembering: what is acknowledged is on disk once, in the right note, and found at once."""

import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from zibaldone.tools.notes import get_note
from zibaldone.tools.recall import recall
from zibaldone.tools.remember import remember_about_project, remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.vault import Caller, Vault
from zibaldone.vault.errors import (
    CategoryRefused,
    InvalidArgument,
    NoteUnusable,
    ObservationRefused,
    PathRefused,
    StorageFailed,
)
from zibaldone.vault.memory import canonical

FOOD = "---\ncategory: Food\n---\n# Food\n"

# For tests of many memories that differ in a word; the gate has tests of its own.
NO_GATE = {"zibaldone.toml": 'write_gate = "off"\n'}


def bullets(text):
    return re.findall(r"^[-*+] .*", text, re.MULTILINE)


# Duplicates


def test_mm_01_the_same_fact_twice_is_one_line(opened, on_disk):
    vault = opened()
    first = remember_about_user(vault, "Drinks tea without sugar", "food")
    again = remember_about_user(vault, "Drinks tea without sugar", "food")
    spaced = remember_about_user(vault, "  drinks  tea without SUGAR. ", "Foods")
    assert [one.outcome for one in (first, again, spaced)] == ["created", "skipped", "skipped"]
    assert {one.observation_id for one in (first, again, spaced)} == {first.observation_id}
    assert again.similar[0].kind == "same"
    assert len(bullets(on_disk("agent-memory/food.md"))) == 1


def test_a_fact_of_another_category_of_the_same_memory_is_named_there(opened):
    vault = opened()
    first = remember_about_user(vault, "Drinks tea without sugar", "food")
    again = remember_about_user(vault, "drinks tea without sugar", "drinks")
    assert (again.outcome, again.path, again.category) == ("skipped", first.path, "food")
    assert again.observation_id == first.observation_id
    other = remember_about_project(vault, "harbour", "Drinks tea without sugar", "food")
    assert other.outcome == "created"


@pytest.mark.parametrize("text", ["To be or not to be", "…?!", "我"])
def test_a_fact_without_a_word_to_look_for_is_recognised_as_well(opened, text):
    vault = opened()
    first = remember_about_user(vault, text, "quotes")
    assert remember_about_user(vault, text, "other").observation_id == first.observation_id


def test_a_tag_in_the_text_is_a_part_of_what_it_says(opened):
    vault = opened(NO_GATE)
    remember_about_user(vault, "Likes #tea", "food")
    assert remember_about_user(vault, "Likes #coffee", "food").outcome == "appended"
    assert remember_about_user(vault, "likes", "food").outcome == "skipped"
    assert remember_about_user(vault, "Likes #coffee", "food", tags=["x"]).outcome == "skipped"


@pytest.mark.parametrize("category", ["food", "other"])
def test_a_line_that_the_owner_added_gets_its_id_and_nothing_else(opened, on_disk, category):
    vault = opened({"agent-memory/food.md": f"{FOOD}\n- Likes rye bread\n* Hates liquorice\n"})
    known = remember_about_user(vault, "hates liquorice.", category)
    assert (known.outcome, known.path) == ("skipped", "agent-memory/food.md")
    line = f"* Hates liquorice [origin:: owner] ^{known.observation_id}\n"
    assert on_disk("agent-memory/food.md") == f"{FOOD}\n- Likes rye bread\n{line}"
    assert known.version_token == get_note(vault, "food").version_token
    assert remember_about_user(vault, "Hates liquorice", category).observation_id == (
        known.observation_id
    )


HIDDEN = ["status:: unreviewed", "status:: stale", "status:: superseded", "expires:: 2020-01-01"]


@pytest.mark.parametrize("field", HIDDEN)
@pytest.mark.parametrize("category", ["food", "other"])
def test_a_hidden_line_neither_blocks_nor_leaks(opened, on_disk, field, category):
    hidden = f"- Canary likes rye bread [{field}] ^h1dden\n"
    vault = opened({"agent-memory/food.md": f"{FOOD}\n{hidden}"})
    answer = remember_about_user(vault, "Canary likes rye bread", category)
    assert answer.outcome in ("appended", "created")
    assert answer.similar == ()
    assert "h1dden" not in repr(answer)
    assert hidden in on_disk("agent-memory/food.md")


def test_what_is_similar_is_named_and_what_is_not_is_not(opened):
    vault = opened()
    remember_about_user(vault, "Prefers dark themes in every editor", "preferences")
    remember_about_user(vault, "Walks the dog in the harbour every morning", "habits")
    contrary = remember_about_user(vault, "Prefers light themes in every editor", "preferences")
    assert [one.kind for one in contrary.similar] == ["contradicting"]
    reworded = remember_about_user(vault, "In every editor a dark theme is preferred", "looks")
    assert reworded.similar[0].kind in ("reworded", "contradicting")
    assert remember_about_user(vault, "Allergic to walnuts", "health").similar == ()


def test_muted_memory_is_looked_through_and_marked(opened):
    vault = opened({"agent-memory/food.md": "---\nmuted: true\n---\n- Likes rye bread daily ^m1\n"})
    near = remember_about_user(vault, "Likes rye bread on Sundays", "habits").similar
    assert [(one.observation_id, one.muted) for one in near] == [("m1", True)]


# The note


@pytest.mark.parametrize("spelling", ["Preferences", "preference", "PREFERENCES", " preferences "])
def test_one_category_in_many_spellings_is_one_note(opened, vault_dir, spelling):
    vault = opened({"agent-memory/Mine.md": "---\ncategory: Preferences\n---\n- a\n"})
    answer = remember_about_user(vault, "Likes short reports", spelling)
    assert (answer.path, answer.category) == ("agent-memory/Mine.md", "Preferences")
    assert [p.name for p in (vault_dir / "agent-memory").iterdir()] == ["Mine.md"]


def test_mm_10_accents_are_never_merged_without_asking(opened):
    vault = opened({"agent-memory/Café.md": "- espresso at nine\n"})
    decomposed = remember_about_user(vault, "one sugar", "Cafe\u0301")
    assert (decomposed.outcome, decomposed.path) == ("appended", "agent-memory/Café.md")
    plain = remember_about_user(vault, "two lumps", "Cafe")
    assert (plain.outcome, plain.category) == ("created", "Cafe")
    assert plain.path != decomposed.path


def test_a_file_of_another_category_is_never_taken(opened, on_disk):
    owners = "---\ncategory: Likes\n---\n- a\n"
    vault = opened({"agent-memory/food.md": owners})
    answer = remember_about_user(vault, "Likes rye bread", "food")
    assert (answer.outcome, answer.category) == ("created", "food")
    assert answer.path == "agent-memory/food-2.md"
    assert on_disk("agent-memory/food.md") == owners
    assert remember_about_user(vault, "Hates liquorice", "food").path == answer.path


def test_a_note_that_the_index_has_not_seen_is_continued(opened, fill):
    """As when another process has just made the category, under another spelling."""
    vault = opened(watch=True)
    vault.index.ready.wait(10)
    vault.index.ask(lambda: None)
    fill({"agent-memory/Foods.md": "---\ncategory: Foods\n---\n- rye bread\n"})
    answer = remember_about_user(vault, "hates liquorice", "food")
    assert (answer.outcome, answer.path) == ("appended", "agent-memory/Foods.md")


def test_mm_05_a_last_line_without_a_line_end(opened, vault_dir):
    vault = opened(
        {
            "agent-memory/food.md": {
                "base64": "LS0tCmNhdGVnb3J5OiBmb29kCi0tLQotIGxpa2VzIHJ5ZSBicmVhZA=="
            }
        }
    )
    remember_about_user(vault, "hates liquorice", "food")
    with (vault_dir / "agent-memory/food.md").open("a") as file:
        file.write("- by hand\n")
    texts = [one.text for one in get_note(vault, "food").observations]
    assert texts == ["likes rye bread", "hates liquorice", "by hand"]


def test_fm_28_a_note_without_frontmatter_gets_one_block_once(opened, on_disk):
    journal = {"projects/boat/agent-memory/Journal.md": "Plain text, no properties.\n"}
    vault = opened(NO_GATE | journal)
    ids = set()
    for n in range(5):
        answer = remember_about_project(
            vault, "boat", f"Fact number {n} about the keel", "journal", summary="What happened"
        )
        ids.add(answer.note_id)
    text = on_disk("projects/boat/agent-memory/Journal.md")
    assert len(re.findall(r"^---$", text, re.MULTILINE)) == 2
    assert len(re.findall(r"^id:", text, re.MULTILINE)) == 1
    assert len(re.findall(r"^summary:", text, re.MULTILINE)) == 1
    assert "Plain text, no properties.\n" in text
    assert len(bullets(text)) == 5
    assert len(ids) == 1


def test_the_id_by_which_a_note_is_known_is_the_one_it_gets(opened, vault_dir, on_disk):
    vault = opened({"agent-memory/food.md": "- rye bread\n"})
    known = get_note(vault, "food").note_id
    (vault_dir / "agent-memory/food.md").rename(vault_dir / "agent-memory/meals.md")
    assert get_note(vault, "meals").note_id == known
    answer = remember_about_user(vault, "hates liquorice", "meals")
    assert answer.note_id == known
    assert f"id: {known}\n" in on_disk("agent-memory/meals.md")


def test_an_id_of_another_scheme_stays_the_owners(opened, on_disk):
    note = "---\nid: 2019-03 meals\ncategory: Meals\n---\n- Eats early. ^aaaaaa\n"
    vault = opened({"agent-memory/meals.md": note})
    answer = remember_about_user(vault, "Tea without sugar.", category="meals")
    assert on_disk("agent-memory/meals.md").startswith(note)
    assert get_note(vault, "meals").note_id == answer.note_id


def test_fm_05_a_note_with_broken_frontmatter_is_named_and_left_alone(opened, on_disk):
    broken = "---\ntitle: Boiler\nhint: valve: quarter turn: left\n---\n# Food\n"
    vault = opened({"agent-memory/food.md": broken})
    with pytest.raises(NoteUnusable) as refused:
        remember_about_user(vault, "hates liquorice", "food")
    assert refused.value.path == "agent-memory/food.md"
    assert "agent-memory/food.md cannot be used" in str(refused.value)
    assert on_disk("agent-memory/food.md") == broken


def test_a_failure_below_names_the_note(opened, monkeypatch):
    def unusable(*_, **__):
        raise NoteUnusable("", "it would not read back")

    vault = opened({"agent-memory/food.md": "- rye bread\n"})
    monkeypatch.setattr("zibaldone.tools.policy.writing.append_observation", unusable)
    with pytest.raises(NoteUnusable, match=r"^agent-memory/food\.md cannot be used: it would not"):
        remember_about_user(vault, "hates liquorice", "food")
    with pytest.raises(NoteUnusable, match=r"^agent-memory/new\.md cannot be used: it would not"):
        remember_about_user(vault, "hates liquorice", "new")


def test_fields_and_tags_are_in_the_line(opened, on_disk):
    vault = opened(caller=Caller(origin="owner"))
    answer = remember_about_user(
        vault,
        "The staging API is slow",
        type="episodic",
        tags=["work/api", "#slow"],
        derived_from=["m3k9f2", "q81xz0"],
        expires="2999-01-31",
    )
    line = (
        "- The staging API is slow #work/api #slow [type:: episodic] [origin:: owner] "
        f"[expires:: 2999-01-31] [derived_from:: m3k9f2, q81xz0] ^{answer.observation_id}"
    )
    assert bullets(on_disk("agent-memory/general.md")) == [line]


def test_the_summary_is_kept_up(opened, on_disk):
    vault = opened()
    assert remember_about_user(vault, "a b c", "x", summary="What x\nis").summary_updated
    assert "summary: What x is\n" in on_disk("agent-memory/x.md")
    assert not remember_about_user(vault, "d e f", "x", summary="What x is").summary_updated
    assert remember_about_user(vault, "g h i", "x", summary="Other").summary_updated
    assert "summary: Other\n" in on_disk("agent-memory/x.md")


# Refusals


@pytest.mark.parametrize("text", ["", " \n ", "a\0b", "\ud800", "x" * 4097, "é" * 2049])
def test_mm_13_a_refused_fact_changes_nothing(opened, vault_dir, text):
    vault = opened({"agent-memory/general.md": "- before\n"})
    before = (vault_dir / "agent-memory/general.md").read_bytes()
    with pytest.raises(ObservationRefused):
        remember_about_user(vault, text)
    assert (vault_dir / "agent-memory/general.md").read_bytes() == before
    assert [p.name for p in vault_dir.iterdir()] == ["agent-memory"]
    assert search(vault, text).results == ()


def test_mm_13_a_note_that_would_grow_too_large_to_be_read_is_left_as_it_is(
    opened, on_disk, monkeypatch
):
    before = f"- quartz\n\n{'x' * 2000}\n"
    vault = opened({"agent-memory/general.md": before})
    monkeypatch.setattr("zibaldone.vault.note.MAX_BYTES", 2048)
    with pytest.raises(NoteUnusable, match=r"general\.md cannot be used: it would be larger"):
        remember_about_user(vault, "A fact that would go over it")
    assert on_disk("agent-memory/general.md") == before
    assert search(vault, "quartz").total == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"type": "rumour"},
        {"tags": ["two words"]},
        {"tags": ["123"]},
        {"tags": ["a]b"]},
        {"derived_from": ["a b"]},
        {"derived_from": ["x]"]},
        {"expires": "tomorrow"},
        {"expires": "2027-02-30"},
        {"summary": "x" * 501},
    ],
)
def test_an_argument_that_cannot_be_written_is_refused(opened, vault_dir, arguments):
    vault = opened()
    with pytest.raises(InvalidArgument):
        remember_about_user(vault, "A fact", **arguments)
    assert list(vault_dir.iterdir()) == []


CLIMBING = [
    "../out",
    "a/../../out",
    "..\\out",
    "%2e%2e/out",
    "/etc",
    ".",
    "..",
    "",
    "a\0b",
    "C:\\x",
]


@pytest.mark.parametrize("name", CLIMBING)
def test_sc_01_no_category_and_no_project_leads_out(opened, vault_dir, name):
    vault = opened()
    before = sorted(vault_dir.parent.rglob("*"))
    with pytest.raises(CategoryRefused):
        remember_about_user(vault, "A fact", name)
    with pytest.raises(PathRefused):
        remember_about_project(vault, name, "A fact")
    assert sorted(vault_dir.parent.rglob("*")) == before


@pytest.mark.parametrize("project", ["a/b", ".git", ".zibaldone", "CON", "x .", "agent\u2215x"])
def test_a_project_is_a_plain_visible_folder(opened, vault_dir, project):
    vault = opened({"projects/.git/config": "", "projects/.zibaldone/x": ""})
    with pytest.raises(PathRefused):
        remember_about_project(vault, project, "A fact")
    assert not list(vault_dir.rglob("*.md"))


def test_a_project_that_the_owner_named_is_taken_as_it_is(opened):
    vault = opened({"projects/Acme Inc./Plan.md": "plan\n"})
    answer = remember_about_project(vault, "acme inc.", "Ships on Fridays")
    assert answer.path == "projects/Acme Inc./agent-memory/general.md"
    assert search(vault, "ships", project="ACME INC.").total == 1


def test_a_refused_category_tells_the_known_ones_but_for_muted(opened):
    vault = opened(
        {
            "agent-memory/food.md": "- a\n",
            "agent-memory/secret.md": "---\nmuted: true\n---\n- b\n",
            "projects/x/agent-memory/plans.md": "- c\n",
        }
    )
    with pytest.raises(CategoryRefused) as refused:
        remember_about_user(vault, "A fact", "a/b")
    assert refused.value.known == ("food",)


@pytest.mark.parametrize("pattern", ["agent-memory", "agent-memory/*", "*/food.md"])
def test_nothing_is_written_where_it_would_not_be_found(opened, vault_dir, pattern):
    vault = opened({"zibaldone.toml": f'ignore = ["{pattern}"]\n', "agent-memory/food.md": "- a\n"})
    with pytest.raises(PathRefused, match="ignored"):
        remember_about_user(vault, "A fact", "food")
    assert (vault_dir / "agent-memory/food.md").read_text() == "- a\n"


def test_sc_05_a_symlink_does_not_choose_the_place(opened, fill, vault_dir, tmp_path):
    fill({"notes/a.md": "- a\n"})
    (tmp_path / "outside").mkdir()
    (vault_dir / "agent-memory").symlink_to(vault_dir / "notes")
    (vault_dir / "projects").mkdir()
    (vault_dir / "projects/x").symlink_to(tmp_path / "outside")
    vault = opened()
    for remember in (
        lambda: remember_about_user(vault, "A fact", "a"),
        lambda: remember_about_user(vault, "A fact", "new"),
        lambda: remember_about_project(vault, "x", "A fact"),
    ):
        with pytest.raises(PathRefused):
            remember()
    assert list((tmp_path / "outside").iterdir()) == []
    assert [p.name for p in (vault_dir / "notes").iterdir()] == ["a.md"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_a_typed_failure(opened, vault_dir):
    vault = opened({"agent-memory/food.md": "- a\n"})
    (vault_dir / "agent-memory").chmod(0o500)
    try:
        with pytest.raises(StorageFailed):
            remember_about_user(vault, "A fact", "food")
    finally:
        (vault_dir / "agent-memory").chmod(0o700)


def test_a_full_disk_is_a_typed_failure_and_nothing_is_claimed(opened, vault_dir, monkeypatch):
    vault = opened({"agent-memory/food.md": "- a\n"})

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched, pytest.raises(StorageFailed, match="No space left"):
        patched.setattr("os.fsync", full)
        remember_about_user(vault, "A fact", "food")
    assert (vault_dir / "agent-memory/food.md").read_text() == "- a\n"
    assert [p.name for p in (vault_dir / "agent-memory").iterdir()] == ["food.md"]


# Any text


SIGNS = "#-+*>|`~=[]()!^:%\\_.1) \t\n"
TEXTS = st.text(st.one_of(st.sampled_from(SIGNS), st.characters(exclude_categories=["Cs", "Cc"])))
LINES = st.lists(
    st.sampled_from(
        [
            "# a",
            "---",
            "- b",
            "1. c",
            "[type:: identity]",
            "^abc",
            "```",
            "%% x",
            "",
            "  deep",
            "text",
        ]
    )
).map("\n".join)


@pytest.fixture(scope="module")
def one_vault(tmp_path_factory):
    """One vault for all examples of a property: no other category may be touched by any."""
    folder = tmp_path_factory.mktemp("property")
    (folder / "agent-memory").mkdir()
    (folder / "agent-memory/other.md").write_text("# Other\n\n- stays ^st4ys\n")
    (folder / "zibaldone.toml").write_text(NO_GATE["zibaldone.toml"])
    environment = pytest.MonkeyPatch()
    environment.setenv("ZIBALDONE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    with Vault.open(folder, caller=Caller(origin="agent")) as vault:
        environment.undo()
        yield vault


@pytest.mark.slow
@hypothesis_settings(max_examples=150)
@given(text=st.one_of(TEXTS, LINES, st.tuples(TEXTS, LINES).map("\n".join)))
def test_any_text_comes_back_the_same_and_is_no_structure(one_vault, text):
    try:
        wanted = canonical(text)
    except ObservationRefused:
        return
    answer = remember_about_user(one_vault, text, "any")
    note = get_note(one_vault, answer.path)
    found = {one.observation_id: one.text for one in note.observations}
    if answer.outcome == "skipped":
        assert answer.observation_id in found
    else:
        assert found[answer.observation_id] == wanted
    assert [heading.text for heading in note.outline] == ["any"]
    assert set(note.frontmatter) == {"id", "category"}
    assert len(found) == len(note.observations)
    part = get_note(one_vault, f"{answer.path}#^{answer.observation_id}")
    assert [one.text for one in part.observations] == [found[answer.observation_id]]


# At once


@pytest.mark.slow
def test_mm_03_twenty_threads_at_once(opened, on_disk):
    vault = opened(NO_GATE)

    def remember(n):
        return remember_about_project(vault, "boat", f"Bolt number {n} of the keel", "parts")

    with ThreadPoolExecutor(20) as threads:
        answers = list(threads.map(remember, range(20)))
    assert sorted(one.outcome for one in answers) == ["appended"] * 19 + ["created"]
    lines = bullets(on_disk("projects/boat/agent-memory/parts.md"))
    assert {line.rpartition("^")[2] for line in lines} == {one.observation_id for one in answers}
    note = get_note(vault, "projects/boat/agent-memory/parts.md")
    assert note.problem is None
    assert sorted(one.text for one in note.observations) == sorted(
        f"Bolt number {n} of the keel" for n in range(20)
    )
    assert search(vault, "keel", limit=100).more is False
    assert len(search(vault, "keel", limit=100).results) == 20


WRITER = """
import sys
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.vault import Caller, Vault

folder, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Vault.open(folder, caller=Caller(agent=name)) as vault:
    for n in range(count):
        spelling = ("parts", "Part", "PARTS")[n % 3]
        answer = remember_about_user(vault, f"{name} fits bolt {n} of the keel", spelling)
        print(answer.outcome, answer.observation_id, n, flush=True)
"""


def writer(vault_dir, name, count):
    command = [sys.executable, "-c", WRITER, str(vault_dir), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_eight_processes_lose_nothing(vault_dir, opened, fill):
    fill(NO_GATE)
    processes = [writer(vault_dir, f"w{n}", 50) for n in range(8)]
    acknowledged = set()
    for process in processes:
        output = process.communicate(timeout=300)[0]
        assert process.returncode == 0
        for line in output.splitlines():
            outcome, identifier, _ = line.split()
            assert outcome in ("created", "appended")
            acknowledged.add(identifier)
    assert len(acknowledged) == 400
    (note,) = (vault_dir / "agent-memory").iterdir()
    lines = bullets(note.read_text())
    assert {line.rpartition("^")[2] for line in lines} == acknowledged
    assert len(lines) == 400
    vault = opened()
    found = {one.observation_id for one in get_note(vault, "parts").observations}
    assert found == acknowledged
    assert search(vault, "w7 fits bolt 49").results[0].snippet == "w7 fits bolt 49 of the keel"


@pytest.mark.slow
def test_kill_9_at_any_instant_loses_nothing_acknowledged(vault_dir, opened, fill):
    """The process is killed after it has acknowledged some, somewhere in its next write."""
    fill(NO_GATE)
    acknowledged = {}
    for turn in range(12):
        process = writer(vault_dir, f"k{turn}", 1000)
        for _ in range(2 + turn % 3):
            _, identifier, number = process.stdout.readline().split()
            acknowledged[identifier] = f"k{turn} fits bolt {number} of the keel"
        time.sleep(turn * 0.0021)
        process.send_signal(signal.SIGKILL)
        for line in process.stdout:
            if line.endswith("\n"):
                _, identifier, number = line.split()
                acknowledged[identifier] = f"k{turn} fits bolt {number} of the keel"
        process.wait(10)
        text = Path(vault_dir, "agent-memory/parts.md").read_text()
        assert text.endswith("\n")
        lines = {line.rpartition(" ^")[2]: line for line in bullets(text)}
        for identifier, fact in acknowledged.items():
            assert lines[identifier].startswith(f"- {fact}")
        with Vault.open(vault_dir) as vault:
            last = list(acknowledged)[-1]
            hits = search(vault, acknowledged[last], limit=5).results
            assert last in {hit.observation_id for hit in hits}
    vault = opened()
    assert remember_about_user(vault, "Written after all that", "parts").outcome == "appended"
    assert "Written after all that" in recall(vault, "written after all that").context

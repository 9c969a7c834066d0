"""The sample vault is what it promises: whole, bilingual, linked, and readable by other programs.

The first half reads the files with PyYAML and a few patterns only, as a stranger's program would.
"""

import dataclasses
import json
import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
import yaml
from zibaldone.indexer.resolve import Names, Resolver
from zibaldone.vault.layout import open_layout
from zibaldone.vault.memory import observations
from zibaldone.vault.note import read_note
from zibaldone.vault.settings import Settings

REPOSITORY = Path(__file__).parents[1]
VAULT = REPOSITORY / "sample-vault"
QUESTIONS = json.loads(
    (REPOSITORY / "tests/data/sample_questions.json").read_text(encoding="utf-8")
)

UNRESOLVED = {("inbox/Ideas sueltas.md", "Taller de verano 2027")}
"""The one link that leads nowhere, on purpose: a note that she has not written yet."""

CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]+`|^ {4}\S.*?$", re.MULTILINE | re.DOTALL)
WIKILINK = re.compile(r"!?\[\[([^\]|\\#]*)(?:#([^\]|\\]*))?(?:\\?\|[^\]]*)?\]\]")
NOTE_ID = re.compile(r"[a-hjkmnp-tv-z][0-9a-hjkmnp-tv-z]{11}")
LINE = re.compile(
    r"(?P<text>[^\[\s](?:(?!:: |\[\w+: | \^).)*?)(?P<fields>(?: \[[a-z_]+:: [^\]]+\])*)"
    r"(?: \^(?P<id>[a-hjkmnp-tv-z][0-9a-hjkmnp-tv-z]{5}))?"
)


def relative_paths(pattern):
    """The files that fit, relative to the vault."""
    return sorted(path.relative_to(VAULT).as_posix() for path in VAULT.rglob(pattern))


def split(path):
    """The properties and the body of a note."""
    text = (VAULT / path).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    if not text.startswith("---\n"):
        return {}, text
    block, body = text[4:].split("\n---\n", 1)
    return yaml.safe_load(block), body


NOTES = {path: split(path) for path in relative_paths("*.md") if path.split("/")[0] != "templates"}
"""Every note by its path; the settings of the vault leave its templates out."""

FILES = {path.removesuffix(".md").casefold(): path for path in relative_paths("*.*")}
"""Every file, notes and attachments, by the name that a link may use."""

MEMORY = [path for path in NOTES if "agent-memory" in path.split("/")]
USER_DOCS = [path for path in NOTES if path not in MEMORY]


def aliases(properties):
    """The aliases of a note, which may be a list or one text."""
    value = properties.get("aliases", [])
    return [value] if isinstance(value, str) else value


def items(path):
    """The top-level list items of a note, continuation lines joined."""
    found = []
    for line in NOTES[path][1].splitlines():
        if line.startswith("- "):
            found.append(line[2:])
        elif line.startswith("  ") and found:
            found[-1] += "\n" + line[2:]
    return found


def destinations(target, source):
    """The notes and attachments that a link target fits."""
    wanted = (target or source.removesuffix(".md")).casefold()
    by_path = [path for name, path in FILES.items() if f"/{name}".endswith(f"/{wanted}")]
    by_alias = [
        path
        for path, (properties, _) in NOTES.items()
        if wanted in (alias.casefold() for alias in aliases(properties))
    ]
    return by_path or by_alias


def has_anchor(path, anchor):
    """Whether a note has the heading or the block that an anchor names."""
    body = NOTES[path][1]
    if anchor.startswith("^"):
        return re.search(rf" {re.escape(anchor)}$", body, re.MULTILINE) is not None
    return re.search(rf"^#+ {re.escape(anchor)}$", body, re.MULTILINE) is not None


def links():
    """Every wikilink outside of code: source, target, anchor."""
    for path, (_, body) in NOTES.items():
        for target, anchor in WIKILINK.findall(CODE.sub("", body)):
            yield path, target, anchor


def test_it_is_large_enough_and_of_both_axes():
    assert len(USER_DOCS) >= 40
    assert sum(path.startswith("agent-memory/") for path in MEMORY) >= 5
    assert len({path.split("/")[1] for path in MEMORY if path.startswith("projects/")}) == 3
    assert {path.split("/")[0] for path in USER_DOCS} >= {"inbox", "daily", "areas", "recipes"}


def test_it_is_written_in_english_and_spanish():
    common = {"en": {"the", "and", "with", "of"}, "es": {"el", "los", "con", "que"}}
    spoken = Counter()
    for path in NOTES:
        words = re.findall(r"\w+", NOTES[path][1].casefold())
        counts = {tongue: sum(w in few for w in words) for tongue, few in common.items()}
        spoken[max(counts, key=counts.__getitem__)] += 1
    assert min(spoken["en"], spoken["es"]) >= 20


def test_ids_are_valid_and_unique():
    ids = [properties["id"] for properties, _ in NOTES.values() if "id" in properties]
    assert all(NOTE_ID.fullmatch(note_id) for note_id in ids)
    assert max(Counter(ids).values()) == 1
    assert all("id" in NOTES[path][0] for path in MEMORY)
    assert any("id" not in NOTES[path][0] for path in USER_DOCS)


def test_every_link_but_one_leads_to_one_place():
    found = {(source, target): destinations(target, source) for source, target, _ in links()}
    assert {link for link, places in found.items() if not places} == UNRESOLVED
    assert [link for link, places in found.items() if len(places) > 1] == []


def test_every_anchor_is_there():
    missing = [
        (source, target, anchor)
        for source, target, anchor in links()
        if anchor and not has_anchor(destinations(target, source)[0], anchor)
    ]
    assert missing == []


def test_every_user_doc_is_linked_with_another():
    joined = {
        path for source, target, _ in links() for path in (source, *destinations(target, source))
    }
    assert set(USER_DOCS) - joined == set()


def test_memory_lines_follow_the_format():
    for path in MEMORY:
        properties, _ = NOTES[path]
        assert {"id", "category", "summary"} <= set(properties)
        parsed = [LINE.fullmatch(item.replace("\n", " ")) for item in items(path)]
        assert len(parsed) >= 2 and all(parsed), path
        ids = [line["id"] for line in parsed if line["id"]]
        assert len(ids) == len(set(ids)) > 0


def test_memory_shows_every_kind_of_line():
    lines = [item for path in MEMORY for item in items(path)]
    for mark in ("[type:: ", "[expires:: ", "[origin:: owner]", "[status:: ", "[derived_from:: "):
        assert any(mark in line for line in lines), mark
    assert any("\n" in line for line in lines)
    assert any(not re.search(r" \^\w{6}$", line) for line in lines)
    assert sum("[[" in line for line in lines) >= 20
    assert any(NOTES[path][0].get("muted") is True for path in MEMORY)


@pytest.mark.parametrize(
    "mark",
    [
        r"!\[\[[^\]]+#",
        r"!\[\[[^\]]+\.svg",
        r"^\|.*\\\|",
        r"^> \[!",
        r"^- \[ \] ",
        r"^\[\^\w+\]: ",
        r"\[\[#",
        r"\]\([^)]+%20[^)]+\.md",
        r"\]\(<[^>]+ [^>]+\.md",
        r"#\^",
        r"(?<=\s)#[a-z]+",
    ],
)
def test_it_shows_what_such_vaults_hold(mark):
    assert any(re.search(mark, NOTES[path][1], re.MULTILINE) for path in USER_DOCS)


def test_some_files_have_unusual_bytes():
    raw = {path: (VAULT / path).read_bytes() for path in NOTES}
    assert [path for path in raw if b"\r\n" in raw[path]] == ["reading/Reader highlights.md"]
    assert b"\n" not in raw["reading/Reader highlights.md"].replace(b"\r\n", b"")
    bom = [path for path in raw if raw[path].startswith(b"\xef\xbb\xbf")]
    assert bom == ["inbox/Presupuesto de cuerdas.md"]
    assert sum(not raw[path].removeprefix(b"\xef\xbb\xbf").startswith(b"---") for path in raw) >= 3
    assert all(path == unicodedata.normalize("NFC", path) for path in raw)


def test_questions_name_notes_that_are_there_and_linked():
    for case in QUESTIONS["questions"]:
        memory, *neighbours = case["expect"]
        assert memory in MEMORY and neighbours
        linked = {
            place
            for source, target, _ in links()
            if source == memory
            for place in destinations(target, source)
        }
        assert set(neighbours) <= linked, case["question"]
    assert len(QUESTIONS["questions"]) >= 3


def test_searches_name_notes_that_are_there():
    assert len(QUESTIONS["searches"]) >= 15
    assert {case["expect"] for case in QUESTIONS["searches"]} <= set(NOTES)


@pytest.fixture(scope="module")
def notes():
    """Every note as the product reads it."""
    layout = open_layout(VAULT)
    return {entry.path: read_note(layout, entry.path) for entry in layout.walk()}


def test_the_product_sees_the_same_notes_and_no_problem(notes):
    assert sorted(notes) == sorted(NOTES)
    assert {path: note.problem for path, note in notes.items() if note.problem} == {}
    assert {path for path in notes if notes[path].place.note_class == "agent-memory"} == set(MEMORY)


def test_the_product_reads_every_memory_line(notes):
    for path in MEMORY:
        found = observations(notes[path])
        assert len(found) == len(items(path)), path
        assert all("::" not in observation.text for observation in found), path
        assert [observation.id for observation in found if not observation.id] == [
            "" for item in items(path) if not re.search(r" \^\w{6}$", item)
        ]


def test_expired_unreviewed_and_stale_lines_are_told_apart(notes):
    found = [observation for path in MEMORY for observation in observations(notes[path])]
    assert {observation.status for observation in found} == {"", "unreviewed", "stale"}
    assert sum("" < observation.expires < "2026-11-30" for observation in found) == 1
    assert sum(observation.expires > "2031" for observation in found) >= 2
    assert {observation.type for observation in found} >= {"episodic", "procedural", "identity"}


def test_the_product_resolves_the_links_as_the_files_say(notes):
    resolver = Resolver(
        Names(path, id=note.id, title=note.title, aliases=note.aliases)
        for path, note in notes.items()
    )
    lost = {
        (path, link.target)
        for path, note in notes.items()
        for link in note.structure.links
        if resolver.link(link.target, path) is None
        and not (VAULT / "attachments" / link.target).exists()
    }
    assert lost == UNRESOLVED
    assert (
        sum(link.kind == "markdown" for note in notes.values() for link in note.structure.links)
        >= 3
    )


def test_its_settings_name_every_key_with_a_comment():
    text = (VAULT / "zibaldone.toml").read_text(encoding="utf-8")
    commented = re.findall(r"^# .+\n(\w+) = ", text, re.MULTILINE)
    assert commented == [field.name for field in dataclasses.fields(Settings)]
    assert open_layout(VAULT).settings.ignore == ("templates",)

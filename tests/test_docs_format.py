"""The specification of the format is true: every marked example is read as the page says.

A fence marked `example=…` is a file or a table of facts; the `expect=…` fence of the same name
holds what must be found in it.
"""

import dataclasses
import json
import re
import tomllib
from pathlib import Path

import pytest
from zibaldone.indexer.resolve import Names, Resolver
from zibaldone.tools.shell import AGENT_SHELLS
from zibaldone.vault.categories import category_key, file_name
from zibaldone.vault.frontmatter import MAX_BYTES as MAX_FRONTMATTER
from zibaldone.vault.ids import derived_id
from zibaldone.vault.layout import open_layout
from zibaldone.vault.memory import (
    append_observation,
    canonical,
    decode,
    encode,
    new_memory_source,
    observations,
)
from zibaldone.vault.note import MAX_BYTES as MAX_NOTE
from zibaldone.vault.note import parse_note
from zibaldone.vault.settings import Settings, parse_settings
from zibaldone.vault.store import TEMPORARY_ENDING

REPOSITORY = Path(__file__).parents[1]
FORMAT = (REPOSITORY / "docs/format.md").read_text(encoding="utf-8")
SETTINGS = (REPOSITORY / "docs/settings.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```\w+ (example|expect)=([\w-]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TABLE_KEY = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)

FENCES = {(kind, name): text for kind, name, text in FENCE.findall(FORMAT + SETTINGS)}
FILES = sorted(name for kind, name in FENCES if kind == "expect")
DEFAULTS = {
    "type": "semantic",
    "origin": "agent",
    "status": "active",
    "expires": "",
    "derived_from": [],
    "tags": [],
}


def table(name):
    """The facts of an example in JSON."""
    return json.loads(FENCES["example", name])


@pytest.fixture
def read(vault_dir):
    """Read an example as a memory note."""
    layout = open_layout(vault_dir)
    return lambda name: parse_note(
        layout, f"agent-memory/{name}.md", FENCES["example", name].encode()
    )


def facts(note):
    """All that an expectation may name."""
    return {
        "id": note.id,
        "title": note.title,
        "aliases": list(note.aliases),
        "tags": list(note.tags),
        "properties": dict(note.properties),
        "category": note.category,
        "observations": [told(observation) for observation in observations(note)],
    }


def told(observation):
    """What the page says of one observation, its defaults filled in."""
    found = {name: getattr(observation, name) for name in ("id", "text", *DEFAULTS)}
    lists = {name: list(value) for name, value in found.items() if isinstance(value, tuple)}
    return found | lists | {"status": observation.status or DEFAULTS["status"]}


@pytest.mark.parametrize("name", FILES)
def test_an_example_is_read_as_the_page_says(name, read):
    expected = json.loads(FENCES["expect", name])
    if "observations" in expected:
        expected["observations"] = [DEFAULTS | item for item in expected["observations"]]
    note = read(name)
    found = facts(note)
    assert {key: found[key] for key in expected} == expected
    assert note.problem is None


def test_every_file_has_an_expectation_and_every_fence_a_test():
    examples = {name for kind, name in FENCES if kind == "example"}
    tables = {
        "derived-ids",
        "escapes",
        "category-files",
        "same-category",
        "other-category",
        "links",
    }
    assert examples == {*FILES, *tables, "settings"}


@pytest.mark.parametrize("name", ["memory-note", "several-lines", "fields"])
def test_what_tools_write_is_what_the_page_shows(name, read):
    """Each line of an agent, appended again to an empty note, is the line on the page."""
    note = read(name)
    for observation in observations(note):
        if not observation.id:
            continue
        empty = new_memory_source("Preferences", "", "x1x1x1x1x1x1")
        written = append_observation(
            empty, observation.text, id=observation.id, fields=observation.fields
        )
        line = note.body[observation.start : observation.end]
        assert written.text == f"{empty.text.rstrip()}\n\n{line}\n"


def test_the_head_of_a_new_memory_note_is_the_one_on_the_page():
    page = FENCES["example", "memory-note"]
    summary = "How she likes editors, reports and commit messages"
    source = new_memory_source("Preferences", summary, "7k2m9qx4tb1c")
    assert page.startswith(source.text.rstrip() + "\n\n- ")


def test_ids_are_derived_as_the_page_says():
    assert {path: derived_id(path) for path in table("derived-ids")} == table("derived-ids")


@pytest.mark.parametrize(("text", "written"), table("escapes"))
def test_escapes_are_those_of_the_page(text, written):
    assert encode(canonical(text)) == written
    assert decode(written) == text


def test_categories_have_the_files_of_the_page():
    assert {label: file_name(label) for label in table("category-files")} == table("category-files")


def test_labels_are_the_same_category_or_not_as_the_page_says():
    assert all(category_key(one) == category_key(two) for one, two in table("same-category"))
    assert all(category_key(one) != category_key(two) for one, two in table("other-category"))


def test_links_lead_where_the_page_says():
    example = table("links")
    aliases = example["aliases"]
    resolver = Resolver(
        Names(path, id=path, title=Path(path).stem, aliases=aliases.get(path, ()))
        for path in example["notes"]
    )
    found = [
        [source, target, resolver.link(target, source)] for source, target, _ in example["links"]
    ]
    assert found == example["links"]


def test_limits_are_those_of_the_page():
    assert MAX_FRONTMATTER == 65_536 and "65,536 bytes" in FORMAT
    assert MAX_NOTE == 8 * 1024**2 and "8 MiB" in FORMAT
    assert canonical("x" * 4096) and "4,096 bytes" in FORMAT
    assert f"ends with `{TEMPORARY_ENDING}`" in FORMAT


def test_the_settings_page_names_every_key_and_default():
    written = re.findall(r"^\| `([a-z_]+)` \|.*?\| `([^`]+)` \|", SETTINGS, re.MULTILINE)
    defaults = {key: tomllib.loads(f"value = {value}")["value"] for key, value in written}
    assert defaults.keys() == {field.name for field in dataclasses.fields(Settings)}
    assert parse_settings(defaults, "the page") == Settings()


def test_the_example_of_settings_is_accepted():
    example = tomllib.loads(FENCES["example", "settings"])
    assert parse_settings(example, "zibaldone.toml").ignore == tuple(example["ignore"])


def test_the_settings_page_names_every_variable():
    sources = [
        path.read_text()
        for room in ("vault", "indexer", "tools", "lenses")
        for path in (REPOSITORY / room).glob("*.py")
    ]
    used = {name for text in sources for name in re.findall(r"\bZIBALDONE_[A-Z_]+\b", text)}
    assert used == set(TABLE_KEY.findall(SETTINGS)) - {
        field.name for field in dataclasses.fields(Settings)
    }
    assert all(f"`{name}`" in SETTINGS for name in AGENT_SHELLS)

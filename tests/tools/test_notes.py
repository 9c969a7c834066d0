"""Single notes: found by any name, read as they are on disk, made in place, edited exactly."""

import os
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from zibaldone.tools import notes
from zibaldone.tools.notes import create_note, delete_note, edit_note, get_note, list_notes
from zibaldone.tools.recall import recall
from zibaldone.tools.search import search
from zibaldone.tools.vault import OWNER, Vault
from zibaldone.vault.errors import (
    InvalidArgument,
    NoteAmbiguous,
    NoteChanged,
    NoteExists,
    NoteNotFound,
    NoteUnusable,
    PathRefused,
    SectionAmbiguous,
    SectionNotFound,
    StorageFailed,
    TextNotFound,
    TextNotUnique,
    ZibaldoneError,
)
from zibaldone.vault.note import MAX_BYTES, read_note
from zibaldone.vault.source import Source

CLIMBING = [
    "../out.md",
    "a/../../out.md",
    "..\\out.md",
    "%2e%2e/out.md",
    "/etc/hostname",
    ".",
    "..",
    "",
    "x\0y.md",
]


def files(folder):
    """The bytes of every file but those of the audit, where it is kept what agents ask."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "audit" not in path.parts
    }


# Names


@pytest.mark.parametrize("ref", ["Plan", "Plan.md", "plan", "[[Plan]]", "./Plan.md", "/Plan.md"])
def test_mc_11_the_ending_does_not_matter(opened, ref):
    vault = opened({"Plan.md": "p\n", "Pump v2.5 notes.md": "v\n"})
    assert get_note(vault, ref).path == "Plan.md"


def test_mc_11_a_dot_is_no_ending(opened, on_disk):
    vault = opened({"Pump v2.5 notes.md": "v\n"})
    assert edit_note(vault, "Pump v2.5 notes", "append", "w").outcome == "edited"
    assert on_disk("Pump v2.5 notes.md") == "v\nw\n"
    made = create_note(vault, "x", "Release 3.1", "r")
    assert made.path == "projects/x/Release 3.1.md"
    assert get_note(vault, "Release 3.1").note_id == made.note_id


def test_a_name_with_a_hash_is_a_name(opened):
    vault = opened(
        {
            "sharp.md": "---\ntitle: 'C# tips'\n---\n## Old\n\nold\n\n## New\n\nnew\n",
            "C.md": "# C\n\n## tips\n\nplain\n",
        }
    )
    assert get_note(vault, "C# tips").path == "sharp.md"
    assert get_note(vault, "C# tips#New").content.strip() == "## New\n\nnew"
    assert get_note(vault, "C#tips").content == "## tips\n\nplain\n"


def test_ed_18_a_mistyped_name_makes_nothing_and_names_the_real_one(opened, vault_dir):
    vault = opened({"Projects/Kiln.md": "Heat log.\n"})
    before = files(vault_dir)
    with pytest.raises(NoteNotFound) as refused:
        edit_note(vault, "Projects/Klin", "append", "1200 degrees")
    assert refused.value.suggestions == ("Projects/Kiln.md",)
    assert "Projects/Kiln.md" in str(refused.value)
    assert files(vault_dir) == before


def test_ed_21_a_near_match_is_never_accepted(opened, vault_dir):
    vault = opened(
        {
            "projects/x/pumps/Pump A.md": "I am A.\n",
            "a/Todo.md": "one\n",
            "b/Todo.md": "two\n",
        }
    )
    before = files(vault_dir)
    assert create_note(vault, "x", "Pump C", "new", folder="pumps").path.endswith("Pump C.md")
    with pytest.raises(NoteNotFound):
        edit_note(vault, "Pump B", "append", "x")
    with pytest.raises(NoteAmbiguous) as refused:
        edit_note(vault, "Todo", "append", "x")
    assert refused.value.candidates == ("a/Todo.md", "b/Todo.md")
    assert before.items() <= files(vault_dir).items()


@pytest.mark.parametrize("ref", ["Fresh", "Fresh.md", "deep/er/Fresh2", "deep/er/Fresh2.md#Part"])
def test_ed_20_a_note_that_is_not_in_the_index_is_found(opened, fill, ref):
    vault = opened({"Old.md": "Fresh linen\n"}, watch=True)
    assert vault.index.ready.wait(20)
    vault.index.mark = lambda paths: None  # the watcher is deaf
    fill({"Fresh.md": "Just dropped in.\n", "deep/er/Fresh2.md": "# Part\n\nTwo.\n"})
    assert get_note(vault, ref).path.endswith(".md")


@pytest.mark.parametrize("ref", ["Fresh.md", "A title of its own"])
def test_ed_20_a_note_that_is_not_in_the_index_can_be_edited(opened, fill, on_disk, ref):
    vault = opened(watch=True)
    assert vault.index.ready.wait(20)
    vault.index.mark = lambda paths: None
    fill({"Fresh.md": "---\ntitle: A title of its own\n---\nJust dropped in.\n"})
    assert edit_note(vault, ref, "append", "Quince.").outcome == "edited"
    assert on_disk("Fresh.md").endswith("Just dropped in.\nQuince.\n")
    assert search(vault, "quince").results[0].path == "Fresh.md"


@pytest.mark.parametrize("ref", CLIMBING)
@pytest.mark.parametrize(
    "call",
    [
        get_note,
        delete_note,
        lambda vault, ref: edit_note(vault, ref, "append", "x"),
        lambda vault, ref: edit_note(vault, ref, "replace", "x"),
    ],
    ids=["get", "delete", "append", "replace"],
)
def test_sc_01_a_reference_that_leads_out_reads_like_one_that_does_not_exist(
    opened, vault_dir, call, ref
):
    vault = opened({"in.md": "in\n"})
    (vault_dir.parent / "out.md").write_text("outside\n")
    before = files(vault_dir.parent / "vault")
    with pytest.raises(NoteNotFound) as refused:
        call(vault, ref)
    with pytest.raises(NoteNotFound) as missing:
        call(vault, "no such note at all")
    ours, theirs = str(refused.value), str(missing.value)
    assert ours.replace(repr(ref), "") == theirs.replace(repr("no such note at all"), "")
    assert files(vault_dir.parent / "vault") == before
    assert (vault_dir.parent / "out.md").read_text() == "outside\n"


@pytest.mark.parametrize("path", ["open/../shut/plan.md", "open\\..\\shut\\plan.md"])
def test_sc_03_a_path_that_climbs_is_no_name(opened, path):
    vault = opened({"open/tea.md": "ok\n", "shut/plan.md": "secret\n"})
    with pytest.raises(NoteNotFound):
        get_note(vault, path)
    with pytest.raises(PathRefused):
        list_notes(vault, folder=path.removesuffix("plan.md")[:-1])
    assert get_note(vault, "open/tea.md").content == "ok\n"


def test_sc_05_symlinks_lead_nowhere_else(opened, vault_dir, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("quince secret\n")
    vault_dir.joinpath("real.md").write_text("quince real\n")
    (vault_dir / "sub").mkdir()
    (vault_dir / "file.md").symlink_to(outside / "secret.md")
    (vault_dir / "folder").symlink_to(outside)
    (vault_dir / "sub/loop").symlink_to(vault_dir)
    (vault_dir / "inside.md").symlink_to(vault_dir / "real.md")
    door = tmp_path / "door"
    door.symlink_to(vault_dir)
    with Vault.open(door) as vault:
        assert [hit.path for hit in search(vault, "quince").results] == ["real.md"]
        assert [line.path for line in list_notes(vault).notes] == ["real.md"]
        for ref in ("file.md", "folder/secret.md", "secret", "sub/loop/real.md"):
            with pytest.raises(NoteNotFound):
                get_note(vault, ref)
            with pytest.raises(NoteNotFound):
                edit_note(vault, ref, "append", "x")
        with pytest.raises(PathRefused):
            create_note(vault, "../folder", "A", "x")
    assert (outside / "secret.md").read_text() == "quince secret\n"
    assert [p.name for p in outside.iterdir()] == ["secret.md"]


def test_sc_10_odd_folder_names_are_only_names(opened, vault_dir, monkeypatch):
    monkeypatch.chdir(vault_dir)
    folder = "odd $(touch hit) `x` ; 'q' & name"
    vault = opened({f"{folder}/N.md": "quince\n", "p.md": f"[[{folder}/N]]\n"})
    assert search(vault, "quince").results[0].path == f"{folder}/N.md"
    assert get_note(vault, f"{folder}/N.md").backlinks[0].path == "p.md"
    assert edit_note(vault, f"{folder}/N", "append", "more").outcome == "edited"
    assert list_notes(vault, folder=folder).total == 1
    assert delete_note(vault, f"{folder}/N").outcome == "deleted"
    assert not list(vault_dir.rglob("hit"))


def test_mc_08_a_vault_path_with_odd_characters_and_as_a_uri(tmp_path):
    folder = tmp_path / "my notes + 100% ñ"
    folder.mkdir()
    (folder / "A.md").write_text("quince\n")
    for given_as in (
        folder,
        str(folder),
        folder.as_uri(),
        f"file://localhost{folder.as_uri()[7:]}",
    ):
        with Vault.open(given_as) as vault:
            assert get_note(vault, "A").content == "quince\n"


# Reading


def test_ed_13_a_section_runs_to_the_next_real_heading(opened, on_disk):
    fence = (
        "## Setup\n\n```sh\n# first step\n## Teardown\nrun it\n```\n\nafter fence\n\n"
        "## Teardown\nreal\n\n## Notes\n\n~~~\n## Setup\n~~~\n"
    )
    vault = opened({"Fence.md": fence})
    setup = get_note(vault, "Fence#Setup")
    assert setup.content.endswith("after fence\n\n")
    assert "real" not in setup.content
    assert setup.section == "Setup"
    edit_note(vault, "Fence", "replaceSection", "gone", section="Teardown")
    assert on_disk("Fence.md") == fence.replace("real", "gone")


def test_lk_20_anchors_are_kept_and_judged(opened):
    vault = opened(
        {
            "Guide.md": "# Guide\n\n## Mix & match\n\nA line. ^pin-1\n\n## After\n",
            "Src.md": "[[Guide#Mix & match]] [[Guide#^pin-1|pin]] ![[Guide#Mix & match]] "
            "[[Guide#No such part]] [[#Local]] [[#Nowhere]] [[Gone#Part]] [[Guide#^none]]\n\n"
            "## Local\n",
        }
    )
    found = [
        (link.path, link.anchor, link.kind, link.missing) for link in get_note(vault, "Src").links
    ]
    assert found == [
        ("Guide.md", "Mix & match", "wikilink", None),
        ("Guide.md", "^pin-1", "wikilink", None),
        ("Guide.md", "Mix & match", "embed", None),
        ("Guide.md", "No such part", "wikilink", "heading"),
        ("Src.md", "Local", "wikilink", None),
        ("Src.md", "Nowhere", "wikilink", "heading"),
        (None, "Part", "wikilink", "note"),
        ("Guide.md", "^none", "wikilink", "block"),
    ]
    assert get_note(vault, "Guide#Mix & match").content == "## Mix & match\n\nA line. ^pin-1\n\n"
    assert get_note(vault, "[[Guide#^pin-1|pin]]").content == "A line. ^pin-1"
    with pytest.raises(SectionNotFound) as refused:
        get_note(vault, "Guide#No such part")
    assert "# Guide" in refused.value.headings
    with pytest.raises(SectionNotFound, match=r"\^pin-1"):
        get_note(vault, "Guide#^none")


def test_lk_16_a_hash_is_a_tag_only_where_it_stands_alone(opened):
    vault = opened(
        {
            "Tags.md": "[[Guide#Layout]] [site](https://site.invalid/p#install) "
            "<https://site.invalid/q#usage> \\#quiet `#code` #real\n\n[ask #help](Guide.md)\n",
            "Guide.md": "g\n",
        }
    )
    assert set(get_note(vault, "Tags").tags) - {"help"} == {"real"}
    assert [line.path for line in list_notes(vault, tag="real").notes] == ["Tags.md"]
    for tag in ("Layout", "install", "usage", "quiet", "code"):
        assert list_notes(vault, tag=tag).notes == ()


def test_lk_18_bullets_are_prose_and_every_link_counts_once(opened):
    vault = opened(
        {
            "Log.md": "- Brought [[Anvil]] over to [[Forge]] yesterday\n- needs [[Coal]]\n",
            "Anvil.md": "a\n",
            "Forge.md": "f\n",
            "Coal.md": "c\n",
        }
    )
    log = get_note(vault, "Log")
    assert [link.path for link in log.links] == ["Anvil.md", "Forge.md", "Coal.md"]
    assert "Brought" not in repr(log.frontmatter) + repr(log.outline) + repr(log.tags)
    for name in ("Anvil", "Forge", "Coal"):
        assert [one.path for one in get_note(vault, name).backlinks] == ["Log.md"]


def test_lk_23_case_ending_and_brackets_as_obsidian_has_them(opened):
    source = "[[Mix.MD]] [[diary]] [[DIARY]] [[Sp]ot]] [[Src]] [[https://site.invalid]]\n"
    vault = opened({"Mix.md": "e\n", "Diary.md": "l\n", "Sp]ot.md": "s\n", "Src.md": source})
    links = get_note(vault, "Src").links
    assert [link.path for link in links] == [
        "Mix.md",
        "Diary.md",
        "Diary.md",
        "Sp]ot.md",
        "Src.md",
    ]
    assert all(link.missing is None for link in links)


def test_an_attachment_is_not_taken_for_a_missing_note(opened):
    vault = opened({"a.md": "![[plan.svg]] [p](files/a%20b.pdf) [[Release 3.1]] [[b.md]]\n"})
    missing = [(link.target, link.missing) for link in get_note(vault, "a").links]
    assert missing == [
        ("plan.svg", None),
        ("files/a b.pdf", None),
        ("Release 3.1", "note"),
        ("b.md", "note"),
    ]


def test_a_memory_note_shows_its_observations(opened):
    text = (
        "# Food\n\n- rye bread ^r1\n- by hand\n- stale one [status:: stale] [type:: episodic] ^s1\n"
    )
    vault = opened({"agent-memory/food.md": f"---\nid: a23456789012\n---\n{text}"})
    note = get_note(vault.with_caller(OWNER), "food")
    assert (note.note_class, note.category, note.content) == ("agent-memory", "Food", text)
    assert [(o.text, o.line, o.origin, o.status) for o in note.observations] == [
        ("rye bread", 6, "agent", None),
        ("by hand", 7, "owner", None),
        ("stale one", 8, "agent", "stale"),
    ]
    assert note.observations[2].type == "episodic"
    assert get_note(vault, "food").observations == note.observations[:2]
    part = get_note(vault, "food#^r1")
    assert part.content == "- rye bread ^r1"
    assert [one.observation_id for one in part.observations] == ["r1"]
    assert get_note(vault, "a23456789012#^r1").path == "agent-memory/food.md"


def test_what_is_wrong_with_a_note_is_a_sentence(opened):
    vault = opened(
        {
            "Broken.md": "---\ntitle: a: b: c\n---\nBody.\n",
            "Latin.md": {"base64": "Y2Fm6SBwZXBwZXIK"},
            "Big.md": b"x" * (8 * 1024 * 1024 + 1),
        }
    )
    for name in ("Broken", "Latin", "Big"):
        told = get_note(vault, f"{name}.md").problem
        (listed,) = (one.problem for one in list_notes(vault).notes if one.path == f"{name}.md")
        assert told == listed
        assert told[0].isupper() and told.endswith(".") and "[" not in told
    assert "pepper" in get_note(vault, "Latin").content
    assert get_note(vault, "Big").content == ""


BOMB = (
    "---\na: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(
        f"{name}: &{name} [{', '.join([f'*{one}'] * 9)}]\n"
        for one, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "---\nBody with word quartz.\n"
)


def test_sc_08_nested_aliases_do_not_blow_up(opened, vault_dir):
    """In a process of its own, with 1 GB of memory and 5 seconds of computing."""
    opened({"Bomb.md": BOMB, "Other.md": "other quartz\n"})
    script = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (5, 5))\n"
        "from zibaldone.tools.api import Vault, get_note, list_notes, search\n"
        "from zibaldone.tools.wire import wire\n"
        "import json\n"
        "with Vault.open(sys.argv[1]) as vault:\n"
        "    hits = search(vault, 'quartz').results\n"
        "    note, listed = get_note(vault, 'Bomb.md'), list_notes(vault)\n"
        "    json.dumps([wire(note), wire(listed)])\n"
        "    print(len(hits), note.problem, listed.notes[0].problem, sep='|')\n"
    )
    command = [sys.executable, "-c", script, str(vault_dir)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    hits, note, listed = done.stdout.strip().split("|")
    assert hits == "2"
    assert note == listed and "frontmatter" in note
    assert (vault_dir / "Bomb.md").read_text() == BOMB


def test_sc_11_no_pattern_of_a_caller_is_run(opened):
    vault = opened({"Long.md": "a" * 4000 + "!\n", "Plus.md": f"{'x' * 5000}\n"})
    patterns = ["(x+x+)+y", "*" * 300, "[[" * 5000, "(" * 1000, "^(a|a)*$", "?" * 300, "\\" * 999]
    for pattern in patterns:
        began = time.process_time()
        search(vault, pattern)
        recall(vault, pattern)
        list_notes(vault, tag=pattern)
        for refused in (
            lambda pattern=pattern: get_note(vault, pattern),
            lambda pattern=pattern: edit_note(vault, "Long", "findReplace", "b", find=pattern),
            lambda pattern=pattern: edit_note(vault, "Long", "append", "b", section=pattern),
        ):
            with pytest.raises(ZibaldoneError):
                refused()
        assert time.process_time() - began < 2


# Lists


@pytest.mark.slow
def test_mc_10_lists_are_bounded_counted_and_continued(opened):
    vault = opened({f"notes/{n:04}.md": f"Common quince {n}.\n" for n in range(5000)})
    seen, cursor, pages = [], None, 0
    while True:
        page = list_notes(vault, limit=500, cursor=cursor)
        assert page.total == 5000
        seen += [note.path for note in page.notes]
        pages, cursor = pages + 1, page.next_cursor
        if cursor is None:
            break
    assert seen == sorted(seen) == [f"notes/{n:04}.md" for n in range(5000)]
    assert pages == 10
    found = search(vault, "quince")
    assert (len(found.results), found.total, found.more) == (20, 5000, True)
    assert len(search(vault, "quince", limit=100).results) == 100
    assert len(list_notes(vault).notes) == 50
    answer = recall(vault, "quince", budget_tokens=4000)
    assert len(answer.omitted) <= 20
    last = list_notes(vault, limit=500, cursor="notes/4999.md")
    assert (last.notes, last.next_cursor) == ((), None)


def test_mc_10_what_a_hub_has_is_bounded_and_the_rest_is_counted(opened):
    targets = {f"n{n:04}.md": "[[hub]]\n" for n in range(900)}
    body = "".join(f"## Part {n}\n\n[[n{n:04}#No such]]\n\n" for n in range(900))
    vault = opened({"hub.md": body, **targets})
    hub = get_note(vault, "hub")
    assert (len(hub.links), len(hub.backlinks), len(hub.outline)) == (500, 500, 500)
    assert hub.not_listed == {"outline": 400, "links": 400, "backlinks": 400}
    assert hub.links[0].missing == "heading"
    assert get_note(vault, "n0001").not_listed is None


def test_long_content_is_cut_and_says_so(opened):
    vault = opened({"a.md": "x" * 100_001, "b.md": "x" * 100_000})
    assert (len(get_note(vault, "a").content), get_note(vault, "a").truncated) == (100_000, True)
    assert get_note(vault, "b").truncated is False


def test_lists_are_of_user_docs_and_narrow(opened):
    vault = opened(
        {
            "agent-memory/food.md": "- a #work\n",
            "projects/x/agent-memory/plans.md": "- b #work\n",
            "projects/x/a.md": "#work/deep\n",
            "projects/x/sub/b.md": "b\n",
            "projects/Caf\u00e9/c.md": "c #Work\n",
            "d.md": "d #workshop\n",
        }
    )

    def paths(**narrow):
        return [note.path for note in list_notes(vault, **narrow).notes]

    assert len(paths()) == 4
    assert paths(project="X") == ["projects/x/a.md", "projects/x/sub/b.md"]
    assert paths(folder="projects/x/sub/") == ["projects/x/sub/b.md"]
    assert paths(folder="projects/Cafe\u0301") == ["projects/Caf\u00e9/c.md"]
    assert paths(tag="#work") == ["projects/Caf\u00e9/c.md", "projects/x/a.md"]
    assert paths(folder="agent-memory") == paths(project="nowhere") == paths(tag="none") == []


@pytest.mark.parametrize("name", CLIMBING)
def test_sc_01_no_filter_leads_out(opened, vault_dir, name):
    vault = opened({"in.md": "in\n"})
    (vault_dir.parent / "out.md").write_text("outside\n")
    with pytest.raises(PathRefused):
        list_notes(vault, project=name)
    with pytest.raises(PathRefused):
        list_notes(vault, folder=name)
    assert "out" not in repr(list_notes(vault, cursor=name, tag="x"))


# Creating


TITLES = [
    "Trip 2: packing",
    '"Quoted" start',
    "#1 choice",
    "@home list",
    "100% - done?",
    "\U0001f331 seedlings",
    "TCP/IP basics",
    "- dash",
    "null",
    "yes",
    "2026-01-01",
    "[[link]] | pipe",
    "{brace}: 'x'",
    "back`tick",
    "é and e\u0301",
    "Release 3.1",
    "con",
    "title: a",
    "!important &anchor *star",
    "%percent",
]


@pytest.mark.parametrize("title", TITLES)
def test_fm_25_any_title_reads_back_as_given(opened, title):
    vault = opened()
    made = create_note(vault, "x", title, "Body of it.\n", tags=["a", "#b/c"])
    note = read_note(vault.layout, made.path)
    assert note.problem is None
    assert note.properties == {"id": made.note_id, "title": title, "tags": ["a", "b/c"]}
    assert (note.body, made.title) == ("Body of it.\n", title)
    found = get_note(vault, made.note_id)
    assert (found.title, found.path, found.version_token) == (title, made.path, made.version_token)
    assert "\\" not in made.path and made.path.count("/") == 2


@pytest.mark.parametrize(
    "body",
    [
        '---\\nstate: boiling\\n---\\nTea time."',
        "---\nstate: boiling\n---\nTea time.\n",
        "\n\n# Kettle\r\nmixed\n",
        "---",
        "\ufeffbom\n",
        "",
        "[[a|b]] in a sentence\n\n| x | y |\n|---|---|\n| [[a\\|b]] | z |\n",
    ],
)
def test_fm_03_lk_05_a_body_is_stored_character_for_character(opened, on_disk, body):
    vault = opened()
    made = create_note(vault, "x", "Kettle", body)
    note = read_note(vault.layout, made.path)
    assert set(note.properties) == {"id", "title"}
    end = "" if not body or body.endswith("\n") else "\n"
    assert note.source.body_text == body + end
    assert on_disk(made.path).endswith(f"---\n{body}{end}")


@hypothesis_settings(max_examples=60)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_fm_03_any_body_comes_back_the_same(body):
    source = notes._new_source("Kettle", body, ())
    again = Source.parse(source.data)
    assert again.body_text in (body, f"{body}\n")


def test_mm_11_a_title_that_is_taken_is_refused_and_named(opened, on_disk):
    vault = opened({"projects/x/plans/boat-shed.md": "---\ntitle: Boat shed\n---\nold\n"})
    for title, folder in (
        ("Boat shed", "plans"),
        ("boat-shed", "plans"),
        ("Boat  Shed", None),
        ("BOAT_SHED", "other"),
    ):
        with pytest.raises(NoteExists) as refused:
            create_note(vault, "x", title, "new", folder=folder)
        assert refused.value.path == "projects/x/plans/boat-shed.md"
        assert refused.value.note_id == get_note(vault, "Boat shed").note_id
        assert "edit_note" in str(refused.value)
    assert on_disk("projects/x/plans/boat-shed.md") == "---\ntitle: Boat shed\n---\nold\n"
    assert create_note(vault, "y", "Boat shed", "other project").outcome == "created"


@pytest.mark.parametrize("title", ["caf\u00e9", "CAFE\u0301"])
def test_a_twin_on_disk_is_refused(opened, title):
    vault = opened({"projects/x/Caf\u00e9.md": "---\ntitle: Other\n---\n"})
    with pytest.raises(NoteExists) as refused:
        create_note(vault, "x", title, "new")
    assert refused.value.path == "projects/x/Caf\u00e9.md"


def test_a_title_that_came_a_moment_ago_is_seen(opened, fill):
    vault = opened({"projects/x/a.md": "a\n"}, watch=True)
    assert vault.index.ready.wait(20)
    vault.index.mark = lambda paths: None
    fill({"projects/x/b.md": "---\ntitle: Boat shed\n---\n"})
    with pytest.raises(NoteExists):
        create_note(vault, "x", "Boat shed", "new")


def test_a_title_that_has_gone_a_moment_ago_is_free(opened, vault_dir):
    vault = opened({"projects/x/deep/b.md": "---\ntitle: Boat shed\n---\n"}, watch=True)
    assert vault.index.ready.wait(20)
    vault.index.mark = lambda paths: None
    (vault_dir / "projects/x/deep/b.md").unlink()
    assert create_note(vault, "x", "Boat shed", "new").outcome == "created"


@pytest.mark.parametrize(
    "title",
    [
        *CLIMBING,
        "C:\\notes\\idea.md",
        "notes\\idea.md",
        "notes\\idea",
        "notes/idea.md",
        " ",
        "a\nb",
        "x" * 301,
        "\u2024\u2024",
        "a\u2028b",
    ],
)
def test_mc_06_sc_01_a_title_that_is_a_path_is_refused(opened, vault_dir, title):
    vault = opened()
    with pytest.raises((PathRefused, InvalidArgument)):
        create_note(vault, "x", title, "body")
    assert list(vault_dir.iterdir()) == []
    assert not (vault_dir.parent / "out.md").exists()


@pytest.mark.parametrize(
    "folder",
    [
        *CLIMBING,
        "C:\\notes",
        "notes\\idea",
        "agent-memory",
        "Agent-Memory",
        "agent-memory/deep",
        "\uff41gent-memory",
        ".hidden",
        "a/.git",
        "CON",
        "ends with dot.",
    ],
)
def test_mc_06_sc_01_no_folder_leads_out_or_into_memory(opened, vault_dir, folder):
    vault = opened()
    with pytest.raises(PathRefused):
        create_note(vault, "x", "Idea", "body", folder=folder)
    assert list(vault_dir.iterdir()) == []
    with pytest.raises(PathRefused):
        create_note(vault, folder, "Idea", "body")
    assert not list(vault_dir.rglob("*.md"))


def test_folders_that_the_owner_named_are_taken_as_they_are(opened):
    vault = opened({"projects/Acme Inc./minutes of 5./a.md": "a\n"})
    made = create_note(vault, "acme inc.", "Idea", "b", folder="minutes of 5.")
    assert made.path == "projects/Acme Inc./minutes of 5./Idea.md"
    assert list_notes(vault, project="Acme Inc.", folder="projects/Acme Inc.").total == 2


def test_no_note_is_made_where_none_is_seen(opened, vault_dir):
    vault = opened({"zibaldone.toml": 'ignore = ["drafts", "projects/x/*.tmp.md"]\n'})
    for title, folder in (("Idea", "drafts"), ("Idea", "a/drafts/b"), ("Idea.tmp", None)):
        with pytest.raises(PathRefused, match="ignored"):
            create_note(vault, "x", title, "body", folder=folder)
    assert not list(vault_dir.rglob("*.md"))


@pytest.mark.parametrize("tag", ["two words", "12", "a]b", "", "#", "x" * 101])
def test_a_tag_that_is_none_is_refused(opened, vault_dir, tag):
    with pytest.raises(InvalidArgument):
        create_note(opened(), "x", "Idea", "body", tags=[tag])
    assert list(vault_dir.iterdir()) == []


@pytest.mark.parametrize("text", ["b" * (MAX_BYTES + 1), "\0\1" * 10], ids=["large", "binary"])
def test_a_note_that_could_not_be_read_again_is_refused(opened, vault_dir, on_disk, text):
    vault = opened({"a.md": "a\n"})
    with pytest.raises(InvalidArgument, match="read again"):
        create_note(vault, "x", "Idea", text)
    for mode in ("append", "prepend", "replace"):
        with pytest.raises(InvalidArgument, match="read again"):
            edit_note(vault, "a", mode, text)
    assert on_disk("a.md") == "a\n"
    assert [p.name for p in vault_dir.iterdir()] == ["a.md"]


@pytest.mark.parametrize("text", ["half \ud83d", "\udc80"])
def test_half_a_surrogate_pair_is_refused(opened, on_disk, text):
    vault = opened({"a.md": "a\n"})
    for refused in (
        lambda: create_note(vault, "x", "Idea", text),
        lambda: create_note(vault, "x", text, "body"),
        lambda: edit_note(vault, "a", "append", text),
        lambda: edit_note(vault, "a", "findReplace", "b", find=text),
        lambda: edit_note(vault, "a", "append", "b", section=text),
    ):
        with pytest.raises(ZibaldoneError):
            refused()
    assert on_disk("a.md") == "a\n"


# Editing


def test_ed_01_a_text_that_occurs_twice_is_refused_with_its_places(opened, on_disk):
    rows = "- water: 2\n- wood: 2\n- water: 2\n"
    vault = opened({"Rows.md": rows})
    with pytest.raises(TextNotUnique) as refused:
        edit_note(vault, "Rows", "findReplace", "water: 3", find="water: 2")
    assert (refused.value.count, refused.value.lines) == (2, (1, 3))
    assert on_disk("Rows.md") == rows


@pytest.mark.parametrize("arguments", [{}, {"content": ""}])
def test_ed_05_no_replacement_deletes(opened, on_disk, arguments):
    vault = opened({"Drop.md": "keep this\ndrop this\n"})
    answer = edit_note(vault, "Drop", "findReplace", find="drop this", **arguments)
    assert on_disk("Drop.md") == "keep this\n"
    assert answer.diff == "@@ -1,2 +1 @@\n keep this\n-drop this"
    with pytest.raises(TextNotFound):
        edit_note(vault, "Drop", "findReplace", find="drop this", **arguments)
    assert on_disk("Drop.md") == "keep this\n"


NESTED = "# House\n\n## Roof\n\n### Leaks\nnorth side\n\n## Cellar\n\n### Leaks\nwest wall\n"


def test_ed_15_a_section_is_never_made_up(opened, on_disk):
    vault = opened({"Nested.md": NESTED})
    with pytest.raises(SectionAmbiguous) as ambiguous:
        edit_note(vault, "Nested", "append", "call mason", section="Leaks")
    assert ambiguous.value.candidates == ("House / Roof / Leaks", "House / Cellar / Leaks")
    with pytest.raises(SectionNotFound):
        edit_note(vault, "Nested", "append", "call mason", section="Attic")
    assert on_disk("Nested.md") == NESTED
    edit_note(vault, "Nested", "append", "call mason", section="Cellar / Leaks")
    assert on_disk("Nested.md") == f"{NESTED}call mason\n"


def test_ed_16_headings_as_they_are_written(opened, on_disk):
    vault = opened({"Daily.md": "# Day\n\n## 📝 | <b>Notes</b>\n\n## People\n- Ann\n"})
    edit_note(vault, "Daily", "append", "- Bo", section="## People")
    edit_note(vault, "Daily", "append", "- Cy", section="People")
    edit_note(vault, "Daily", "append", "x", section="## 📝 | <b>Notes</b>")
    edit_note(vault, "Daily", "append", "y", section="📝 | <b>Notes</b>")
    text = on_disk("Daily.md")
    assert text.endswith("## People\n- Ann\n- Bo\n- Cy\n")
    assert "<b>Notes</b>\nx\ny\n" in text
    with pytest.raises(SectionNotFound) as refused:
        edit_note(vault, "Daily", "append", "- Bo", section="Persons")
    assert "Day / People" in str(refused.value)


def test_sy_03_an_edit_is_made_on_what_is_on_disk(opened, fill, on_disk):
    vault = opened({"Shared.md": "old\n"})
    token = get_note(vault, "Shared").version_token
    fill({"Shared.md": "newer\n"})
    with pytest.raises(NoteChanged) as refused:
        edit_note(vault, "Shared", "append", "more", version_token=token)
    assert on_disk("Shared.md") == "newer\n"
    assert refused.value.version_token == get_note(vault, "Shared").version_token
    edit_note(vault, "Shared", "append", "more")
    assert on_disk("Shared.md") == "newer\nmore\n"
    with pytest.raises(TextNotFound):
        edit_note(vault, "Shared", "findReplace", "x", find="old")


def test_mm_06_a_part_of_a_fact_is_changed_and_the_rest_stays(opened, on_disk):
    fact = "- Lives in a flat; heating code 4711; cat is called Pim ^h1\n"
    vault = opened({"agent-memory/home.md": fact})
    edit_note(vault, "home", "findReplace", "heating code 9922", find="heating code 4711")
    assert on_disk("agent-memory/home.md") == fact.replace("4711", "9922")
    assert search(vault, "heating code").results[0].observation_id == "h1"


def test_mm_08_disk_search_and_answer_agree(opened, on_disk):
    vault = opened({"agent-memory/music.md": "- Dislikes opera ^m3k9f2\n"})
    answer = edit_note(vault, "music", "findReplace", "Enjoys opera", find="Dislikes opera")
    assert on_disk("agent-memory/music.md") == "- Enjoys opera ^m3k9f2\n"
    assert answer.version_token == get_note(vault, "music").version_token
    assert "+- Enjoys opera" in answer.diff
    assert search(vault, "Dislikes").results == ()
    assert search(vault, "opera").results[0].snippet == "Enjoys opera"


def test_an_edit_that_changes_nothing_writes_nothing(opened, vault_dir):
    vault = opened({"a.md": "a\n"})
    before = (vault_dir / "a.md").stat()
    answer = edit_note(vault, "a", "findReplace", "a", find="a")
    assert (answer.outcome, answer.diff) == ("unchanged", None)
    assert (vault_dir / "a.md").stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize(
    ("mode", "arguments", "named"),
    [
        ("findReplace", {}, "find"),
        ("append", {"find": "a"}, "find"),
        ("replaceSection", {}, "section"),
        ("prepend", {"section": "a"}, "section"),
        ("findReplace", {"find": "a", "section": "b"}, "section"),
        ("findReplace", {"find": " "}, "find"),
    ],
)
def test_arguments_that_do_not_belong_together_are_refused(opened, mode, arguments, named):
    vault = opened({"a.md": "a\n"})
    with pytest.raises(InvalidArgument) as refused:
        edit_note(vault, "a", mode, "x", **arguments)
    assert refused.value.argument == named


def test_a_part_of_a_note_is_not_deleted_or_edited_as_the_whole(opened, on_disk):
    vault = opened({"a.md": "# One\n\n# Two\n"})
    for call in (delete_note, lambda vault, ref: edit_note(vault, ref, "replace", "x")):
        with pytest.raises(InvalidArgument, match="'Two'"):
            call(vault, "a#Two")
    assert on_disk("a.md") == "# One\n\n# Two\n"


def test_a_binary_or_huge_note_is_not_edited(opened, vault_dir):
    huge = b"x\n" * (4 * 1024 * 1024 + 1)
    vault = opened({"Bin.md": bytes(range(256)) * 20, "Huge.md": huge})
    before = files(vault_dir)
    for name in ("Bin.md", "Huge.md"):
        with pytest.raises(NoteUnusable) as refused:
            edit_note(vault, name, "append", "x")
        assert refused.value.path == name
    assert files(vault_dir) == before


PIECES = [
    "quince",
    "# a",
    "- b",
    "\r\n",
    "\n",
    "\n\n",
    "é",
    "e\u0301",
    " ",
    "```",
    "^id",
    "[[x]]",
    "|",
]
BYTES = st.lists(
    st.one_of(st.sampled_from(PIECES).map(str.encode), st.binary(max_size=3)), max_size=30
).map(b"".join)


@pytest.fixture(scope="module")
def one_vault(tmp_path_factory):
    folder = tmp_path_factory.mktemp("property")
    environment = pytest.MonkeyPatch()
    environment.setenv("ZIBALDONE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    with Vault.open(folder) as vault:
        environment.undo()
        yield vault


@pytest.mark.slow
@hypothesis_settings(max_examples=100)
@given(
    before=BYTES, after=BYTES, content=st.text(max_size=8), newline=st.sampled_from(["\n", "\r\n"])
)
def test_any_edit_leaves_every_byte_outside_of_it(one_vault, before, after, content, newline):
    """Whatever the file holds, invalid UTF-8 too, only the text between the two marks changes."""
    file = one_vault.layout.root / "note.md"
    head = f"---{newline}id: a23456789012 # mine{newline}odd:   [1,2]{newline}---{newline}".encode()
    data = head + b"x" + before + b" <FROM>old text<TO> " + after
    file.write_bytes(data)
    try:
        answer = edit_note(
            one_vault, "note.md", "findReplace", f"<FROM>{content}<TO>", find="<FROM>old text<TO>"
        )
    except (InvalidArgument, NoteUnusable):
        assert file.read_bytes() == data
        return
    kept_before, kept_after = data.split(b"<FROM>old text<TO>")
    written = file.read_bytes()
    assert written.startswith(kept_before + b"<FROM>")
    assert written.endswith(b"<TO>" + kept_after)
    inside = written[len(kept_before) + 6 : len(written) - len(kept_after) - 4].decode()
    assert inside.splitlines() == content.splitlines()
    assert answer.version_token == get_note(one_vault, "note.md").version_token


# Deleting


def test_sy_05_what_is_deleted_stays_deleted(opened, vault_dir):
    vault = opened({"Gone.md": "quince\n", "Src.md": "[[Gone]]\n"})
    answer = delete_note(vault, "Gone")
    assert (answer.path, answer.backlinks) == ("Gone.md", 1)
    assert (vault_dir / answer.trash_path).read_text() == "quince\n"
    for _ in range(2):
        assert search(vault, "quince").results == ()
        with pytest.raises(NoteNotFound):
            get_note(vault, "Gone")
        with pytest.raises(NoteNotFound):
            get_note(vault, answer.trash_path)
        with pytest.raises(NoteNotFound):
            get_note(vault, answer.note_id)
        assert get_note(vault, "Src").links[0].missing == "note"
        vault = opened()
        vault.index.refresh(rebuild=True)


def test_a_trash_outside_of_the_vault(vault_dir, fill, tmp_path, monkeypatch):
    monkeypatch.setenv("ZIBALDONE_STATE_DIR", str(tmp_path / "state"))
    fill({"Gone.md": "quince\n"})
    with Vault.open(vault_dir) as vault:
        answer = delete_note(vault, "Gone")
        assert answer.trash_path.startswith(str(tmp_path / "state"))
        assert not (vault_dir / "Gone.md").exists()
        assert search(vault, "quince").results == ()


def test_a_trash_that_cannot_be_made_leaves_the_note(opened, on_disk):
    vault = opened({"Gone.md": "quince\n", ".zibaldone": "a file is in the way\n"})
    with pytest.raises((StorageFailed, PathRefused)):
        delete_note(vault, "Gone")
    assert on_disk("Gone.md") == "quince\n"
    assert search(vault, "quince").total == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_keeps_its_notes(opened, vault_dir, on_disk):
    vault = opened({"sub/Gone.md": "quince\n"})
    (vault_dir / "sub").chmod(0o500)
    try:
        for refused in (delete_note, lambda vault, ref: edit_note(vault, ref, "append", "x")):
            with pytest.raises(StorageFailed):
                refused(vault, "Gone")
    finally:
        (vault_dir / "sub").chmod(0o700)
    assert on_disk("sub/Gone.md") == "quince\n"

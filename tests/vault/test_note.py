"""A note as a whole: its id, its names, and problems that stay its own."""

import os
import stat
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from zibaldone.vault.errors import NoteNotFound, PathRefused
from zibaldone.vault.frontmatter import set_property
from zibaldone.vault.ids import derived_id
from zibaldone.vault.layout import open_layout
from zibaldone.vault.note import MAX_BYTES, parse_note, read_note


@pytest.fixture
def layout(vault_dir):
    return open_layout(vault_dir)


@pytest.fixture
def parse(layout):
    def parsed(data, path="Hut log.md"):
        return parse_note(layout, path, data if isinstance(data, bytes) else data.encode())

    return parsed


def test_a_note_is_understood_in_one_piece(layout):
    text = (
        "---\nid: 7k2m9qx4tb1c\ntitle: The hut\naliases: [Hut, Cabin]\ntags: [House, '#wood']\n"
        "summary: |\n  Where we\n  stay\nmuted: false\n---\n# Log\n\n- dry #house #roof\n"
    )
    (layout.root / "agent-memory").mkdir()
    (layout.root / "agent-memory/hut.md").write_text(text)
    note = read_note(layout, "agent-memory/hut.md")
    assert (note.path, note.problem, note.source.text) == ("agent-memory/hut.md", None, text)
    assert (note.id, note.has_own_id) == ("7k2m9qx4tb1c", True)
    assert (note.title, note.aliases) == ("The hut", ("Hut", "Cabin"))
    assert note.tags == ("House", "wood", "roof")
    assert (note.summary, note.muted) == ("Where we stay", False)
    assert note.body == "# Log\n\n- dry #house #roof\n"
    assert [heading.text for heading in note.structure.headings] == ["Log"]
    assert note.place == layout.place("agent-memory/hut.md")
    assert note.category == "The hut"


# Names


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle:\n---\n# Heading\nA.\n", "Hut log"),
        ("---\ntitle: null\n---\n# Heading\nB.\n", "Hut log"),
        ('---\ntitle: "None"\n---\nC.\n', "Hut log"),
        ('---\ntitle: " "\n---\nC.\n', "Hut log"),
        ("---\ntitle: [a, b]\n---\nC.\n", "Hut log"),
        ("---\ntitle: The None of us\n---\n", "The None of us"),
        ("---\ntitle: 2029\n---\n", "2029"),
        ("---\ntitle: 12:30\n---\n", "12:30"),
        ("---\ntitle: no\n---\n", "no"),
        ("---\nTitle: Big\n---\n# Heading\n", "Big"),
        ("---\ntitle: Small\nTitle: Big\n---\n", "Small"),
        ("---\ntitle: |\n  Two\n  lines\n---\n", "Two lines"),
        ("## Two\n\n# One\n\n# Other\n", "One"),
        ("---\nkind: x\n---\n# Heading *one*\n", "Heading one"),
        ("#\n\nText.", "Hut log"),
        ("", "Hut log"),
    ],
)
def test_fm_26_a_title_or_the_heading_or_the_name(parse, text, title):
    assert parse(text).title == title


@pytest.mark.parametrize(
    "title", ["Trip 2: packing", '"Quoted" start', "#1 choice", "@home list", "two  blanks"]
)
def test_fm_25_a_title_that_was_set_is_the_title(parse, title):
    assert parse(set_property(parse("Body").source, "title", title).data).title == title


@pytest.mark.parametrize(("name", "stem"), [("a/v1.2 notes.MD", "v1.2 notes"), ("x.md", "x")])
def test_the_name_of_the_file_is_the_last_resort(parse, name, stem):
    assert parse("Text.", name).title == stem


def test_fm_31_comma_text_is_several_tags(parse):
    note = parse("---\ntags: orchard, tools , frost\n---\nText #Frost and #snow.\n")
    assert note.tags == ("orchard", "tools", "frost", "snow")


@pytest.mark.parametrize(
    ("block", "aliases"),
    [
        ("aliases: [Hut, ' The  hut ', hut]", ("Hut", "The hut")),
        ("aliases: Hut, Cabin", ("Hut", "Cabin")),
        ("alias: Hut\nAliases:\n  - Cabin\n  - 7", ("Hut", "Cabin", "7")),
        ("Aliases: Hut\naliases: Cabin", ("Hut", "Cabin")),
        ("aliases:", ()),
        ("aliases: {a: b}", ()),
    ],
)
def test_aliases_in_all_their_forms(parse, block, aliases):
    assert parse(f"---\n{block}\n---\n").aliases == aliases


# Identity and attributes


@pytest.mark.parametrize(
    ("written", "own"),
    [
        ("7k2m9qx4tb1c", True),
        ("123456789012", True),
        ("'7k2m9qx4tb1c'", True),
        ("7K2M9QX4TB1C", False),
        ("42", False),
        ("", False),
        ("[7k2m9qx4tb1c]", False),
    ],
)
def test_an_id_counts_when_it_has_the_form_of_ours(parse, written, own):
    note = parse(f"---\nid: {written}\n---\n")
    assert note.has_own_id is own
    assert note.id == (written.strip("'") if own else derived_id("Hut log.md"))


@pytest.mark.parametrize(
    ("text", "muted"),
    [
        ("---\nmuted: true\n---\n", True),
        ("---\nMuted: yes\n---\n", True),
        ("---\nmuted: 'true'\n---\n", True),
        ("---\nmuted: false\n---\n", False),
        ("---\nmuted:\n---\n", False),
        ("---\nnot muted: true\n---\n", False),
        ("muted: true\n", False),
        ("---\na: b: c\nmuted: true\n---\n", True),
        ("---\nmuted: true\nmuted: false\n---\n", True),
        ("---\na: b: c\nmuted: false\n---\n", False),
        ("---\na: b: c\n---\nmuted: true\n", False),
    ],
)
def test_a_note_is_muted_even_when_its_block_is_broken(parse, text, muted):
    assert parse(text).muted is muted


@pytest.mark.parametrize(
    ("line", "own"),
    [
        ("id: 7k2m9qx4tb1c", True),
        ("id: '7k2m9qx4tb1c'", True),
        ("id: 7k2m9qx4tb1c\r", True),
        ("  id: 7k2m9qx4tb1c", False),
        ("id: 7k2m9qx4tb1cc", False),
        ("id: ILOU9qx4tb1c", False),
        ("---\nid: 7k2m9qx4tb1c", False),
    ],
)
def test_a_block_that_breaks_elsewhere_makes_it_no_other_note(parse, line, own):
    note = parse(f"---\na: b: c\n{line}\n---\n")
    assert note.has_own_id is own
    assert note.id == ("7k2m9qx4tb1c" if own else derived_id("Hut log.md"))


@pytest.mark.parametrize(
    ("path", "block", "category"),
    [
        ("agent-memory/preferences.md", "category: Preferences\n", "Preferences"),
        ("agent-memory/preferences.md", "", "preferences"),
        ("projects/hut/agent-memory/x.md", "title: Decisions\n", "Decisions"),
        ("projects/hut/x.md", "category: Preferences\n", ""),
    ],
)
def test_only_memory_has_a_category(parse, path, block, category):
    assert parse(f"---\n{block}---\n", path).category == category


# Problems


@pytest.mark.parametrize(
    "block", ["- flour\n- salt\n", "just words\n", "a: b: c\n", "a: &a [x]\nb: *a\n"]
)
def test_fm_21_sc_08_a_broken_block_leaves_the_body_usable(parse, block):
    note = parse(f"---\n{block}---\n# Dough\n\nBody with word quartz. #bread\n")
    assert note.problem.kind == "frontmatter"
    assert note.problem.detail.startswith("the frontmatter cannot be read")
    assert (note.title, note.tags) == ("Dough", ("bread",))
    assert "quartz" in note.body


def test_fm_05_the_problem_names_its_line(parse):
    note = parse("---\ntitle: Boiler\nhint: valve: quarter turn: left\n---\nBody.\n")
    assert "(line 3)" in note.problem.detail


def test_ix_18_a_nul_is_text(parse):
    note = parse(b"before\0after pepper\n")
    assert (note.problem, note.body) == (None, "before\0after pepper\n")


def test_ix_18_latin_1_is_shown_with_replacement_characters(parse):
    note = parse(b"one\ncaf\xe9 pepper\n")
    assert note.problem.kind == "encoding"
    assert "0xE9 on line 2" in note.problem.detail
    assert note.body == "one\ncaf\ufffd pepper\n"
    assert note.source.data == b"one\ncaf\xe9 pepper\n"


def test_ix_18_latin_1_with_a_nul_is_still_text(parse):
    note = parse(b"caf\xe9 with\0milk and pepper\n")
    assert (note.problem.kind, note.body[-7:]) == ("encoding", "pepper\n")


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (bytes(range(256)) * 40, "binary data"),
        ("\ufeffplain words\n".encode("utf-16-le"), "UTF-16"),
        ("\ufeffplain words\n".encode("utf-16-be"), "UTF-16"),
        ("caf\u00e9 \u2603 words\n".encode("utf-16-le") * 9, "binary data"),
        (b"%PNG\r\n" + os.urandom(50_000), "binary data"),
    ],
)
def test_binary_data_is_named_and_not_taken_for_text(parse, data, detail):
    note = parse(data)
    assert (note.problem.kind, note.body) == ("binary", "")
    assert detail in note.problem.detail


def test_a_file_of_nuls_that_decodes_keeps_its_text(parse):
    note = parse(b"pepper\n" + bytes(100))
    assert (note.problem.kind, note.body[:6]) == ("binary", "pepper")


def test_cyrillic_in_an_old_encoding_is_no_binary(parse):
    assert parse("перец и соль\n".encode("cp1251") * 200).problem.kind == "encoding"


def test_a_file_that_is_too_large_keeps_its_properties(parse):
    block = "---\nid: 7k2m9qx4tb1c\ntitle: Large\nmuted: true\n---\n"
    note = parse(block + "word " * (MAX_BYTES // 5))
    assert (note.problem.kind, note.body, note.source.text) == ("too-large", "", block)
    assert (note.id, note.title, note.muted) == ("7k2m9qx4tb1c", "Large", True)
    assert parse("word " * (MAX_BYTES // 5 + 1)).source.text == ""
    assert parse(b"x" * MAX_BYTES).problem is None


def test_a_conflict_copy_is_named_even_when_it_is_broken(parse):
    path = "Hut.sync-conflict-20290407-101500-ABCDEFG.md"
    assert parse("Text.", path).problem.kind == "conflict-copy"
    assert parse("---\na: b: c\n---\n", path).problem.kind == "conflict-copy"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(), st.text().map(str.encode)))
def test_no_content_raises_or_is_lost(parse, data):
    note = parse(data)
    assert note.title
    if note.problem is None:
        assert note.source.data == data


# Reading from disk


def test_a_missing_note_is_not_found(layout):
    (layout.root / "folder.md").mkdir()
    (layout.root / "file.md").write_text("x")
    for path in ("none.md", "folder.md", "file.md/inner.md"):
        with pytest.raises(NoteNotFound):
            read_note(layout, path)


def test_a_pipe_is_no_note(layout):
    os.mkfifo(layout.root / "pipe.md")
    with pytest.raises(NoteNotFound):
        read_note(layout, "pipe.md")


def test_a_path_outside_is_refused(layout):
    (layout.root.parent / "secret.md").write_text("x")
    with pytest.raises(PathRefused):
        read_note(layout, "../secret.md")


def test_a_note_that_may_not_be_read_says_so(layout, monkeypatch):
    file = layout.root / "closed.md"
    file.write_text("x")

    def refuse(*_):
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr("zibaldone.vault.note._read", refuse)
    note = read_note(layout, "closed.md")
    assert (note.problem.kind, note.title, note.body) == ("unreadable", "closed", "")
    assert "Permission denied" in note.problem.detail
    assert str(layout.root) not in note.problem.detail


def test_reading_changes_nothing(layout):
    file = layout.root / "a.md"
    file.write_bytes(b"\xef\xbb\xbf---\r\na: 1\r\n---\r\ncaf\xe9")
    before = (file.read_bytes(), file.stat().st_mtime_ns, stat.S_IMODE(file.stat().st_mode))
    read_note(layout, "a.md")
    assert before == (
        file.read_bytes(),
        file.stat().st_mtime_ns,
        stat.S_IMODE(file.stat().st_mode),
    )


def test_a_hostile_note_is_read_in_time(parse):
    start = time.perf_counter()
    parse("---\n" + "a: [" * 10_000 + "\n---\n" + "[[" * 200_000)
    parse("---\n" + "muted" * 100_000 + "\n---\n#")
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("---\nkind: thread\n---\n", "thread"),
        ("---\nKind: Rules\n---\n", "rules"),
        ("---\nkind: recipe\n---\n", ""),
        ("---\nkind: thread\nx: [\n---\n", "thread"),
        ("kind: thread\n", ""),
    ],
)
def test_a_kind_makes_a_memory_note_no_category(layout, text, kind):
    note = parse_note(layout, "agent-memory/n.md", text.encode())
    assert note.kind == kind
    assert note.category == ("" if kind else "n")
    assert parse_note(layout, "n.md", text.encode()).kind == ""


@pytest.mark.parametrize(
    ("path", "kind", "wanted"),
    [
        ("Set.md", "context-set", "context-set"),
        ("projects/acme/Set.md", "Context-Set", "context-set"),
        ("Set.md", "rules", ""),
        ("projects/acme/Plan.md", "progress", ""),
        ("agent-memory/set.md", "context-set", "context-set"),
        ("agent-memory/rules.md", "rules", "rules"),
    ],
)
@pytest.mark.parametrize("rest", ["", "broken: [\n"])
def test_outside_of_memory_a_note_may_be_a_context_set_alone(parse, path, kind, wanted, rest):
    assert parse(f"---\nkind: {kind}\n{rest}---\nText.\n", path).kind == wanted

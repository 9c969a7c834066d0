"""Properties: what is read, and that an edit touches the lines of one key only."""

import itertools
import json
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from zibaldone.vault.errors import InvalidArgument, NoteUnusable
from zibaldone.vault.frontmatter import (
    MAX_BYTES,
    add_to_list,
    entries,
    quote,
    read,
    remove_from_list,
    remove_property,
    set_property,
)
from zibaldone.vault.source import Source


def note(block, body="Text.\n"):
    return Source.from_text(f"---\n{block}---\n{body}")


def properties(source):
    found, problem = read(source)
    assert problem is None
    return found


def changed_lines(before, after):
    """The lines taken out and put in, when everything around them is the same."""
    old, new = before.text.splitlines(), after.text.splitlines()
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return old, new


# Reading


def test_fm_01_rules_in_the_body_stay_body():
    body = "\nMonday was wet.\n\n---\n\nTuesday: dry, and\nmood: good\n\n---\n\nEnd.\n"
    source = note("title: Hut log\nkind: diary\n", body)
    assert properties(source) == {"title": "Hut log", "kind": "diary"}
    after = set_property(source, "status", "done")
    assert properties(after) == {"title": "Hut log", "kind": "diary", "status": "done"}
    assert after.body_text == body


@pytest.mark.parametrize("dashes", ["---\\nstate: boiling\\n---\\nTea time.", "--- state: boiling"])
def test_fm_03_dashes_inside_a_line_are_no_fence(dashes):
    source = Source.from_text(dashes)
    assert read(source) == ({}, None)
    assert source.body_text == dashes


def test_fm_30_dashes_inside_a_value_do_not_close_the_block():
    source = note("summary: calm --- then storm\nafter: kept\n", "Text --- more.\n")
    assert properties(source) == {"summary": "calm --- then storm", "after": "kept"}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("12:30", "12:30"),
        ("09:15", "09:15"),
        ("2029-04-07", "2029-04-07"),
        ("2029-13-45", "2029-13-45"),
        ("2029-04-07T10:00:00Z", "2029-04-07T10:00:00Z"),
        ("1.10", "1.10"),
        ("0123", "0123"),
        ("0x1F", "0x1F"),
        ("1e5", "1e5"),
        ("1_000", "1_000"),
        (".inf", ".inf"),
        ("1234567890123456", "1234567890123456"),
        ("no", "no"),
        ("Yes", "Yes"),
        ("on", "on"),
        ("=", "="),
        ("true", True),
        ("False", False),
        ("42", 42),
        ("-7", -7),
        ("0", 0),
        ("'42'", "42"),
        ("", None),
        ("~", None),
        ("null", None),
        ("[a, 1, yes]", ["a", 1, "yes"]),
        ("{a: {b: off}}", {"a": {"b": "off"}}),
        ("!!str true", "true"),
        ("!!float 1.5", "1.5"),
        ("!!bool maybe", "maybe"),
        ("!!timestamp never", "never"),
    ],
)
def test_values_are_read_as_their_owner_means_them(written, value):
    found = properties(note(f"key: {written}\n"))["key"]
    assert (type(found), found) == (type(value), value)


def test_keys_are_texts_whatever_they_look_like():
    block = "on: a\n2029-04-07: b\n7: c\n<<: d\n'quoted': e\n"
    assert list(properties(note(block))) == ["on", "2029-04-07", "7", "<<", "quoted"]


@pytest.mark.parametrize("block", ["", "\n", "# only a comment\n"])
def test_an_empty_block_has_no_properties(block):
    assert read(note(block)) == ({}, None)


BROKEN = {
    "colon": ("title: Boiler\nhint: valve: quarter: left\n", "line 3"),
    "quote": ('nick: "half a quote\nowner: Ines\n', "line 2"),
    "list": ("- flour\n- salt\n", "keys with values"),
    "word": ("just words\n", "keys with values"),
    "anchor": ("a: &a [x]\n", "anchors"),
    "alias": ("a: 1\nb: *gone\n", "line 3"),
    "merge": ("base: &b {x: 1}\nmore:\n  <<: *b\n", "anchors"),
    "python tag": ("a: !!python/object/apply:os.system [ls]\n", "tag"),
    "own tag": ("a: 1\nb: !secret x\n", "tag !secret is not read (line 3)"),
    "list as key": ("? [a, b]\n: c\n", "a key is not a text"),
    "template": ("a: {{title}}\n", "a key is not a text"),
    "tab": ("a:\n\tb: 1\n", "line 3"),
    "control character": ("a: 1\nb: x\0y\n", "U+0000 (line 3)"),
    "two documents": ("a: 1\n--- b\n", "line"),
    "deep": (f"a: {'[' * 40}{']' * 40}\n", "deeply (line 2)"),
    "very deep": (f"a: {'[' * 30_000}\n", "line 2"),
    "very deep block": (f"a:\n  {'- ' * 30_000}\n", "line 3"),
    "large": (f"a: {'x' * MAX_BYTES}\n", "larger than 64 KB"),
    "repeated key": ("a: 1\nb: 2\na: 3\n", "the key 'a' twice, on lines 2 and 4"),
}


@pytest.mark.parametrize(("block", "hint"), BROKEN.values(), ids=BROKEN)
def test_fm_05_fm_06_fm_21_an_unreadable_block_is_named_and_never_edited(block, hint):
    source = note(block)
    _, problem = read(source)
    assert hint in problem
    assert "\n" not in problem
    for edit in (
        lambda: set_property(source, "checked", True),
        lambda: remove_property(source, "nick"),
        lambda: add_to_list(source, "tags", "house"),
    ):
        with pytest.raises(NoteUnusable) as refusal:
            edit()
        assert refusal.value.problem == problem


def test_a_repeated_key_shows_its_last_value_beside_the_problem():
    assert read(note("a: 1\na: 2\n"))[0] == {"a": 2}


def test_sc_08_nested_aliases_are_refused_at_once():
    names = "abcdefghi"
    lines = [f"a: &a [{', '.join('x' * 9)}]\n"]
    for one, two in itertools.pairwise(names):
        lines.append(f"{two}: &{two} [{', '.join([f'*{one}'] * 9)}]\n")
    source = note("".join(lines), "Body with word quartz.\n")
    start = time.perf_counter()
    found, problem = read(source)
    assert time.perf_counter() - start < 0.5
    assert (found, "aliases" in problem) == ({}, True)
    assert source.body_text == "Body with word quartz.\n"


def test_ampersands_and_stars_in_texts_are_no_references():
    block = "a: salt & pepper\nb: '*bold*'\n# &c\nd: |\n  *e\n"
    assert properties(note(block)) == {"a": "salt & pepper", "b": "*bold*", "d": "*e\n"}


def test_ix_18_latin_1_in_a_value_is_read_and_kept():
    source = Source.parse(b"---\nplace: caf\xe9\nroom: 1\n---\nText.\n")
    assert properties(source)["place"] == "caf\ufffd"
    assert b"place: caf\xe9\nroom: 2\n" in set_property(source, "room", 2).data


@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%@`,? \n\t\r\0\ufeff\u2028é", max_size=60))
def test_no_block_raises(text):
    found, _ = read(note(text.replace("---", "") + "\n"))
    json.dumps(found)


# Editing


def test_fm_08_keys_keep_their_order_and_a_new_one_comes_last():
    after = set_property(note("title: O\nzone: n\nauthor: B\nbegun: s\n"), "mood", "calm")
    assert after == note("title: O\nzone: n\nauthor: B\nbegun: s\nmood: calm\n")


def test_fm_10_comments_and_blank_lines_stay():
    block = "# filled in by hand, keep\ntitle: Comments\n\nstage: {}   # may become tree\n"
    after = set_property(note(block.format("seed")), "stage", "tree")
    assert after == note(block.format("tree"))


def test_fm_11_a_date_is_not_respelled():
    after = set_property(note("born: 2029-04-07\nname: Otter\n"), "name", "Stoat")
    assert after == note("born: 2029-04-07\nname: Stoat\n")


def test_fm_13_a_clock_time_stays():
    source = note("lunch: 12:30\nbed: 09:15\n")
    assert properties(source)["lunch"] == "12:30"
    assert add_to_list(source, "tags", "routine") == note(
        "lunch: 12:30\nbed: 09:15\ntags: [routine]\n"
    )


def test_fm_15_a_long_title_stays_on_its_line():
    title = "A rather long working title about how the lighthouses were lit " * 4
    after = set_property(note(f'title: "{title}"\n'), "chapter", 4)
    assert after == note(f'title: "{title}"\nchapter: 4\n')
    assert "\n" not in quote(title * 10)


def test_fm_16_yes_and_no_are_texts():
    source = note("country: no\nanswer: yes\nlamp: on\nready: true\n")
    assert properties(source) == {"country": "no", "answer": "yes", "lamp": "on", "ready": True}
    after = set_property(source, "answer", "maybe")
    assert after == note("country: no\nanswer: maybe\nlamp: on\nready: true\n")


def test_fm_18_windows_line_ends_stay():
    source = Source.parse(b"---\r\ntitle: Windows\r\nroom: attic\r\n---\r\n\r\nOne\r\nTwo\r\n")
    assert properties(source)["title"] == "Windows"
    after = add_to_list(set_property(source, "room", "cellar"), "tags", "a")
    assert after.data == (
        b"---\r\ntitle: Windows\r\nroom: cellar\r\ntags: [a]\r\n---\r\n\r\nOne\r\nTwo\r\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('s: ["[[Old]]"]', 's: ["[[Old]]", "[[New]]"]'),
        ("s: ['[[Old]]',]", "s: ['[[Old]]', '[[New]]',]"),
        ("s: [\n  a,\n  b # c\n]", 's: [\n  a,\n  b,\n  "[[New]]" # c\n]'),
        ("s:\n- a\n- 'b' # c\n# d", "s:\n- a\n- 'b' # c\n- '[[New]]'\n# d"),
        ("s:\n    - a\n\n    -   b\n", 's:\n    - a\n\n    -   b\n    - "[[New]]"\n'),
        ("s:\n  - |\n    text\n\n# d", 's:\n  - |\n    text\n  - "[[New]]"\n\n# d'),
        ("s:\n  - a\n  -", 's:\n  - a\n  -\n  - "[[New]]"'),
        ("s: [[1, 2]]", 's: [[1, 2], "[[New]]"]'),
        ("s: []", 's: ["[[New]]"]'),
        ("s:", 's: ["[[New]]"]'),
        ('s: ""', 's: ["[[New]]"]'),
        ("s: Old # c", 's: [Old, "[[New]]"] # c'),
        ("s: 7", 's: ["7", "[[New]]"]'),
        ("s: >\n  Old\n  one", 's: ["Old one\\n", "[[New]]"]'),
    ],
)
def test_fm_20_an_item_joins_the_list_that_is_there(before, after):
    added = add_to_list(note(f"a: 1\n{before}\nz: 2\n"), "s", "[[New]]")
    assert added == note(f"a: 1\n{after}\nz: 2\n")
    assert add_to_list(added, "s", "[[New]]") is added


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("s: [x, 1, true, [a, b]] # c", "s: [1, true, [a, b]] # c"),
        ("s: [a, x, 'b', x]", "s: [a, 'b']"),
        ("s: [\n  a, # c\n  x\n]", "s: [\n  a, # c\n]"),
        ("s: [\n  x, # c\n  a,\n]", "s: [\n   # c\n  a,\n]"),
        ("s: [\n  a,\n  x ,\n]", "s: [\n  a,\n]"),
        ("s:\n- a\n# c\n- x # d\n\n- [b]\n# e", "s:\n- a\n# c\n\n- [b]\n# e"),
        ("s:\n- x\n- ", "s:\n- "),
    ],
)
def test_only_the_item_leaves_its_list(before, after):
    source = note(f"a: 1\n{before}\nz: 2\n")
    assert remove_from_list(source, "s", "x") == note(f"a: 1\n{after}\nz: 2\n")
    assert remove_from_list(source, "s", "y") is source


@pytest.mark.parametrize("list_", ["s: [x, x]", "s:\n- x", "s: x"])
def test_a_list_goes_with_its_last_item(list_):
    assert remove_from_list(note(f"a: 1\n{list_}\n"), "s", "x") == note("a: 1\n")


def test_fm_31_comma_text_counts_as_a_list_when_a_tag_is_added():
    source = note("tags: orchard, tools , frost\n")
    assert add_to_list(source, "tags", "tools") is source
    assert properties(add_to_list(source, "tags", "wind")) == {
        "tags": ["orchard", "tools", "frost", "wind"]
    }


def test_tags_are_added_to_the_list_that_is_there_whatever_its_case():
    assert add_to_list(note("Tags: [a]\n"), "tags", "b") == note("Tags: [a, b]\n")
    assert add_to_list(note("Sources: [a]\n"), "sources", "b") == note(
        "Sources: [a]\nsources: [b]\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tags: [a, b] # mine\n", "tags: [b] # mine\n"),
        ("tags:\n  - 'a'\n  - b\n", "tags:\n  - b\n"),
        ("Tags: a b\n", "Tags: [b]\n"),
        ("tags: [a]\n", ""),
        ("tags: a\n", ""),
        ("tags: [b]\n", "tags: [b]\n"),
        ("", ""),
    ],
)
def test_an_item_leaves_its_list_and_the_last_one_takes_it_along(before, after):
    source = note(f"x: 1\n{before}z: 2\n")
    assert remove_from_list(source, "tags", "a") == note(f"x: 1\n{after}z: 2\n")


def test_an_item_cannot_join_a_map():
    with pytest.raises(NoteUnusable, match="map"):
        add_to_list(note("sources: {a: 1}\n"), "sources", "b")


@pytest.mark.parametrize(
    ("key", "value", "texts"),
    [
        ("tags", "orchard, tools , frost,", ["orchard", "tools", "frost"]),
        ("Tags", "orchard tools", ["orchard", "tools"]),
        ("aliases", "The Hut, Old hut", ["The Hut", "Old hut"]),
        ("sources", "Smith, John", ["Smith, John"]),
        ("tags", ["a, b", 2024, True, None, ["c"]], ["a, b", "2024", "true"]),
        ("tags", 2024, ["2024"]),
        ("tags", None, []),
        ("tags", {"a": 1}, []),
        ("sources", " ", []),
    ],
)
def test_entries_of_a_list_property(key, value, texts):
    assert entries(key, value) == texts


def test_fm_23_names_that_the_library_uses_itself():
    block = "title: Reserved\ncontent: a short summary\nhandler: {}\nmetadata: extra\n"
    source = note(block.format("Milo"), "Real body.")
    assert properties(source) == {
        "title": "Reserved",
        "content": "a short summary",
        "handler": "Milo",
        "metadata": "extra",
    }
    assert set_property(source, "handler", "Nia") == note(block.format("Nia"), "Real body.")
    for key in ("text", "encoding", "fd", "self"):
        assert properties(set_property(source, key, "x"))[key] == "x"


@pytest.mark.parametrize(
    "title",
    [
        "Trip 2: packing",
        '"Quoted" start',
        "#1 choice",
        "@home list",
        "100% - done?",
        "\U0001f331 seedlings",
        "a #b",
        "ends:",
        "C:\\new\\table",
        "- dash",
        "",
        " ",
        "null",
        "2029",
        "x\u2028y\u0085z\ufeff",
    ],
)
def test_fm_25_any_title_reads_back(title):
    source = set_property(Source.from_text("Body"), "title", title)
    assert properties(source) == {"title": title}
    assert source.text.count("\n") == 3


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("7k2m9qx4tb1c", "7k2m9qx4tb1c"),
        ("123456789012", '"123456789012"'),
        ("123e45678901", '"123e45678901"'),
        ("2029-04-07", "2029-04-07"),
        ("12:30", '"12:30"'),
        ("yes", '"yes"'),
        ("Half a dozen, or 6 (six)", "Half a dozen, or 6 (six)"),
        (["a", "b, c", "d: e", "12"], '[a, "b, c", "d: e", "12"]'),
        ([], "[]"),
        (True, "true"),
        (7, "7"),
        (10**20, "!!int 100000000000000000000"),
    ],
)
def test_fm_25_what_quote_writes(value, written):
    assert quote(value) == written


def test_text_that_is_not_unicode_is_refused():
    with pytest.raises(InvalidArgument):
        set_property(note(""), "title", "caf\udce9")


def test_fm_28_five_writes_make_one_block():
    source = Source.from_text("Plain text, no properties.\n")
    for count in range(5):
        source = set_property(source, "id", "7k2m9qx4tb1c")
        source = set_property(source, "count", count)
    assert source.text == "---\nid: 7k2m9qx4tb1c\ncount: 4\n---\nPlain text, no properties.\n"


def test_a_block_is_made_after_a_byte_order_mark_in_the_line_ends_of_the_file():
    source = Source.parse(b"\xef\xbb\xbfText\r\n")
    assert set_property(source, "a", 1).data == b"\xef\xbb\xbf---\r\na: 1\r\n---\r\nText\r\n"


def test_a_block_is_made_above_a_fence_that_never_closes():
    after = set_property(Source.from_text("---\na: 1\n"), "b", 2)
    assert after.text == "---\nb: 2\n---\n---\na: 1\n"


def test_fm_33_setting_what_is_there_changes_nothing():
    source = note("title: 'Editor'\ntags:\n  - one\npinned: True\nborn: 2029-04-07\n")
    for key, value in properties(source).items():
        assert set_property(source, key, value) is source
    assert remove_property(source, "absent") is source


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("k: 'it''s' # c", "it's me", "k: 'it''s me' # c"),
        ('k: "a"', "b", 'k: "b"'),
        ("k: 'a'", "two\nlines", 'k: "two\\nlines"'),
        ("k:   # c", "a", "k: a   # c"),
        ("k:", True, "k: true"),
        ("k: true", 1, "k: 1"),
        ("k: on", "off", "k: off"),
        ("k: 4", "5", 'k: "5"'),
        ("'k' : a", "b", "'k' : b"),
        ("k:\n  long text", "b", "k:\n  b"),
        ("k: one\n  two # c", "b", "k: b # c"),
        ("k: |\n  one\n\n  two", "b", "k: b"),
        ("k: {a: 1,\n  b: 2}", "b", "k: b"),
        ("k:\n  a:\n    b: 1 # c\n  d:", "b", "k: b"),
        ("k: # c\n  # d\n  - a", "b", "k: b # c\n  # d"),
        ("k:\n- a\n- b", [], "k: []"),
        ("k:\n- a # c\n# d\n- 'b'\n- e", ["b", "f"], "k:\n# d\n- 'b'\n- f"),
        ("k: ['a', b,\n  \"c\"]", ["c", "a", "d"], 'k: ["c", \'a\', "d"]'),
        ("k: a", ["b"], "k: [b]"),
    ],
)
def test_a_value_is_replaced_as_a_whole(before, value, after):
    for block in ("{}\n", "a: 1\n\n# x\n{}\nz:\n  - y\n", "{}\n\n# tail\n"):
        assert set_property(note(block.format(before)), "k", value) == note(block.format(after))


@pytest.mark.parametrize(
    "lines",
    [
        "k: a # c",
        "k:",
        '"k": "a"',
        "k:\n- a\n- b",
        "k:\n  - a\n  # inside\n  - b # c",
        "k: |\n  one\n\n  two  ",
        "k: >-\n  one\n  two",
        "k: [a,\n\n  b\n]",
        "k: one\n  two",
        "k:\n  a:\n    - 1\n  b:",
    ],
)
def test_all_lines_of_a_key_are_removed(lines):
    for block in ("{}", "a: 1\n\n# x\n{}# y\n\nz: 2\n", "{}\n# tail\n"):
        source = note(block.format(lines + "\n"))
        assert remove_property(source, "k") == note(block.format(""))


def test_blank_lines_that_a_text_keeps_are_its_own():
    source = note("a: 1\nk: |+\n  one\n\n\nz: 2\n")
    assert properties(source)["k"] == "one\n\n\n"
    assert set_property(source, "k", "b") == note("a: 1\nk: b\nz: 2\n")
    assert remove_property(source, "k") == note("a: 1\nz: 2\n")
    with pytest.raises(NoteUnusable):
        remove_property(note("k: |+\n  one\na: 1\n\nz: 2\n"), "a")


@pytest.mark.parametrize(
    "block", ["{k: 1, b: 2}\n", "? k\n: 1\n", "a: 1\u2028k: 2\n", "k: 1\rb: 2\n"]
)
def test_a_key_that_cannot_change_alone_is_refused(block):
    assert properties(note(block))
    with pytest.raises(NoteUnusable):
        remove_property(note(block), "k")


def test_line_ends_count_as_bytes_of_the_block():
    source = Source.from_text("---\r\na: |\r\n" + " x\r\n" * 17_000 + "---\r\n")
    assert "larger" in read(source)[1]
    with pytest.raises(NoteUnusable):
        set_property(source, "a", "b")


def test_a_block_that_would_become_unreadable_is_refused():
    for block, value in (("{a: 1}\n", "b"), ("a: 1\n", "x" * MAX_BYTES)):
        with pytest.raises(NoteUnusable):
            set_property(note(block), "new", value)


# Properties over all blocks

ENTRIES = (
    ": plain text",
    ": 'single' # c",
    ': "double\\n"',
    ":",
    ": # only a comment",
    ": 12:30",
    ": true",
    ": [a, 'b',{n} \"c\"] # c",
    ": {{a: 1,{n}  b: [x]}}",
    ":{n}  - a # c{n}{n}  # d{n}  - 'b'",
    ":{n}- a{n}-",
    ":{n}  a: 1{n}  b:{n}    - c",
    ": |{n}  one{n}{n}    two  ",
    ": >-{n}  one{n}  two",
    ": one{n}  two",
    ": caf\u00e9 \U0001f331",
)
BETWEEN = ("", "{n}", "# comment: x{n}", "{n}# &a{n}{n}")
KEYS = ("title", "tags", "content", "on", "7", "two words", "'quoted'", '"a: b"', "\u00e9t\u00e9")

values = st.one_of(
    st.text(),
    st.text(alphabet="ab:-[]{}&*!|>'\"#%@`,? \n\t\r\0\ufeff\u2028\u00e9\U0001f331", max_size=12),
    st.sampled_from(["no", "12:30", "2029-04-07", "null", "~", "1.10", "---", "..."]),
    st.booleans(),
    st.integers(),
    st.lists(st.text(alphabet="ab:-[],'\"# \n", max_size=5), max_size=4),
)


@st.composite
def notes(draw):
    """A source, and its block as a list of (key, lines); the key of a gap is ''."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    block = []
    for key in draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=5)):
        lines = draw(st.sampled_from(ENTRIES)).format(n=newline)
        block.append(("", draw(st.sampled_from(BETWEEN)).format(n=newline)))
        block.append((key, f"{key}{lines}{newline}"))
    bom = draw(st.sampled_from(["", "\ufeff"]))
    text = "".join(lines for _, lines in block)
    body = draw(st.sampled_from(["", "Text.\n", "\r\n---\nTitle: x\n---\n", "caf\udce9"]))
    return Source.from_text(f"{bom}---{newline}{text}---{newline}{body}"), block


def around(source, block, at):
    """The text before and after one entry of the block."""
    start = source.yaml[0] + sum(len(lines) for _, lines in block[:at])
    return source.text[:start], source.text[start + len(block[at][1]) :]


@given(notes(), values, st.data())
def test_a_change_touches_the_lines_of_its_key_only(made, value, data):
    source, block = made
    assume(block)
    at = data.draw(st.sampled_from(range(1, len(block), 2)))
    before, after = around(source, block, at)
    key = list(properties(source))[at // 2]
    for edited in (set_property(source, key, value), remove_property(source, key)):
        assert edited.text.startswith(before)
        assert edited.text.endswith(after)
        assert source.newline == "\n" or "\n" not in edited.text[: edited.body].replace("\r\n", "")
    assert remove_property(source, key).text == before + after
    found = properties(set_property(source, key, value))[key]
    assert (type(found), found) == (type(value), value)


@given(notes(), st.text(max_size=30), values)
def test_a_new_key_comes_and_goes_without_a_trace(made, key, value):
    source, _ = made
    assume(key not in properties(source))
    edited = set_property(source, key, value)
    assert json.dumps(properties(edited)) == json.dumps({**properties(source), key: value})
    assert edited.body_text == source.body_text
    assert remove_property(edited, key) == source


@given(notes(), st.text(max_size=12))
def test_an_item_is_added_to_any_list(made, item):
    source, _ = made
    for key, present in properties(source).items():
        if isinstance(present, dict):
            continue
        found = properties(add_to_list(source, key, item))
        known = present if isinstance(present, list) else entries(key, present)
        assert found[key] == ([*known, item] if item not in entries(key, present) else present)
        assert found.keys() == properties(source).keys()


@given(notes(), st.text(max_size=12))
def test_an_item_that_joins_a_list_leaves_it_without_a_trace(made, item):
    source, _ = made
    for key, present in properties(source).items():
        if isinstance(present, list) and present and item not in entries(key, present):
            assert remove_from_list(add_to_list(source, key, item), key, item) == source

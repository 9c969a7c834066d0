import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.vault.errors import PathRefused
from zibaldone.vault.paths import (
    check_component,
    clip,
    contained,
    fold_name,
    note_file_name,
    twin,
)

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))
# Titles that are likely to run into a rule.
HOSTILE = st.text(
    alphabet=st.sampled_from(
        './\\%2eE: aAuUxXcCoOnN1¹️·․．…‥⁄∕／＼㏚℅﷽̈́ﬁ\u200b\u202e\n\0[]#^|*?<>"-_~é'
    ),
    max_size=40,
)

SAFE_NAMES = [
    "name with ½.md",
    "Plan.md",
    "Pump v2.5 notes.md",
    "Release 3.1.md",
    "¿Qué pasó?.md",
    "½ cup.md",
    "笔记：一.md",
    "50% off.md",
    "🙂.md",
    "odd $(touch hit) `x` ; 'q' & name",
    "console.md",
    "com10",
    "a" * 255,
]
UNSAFE_NAMES = [
    " ",
    "\u3164",
    ".",
    "..",
    "...",
    "．．",
    "․․",
    "‥",
    "…",
    "%2e%2e",
    "%252e%252E",
    "%2e",
    "a\\b",
    "a∕b",
    "a⁄b",
    "a／b",
    "a＼b",
    "a∖b",
    "a%2fb",
    "a%5Cb",
    "a\0b",
    "a%00b",
    "a\nb",
    "a\x7fb",
    "a\u2028b",
    "a\u200bb",
    "a\u202eb",
    "a\u2066b",
    "\ufeffa",
    "a\udc80",
    "a.",
    "a ",
    " a",
    "a\u00a0",
    ".hidden",
    "C:",
    "C:idea.md",
    "con",
    "CON.md",
    "Aux.notes.md",
    "nul .md",
    "com1",
    "COM¹.md",
    "lpt0",
    "ＣＯＮ",
    "conin$",
    "a" * 256,
    "é" * 128,
]


@pytest.mark.parametrize("name", SAFE_NAMES)
def test_names_that_an_owner_would_give_are_accepted_as_they_are(name):
    assert check_component(name) == name


@pytest.mark.parametrize("name", UNSAFE_NAMES)
def test_sc_01_unsafe_names_are_refused(name):
    with pytest.raises(PathRefused):
        check_component(name)


@pytest.mark.parametrize("name", ["", "a/b", "notes/"])
def test_a_component_is_one_name(name):
    with pytest.raises(PathRefused):
        check_component(name)


def test_a_refusal_says_which_argument_and_why_in_one_short_sentence():
    with pytest.raises(PathRefused) as caught:
        check_component("a\u202eb", "project")
    assert "invisible" in caught.value.sentence
    assert "project" in caught.value.sentence
    with pytest.raises(PathRefused) as caught:
        check_component("x" * 1_000_000)
    assert len(str(caught.value)) < 500


def test_names_come_back_in_nfc():
    assert check_component(unicodedata.normalize("NFD", "Café.md")) == "Café.md"


@pytest.mark.parametrize(
    "path", ["../out.md", "a/../b.md", "/a.md", "", "a//b", "./a", "..\\out.md", "C:\\a.md"]
)
def test_sc_01_climbing_paths_are_refused(path):
    with pytest.raises(PathRefused):
        contained(path)


def test_contained_leaves_the_owners_spelling_alone():
    for path in (
        "Acme Inc./Aux.md",
        "a:b/c?.md",
        "x\\y.md",
        "100%/a.md",
        "½ ⁄/a.md",
        ".obsidian/x",
    ):
        assert str(contained(path)) == path
    decomposed = unicodedata.normalize("NFD", "Café/a.md")
    assert str(contained(decomposed)) == decomposed


@given(ANY_TEXT)
def test_whatever_is_contained_is_plain(path):
    try:
        inside = contained(path)
    except PathRefused:
        return
    assert not inside.is_absolute()
    assert not {".", "..", ""} & set(inside.parts)
    assert contained(str(inside)) == inside


# Twins


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("README.md", "readme.md"),
        ("Café.md", unicodedata.normalize("NFD", "café.md")),
        ("ﬁnance.md", "Finance.md"),
        ("Ａ.md", "a.md"),
        ("Straße.md", "STRASSE.md"),
        ("pass\u200bword.md", "password.md"),
    ],
)
def test_names_that_some_system_takes_for_one_are_twins(tmp_path, one, other):
    assert fold_name(one) == fold_name(other)
    (tmp_path / one).touch()
    assert twin(tmp_path, other) == one


def test_names_that_differ_by_more_are_not_twins(tmp_path):
    for name in ("Café.md", "a-b.md"):
        (tmp_path / name).touch()
    for name in ("Cafe.md", "a b.md", "a_b.md"):
        assert twin(tmp_path, name) is None


def test_a_name_itself_goes_before_its_twins(tmp_path):
    for name in ("A.md", "a.md"):
        (tmp_path / name).touch()
    if len(list(tmp_path.iterdir())) == 2:
        assert twin(tmp_path, "a.md") == "a.md"
        assert twin(tmp_path, "A.md") == "A.md"


def test_a_folder_that_is_not_there_has_no_twins(tmp_path):
    assert twin(tmp_path / "gone", "a.md") is None


@given(ANY_TEXT)
def test_folding_is_settled_after_once(name):
    assert fold_name(fold_name(name)) == fold_name(name)


# File names from titles


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Trip 2: packing", "Trip 2 packing.md"),
        ("Plan", "Plan.md"),
        ("Plan.md", "Plan.md"),
        ("Pump v2.5 notes", "Pump v2.5 notes.md"),
        ("Release 3.1", "Release 3.1.md"),
        ("and so on...", "and so on.md"),
        ("Wait…", "Wait….md"),
        ("either/or", "either-or.md"),
        ("2024/05/01", "2024-05-01.md"),
        ("../../etc/passwd", "etc-passwd.md"),
        ("C:\\notes\\idea.md", "C -notes-idea.md"),
        ('What? [draft] #1 | "x" <y> ^z*', "What draft 1 x y z.md"),
        (".hidden", "hidden.md"),
        ("a\nb\tc", "a b c.md"),
        ("pass\u200bword\u202e", "password.md"),
        ("con", "con_.md"),
        ("Aux.notes", "Aux_.notes.md"),
        ("100%2fday", "100 2fday.md"),
        ("¿Qué pasó?", "¿Qué pasó.md"),
        ("笔记：一", "笔记：一.md"),
        ("C++", "C++.md"),
        (unicodedata.normalize("NFD", "Café"), "Café.md"),
    ],
)
def test_mc_11_the_file_name_of_a_title(title, name):
    assert note_file_name(title) == name


@pytest.mark.parametrize("title", ["", "???", "...", "…", "///", "[[]]", "\0", " ", "\u3164"])
def test_a_title_without_anything_nameable_gets_a_safe_name_of_its_own(title):
    name = note_file_name(title)
    assert name.startswith("note-")
    assert name == note_file_name(title)
    assert check_component(name) == name
    assert name != note_file_name(title + "?")


def test_long_titles_are_clipped_between_characters_and_stay_apart():
    for letter in ("a", "é", "笔", "🙂", "e\u0301\u0323"):
        one, other = (note_file_name(letter * 300 + end) for end in ("x", "y"))
        assert one != other
        assert 180 <= len(one.encode()) <= 200
        assert check_component(one) == one


def test_a_hostile_title_is_no_work():
    start = time.perf_counter()
    for text in ("[" * 1_000_000, "a\u0301\u0323" * 300_000, "." * 1_000_000, "con" * 400_000):
        assert len(note_file_name(text).encode()) <= 200
    assert time.perf_counter() - start < 2


@given(ANY_TEXT | HOSTILE)
def test_any_title_gets_a_name_that_may_be_used(title):
    name = note_file_name(title)
    assert check_component(name) == name
    assert len(name.encode()) <= 200
    assert name.endswith(".md")
    assert not set('[]#^|\\/:*?"<>') & set(name)
    assert note_file_name(name) == name


@given(st.text(), st.integers(4, 50))
def test_clipping_keeps_a_beginning_of_whole_characters(text, limit):
    clipped = clip(text, limit)
    assert text.startswith(clipped)
    assert len(clipped.encode()) <= limit
    if not any(unicodedata.category(character)[0] == "M" for character in text):
        assert clipped == text or len(text[: len(clipped) + 1].encode()) > limit


def test_clipping_parts_no_letter_from_its_accents():
    assert clip("abce\u0301\u0323", 5) == "abc"
    assert clip("abce\u0301\u0323", 8) == "abce\u0301\u0323"
    assert clip("\u0301" * 9, 5) == "\u0301" * 2

"""Observations come back as they were given, and the owner's note stays the owner's."""

import time
from types import SimpleNamespace

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from zibaldone.vault import edit, memory
from zibaldone.vault.errors import InvalidArgument, NoteUnusable, ObservationRefused
from zibaldone.vault.markdown import parse
from zibaldone.vault.memory import Observation, canonical, decode, encode, normal_form
from zibaldone.vault.source import Source, readable

PIECES = (
    "a tea 2026 1. 1) # ## - + * _ = > ` ``` ~~~ | |-|-| --- *** ___ === : \\ [x]: [x] [ ] [a "
    "[[b]] ](c) [a:: [type:: [status:: owner] ] ^id ^ %% % <b> <!-- --> </div> #tag & . ! é "
    "e\u0301 日本 🌱 שלום \u200f \u2028 \u00a0 ..."
)
BLANKS = (" ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "\n  ", "\n- ", "\n\n    ", "\\")
TEXT = st.lists(st.sampled_from([*PIECES.split(), *BLANKS]), min_size=1, max_size=20).map("".join)

OWNERS = {
    "new": memory.new_memory_source("Preferences", "How she likes: things", "k2m9qx4tb1cz").text,
    "empty": "",
    "byte order mark": "\ufeff# Food\r\n\r\n- rye\r\n",
    "windows": "---\r\nid: a\r\n---\r\n# Food\r\n\r\n- rye [type:: episodic] ^r1\r\n- tea\r\n",
    "no final newline": "---\ncategory: food\n---\n- likes rye bread",
    "frontmatter alone": "---\ncategory: food\n---",
    "ordered": "1. one\n2. two\n",
    "stars": "* one\n* two ^t2\n\n",
    "plus, indented": "  + one\n  + two\n",
    "prose behind": "# Food\n\n- rye ^r1\n\nSome prose\nof the owner.\n\n## Later\n\ntext\n",
    "prose alone": "# Food\n\nSome prose.",
    "table": "- rye\n\n| a | b |\n|---|---|\n| c | d |\n",
    "table alone": "| a | b |\n|---|---|\n| c | d |",
    "heading below": "- rye\n# Next\n",
    "rule below": "- rye\n---\n",
    "code": "- rye\n\n```sh\n- not an item\n```\n",
    "code in an item": "- rye\n  ```\n  - x\n  ```\n  ^r1\n",
    "nested": "- rye ^r1\n  - toasted\n    - dark\n- tea\n\n  second paragraph\n  - sub ^s1\n",
    "tasks": "- [ ] buy rye\n- [x] drink tea ^t1\n",
    "lazy": "- rye\nbread\n",
    "loose": "- rye\n\n\n- tea\n\n\n",
    "comments": "<!-- kept -->\n- rye\n%% a comment %%\n",
    "quote": "> - quoted\n",
    "foreign fields": "- rye [mood:: good] (x:: y) ^r1\n- [status:: stale] tea\n",
    "empty bullet": "- rye\n-\n",
    "mixed line ends": "- rye\r\n- tea\n- oats\r\n",
    "latin-1": "- caf\udce9\n",
    "unclosed fence after items": "- rye\n\n```\ncode\n",
}
UNUSABLE = {
    "unclosed fence": "# Food\n\n```\n- rye\n",
    "unclosed comment": "# Food\n\n<!--\n\n",
    "unclosed pre": "<pre>\n",
}


def read(text: str) -> tuple[Observation, ...]:
    body = readable(Source.from_text(text).body_text)
    return memory.observations(SimpleNamespace(body=body, structure=parse(body)))  # type: ignore[arg-type]


def texts(text: str) -> list[str]:
    return [one.text for one in read(text)]


def add(text: str, observation: str, **rest: object) -> str:
    given = {"id": "n3wid0", **rest}
    return memory.append_observation(Source.from_text(text), observation, **given).text  # type: ignore[arg-type]


def facts(text: str) -> list[tuple[object, ...]]:
    return [(o.id, o.text, o.origin, o.status, dict(o.fields)) for o in read(text)]


def outline(text: str) -> tuple[object, ...]:
    source = Source.from_text(text)
    found = parse(source.body_text)
    return source.yaml, [(h.level, h.raw) for h in found.headings], len(found.fences)


def cut_out(before: str, after: str) -> str:
    """What was inserted: all other bytes must be the same."""
    extra = len(after) - len(before)
    for at in range(len(before) + 1):
        if before[:at] + after[at : at + extra] + before[at:] == after:
            return after[at : at + extra]
    raise AssertionError((before, after))


# Reading


def test_the_lines_of_the_format() -> None:
    note = (
        "---\nid: k2m9qx4tb1cz\n---\n# Preferences\n\n"
        "- Prefers dark themes in every editor. ^m3k9f2\n"
        "- Writes in Spanish; see [[Style guide]]. #style ^q81xz0\n"
        "- The API is slow on Mondays. [type:: episodic] [expires:: 2027-01-31] ^t5w2ha\n"
        "- One from both [derived_from:: m3k9f2, q81xz0] [status:: stale] [origin:: system] ^d1\n"
        "- Added by hand\n"
    )
    first, second, third, fourth, fifth = read(note)
    assert (first.id, first.text, first.type, first.origin, first.line) == (
        *("m3k9f2", "Prefers dark themes in every editor.", "semantic", "agent", 2),
    )
    assert (second.text, second.tags) == (
        *("Writes in Spanish; see [[Style guide]]. #style", ("style",)),
    )
    assert (third.type, third.expires, third.text) == (
        *("episodic", "2027-01-31", "The API is slow on Mondays."),
    )
    assert (fourth.derived_from, fourth.status, fourth.origin) == (
        *(("m3k9f2", "q81xz0"), "stale", "system"),
    )
    assert (fifth.id, fifth.origin, fifth.text) == ("", "owner", "Added by hand")


@pytest.mark.parametrize(
    ("item", "text", "fields"),
    [
        ("- [Status:: Stale] first", "first", {"status": "Stale"}),
        ("- a [type::x] b", "a b", {"type": "x"}),
        ("- a [mood:: good] b", "a [mood:: good] b", {}),
        ("- use `[status:: stale]` so", "use `[status:: stale]` so", {}),
        ("- a \\[status:: stale]", "a [status:: stale]", {}),
        ("- a\n  - b [status:: stale]", "a\n- b [status:: stale]", {}),
        ("- a\n\tb", "a\nb", {}),
        ("-\ta\n\n\tb", "a\n\nb", {}),
        ("-  a  \n   b [derived-from:: ^x]  ", "a\nb", {"derived_from": "^x"}),
        ("1) \\# a\n   \\- b", "# a\n- b", {}),
        ("- a\nlazy", "a\nlazy", {}),
        ("- [x] done", "[x] done", {}),
    ],
)
def test_what_owners_write(item: str, text: str, fields: dict[str, str]) -> None:
    (one,) = read(item + "\n")
    assert (one.text, dict(one.fields)) == (text, fields)


def test_where_the_id_may_stand() -> None:
    assert [one.id for one in read(OWNERS["nested"])] == ["r1", ""]
    assert [one.id for one in read(OWNERS["code in an item"])] == ["r1"]
    assert [one.id for one in read("- a ^x1 b\n- ^only\n- c^d\n- e ^max_discount \n")] == [
        *("", "", "max_discount"),
    ]


def test_empty_items_are_no_observations() -> None:
    assert texts("-\n- \n- a\n- ^x1\n- [type:: x]\n") == ["a"]


# The form of an observation


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("  a \r\n b\t\rc  ", "a\n b\nc"),
        ("a\n\n\nb", "a\n\n\nb"),
        ("a\tb", "a\tb"),
        ("x" * 4096, "x" * 4096),
    ],
)
def test_canonical(text: str, kept: str) -> None:
    assert canonical(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "\u200b",
        "a\0",
        "a\x1bb",
        "a\x85b",
        "\ud800",
        "a\udc80",
        "é" * 2049,
        "\ufeff \u200f",
    ],
)
def test_observations_of_no_good_form_are_refused(text: str) -> None:
    with pytest.raises(ObservationRefused):
        canonical(text)


def test_mm_01_normal_form() -> None:
    fact = normal_form("Drinks tea without sugar")
    assert fact == normal_form("  drinks  TEA without\tsugar. ")
    assert fact == normal_form("Drinks tea without sugar #food #tea!")
    assert fact == normal_form("Ｄrinks tea without sugar…")
    assert fact != normal_form("Drinks tea with sugar")
    assert normal_form("Learns C#") != normal_form("Learns C")
    assert normal_form("Likes C++.") != normal_form("Likes C")
    assert normal_form("Straße") == normal_form("STRASSE")
    assert normal_form("#tag") != normal_form("#other")
    assert normal_form("…") != ""


@given(TEXT)
def test_normal_form_is_stable(text: str) -> None:
    assert normal_form(normal_form(text)) == normal_form(text)


# Escaping


@given(TEXT)
@example("\\- a")
@example("1\\. a")
@example("a\n\n    b")
@example("%%%")
def test_decode_undoes_encode(text: str) -> None:
    assert decode(encode(text)) == text


@given(st.text(max_size=200))
def test_decode_undoes_encode_for_any_text(text: str) -> None:
    assert decode(encode(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "Prefers [[Style guide|the guide]] and `code`",
        "[a](b.md) is *good* - really; 5 < 6 > 4",
        "- [ ] x"[6:] + " 100% sure, #tag, a^b, C#, 1.5, --flag",
        "**Bold** start",
        "line one\nline two",
        "```x``` inline",
    ],
)
def test_ordinary_text_is_written_as_it_is(text: str) -> None:
    assert encode(text) == text


# Appending


@pytest.mark.parametrize("name", OWNERS)
@pytest.mark.parametrize("text", ["hates liquorice", "# not\n- a\n\n```\nheading ^x [type:: y]"])
def test_one_more_observation_and_nothing_else(name: str, text: str) -> None:
    before = OWNERS[name]
    after = add(before, text, fields={"type": "episodic"})
    added = ("n3wid0", text, "agent", "", {"type": "episodic"})
    inserted = cut_out(before, after)
    assert facts(after) == [*facts(before), added]
    assert outline(after) == outline(before)
    if before.endswith("\r\n") and "\n- tea\n" not in before:
        assert inserted.count("\n") == inserted.count("\r\n")
    if name not in ("prose behind", "table", "unclosed fence after items"):
        assert after.endswith(("\n", "%% a comment %%\n"))


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_note_that_would_swallow_the_line_is_refused(name: str) -> None:
    with pytest.raises(NoteUnusable):
        add(UNUSABLE[name], "hates liquorice")


@pytest.mark.parametrize(
    ("name", "added"),
    [
        ("new", "\n- tea ^n3wid0\n"),
        ("empty", "- tea ^n3wid0\n"),
        ("windows", "- tea ^n3wid0\r\n"),
        ("no final newline", "\n- tea ^n3wid0\n"),
        ("frontmatter alone", "\n- tea ^n3wid0\n"),
        ("ordered", "- tea ^n3wid0\n"),
        ("stars", "* tea ^n3wid0\n"),
        ("plus, indented", "  + tea ^n3wid0\n"),
        ("prose alone", "\n\n- tea ^n3wid0\n"),
        ("table alone", "\n\n- tea ^n3wid0\n"),
        ("prose behind", "- tea ^n3wid0\n"),
        ("loose", "- tea ^n3wid0\n"),
    ],
)
def test_the_line_looks_like_its_neighbours(name: str, added: str) -> None:
    inserted = cut_out(OWNERS[name], add(OWNERS[name], "tea"))
    assert sorted(inserted) == sorted(added)


def test_mm_05_a_last_line_without_newline() -> None:
    note = add("---\ncategory: food\n---\n- likes rye bread", "hates liquorice")
    assert note.endswith("\n")
    assert texts(note + "- from outside\n") == [
        *("likes rye bread", "hates liquorice", "from outside"),
    ]


def test_several_lines_tags_and_fields() -> None:
    note = add("", "one\n\n  two #b", tags=("a/x", "#B"), fields={"type": "working"}, id="w1")
    assert note == "- one\n\n    two #b #a/x [type:: working] ^w1\n"
    (one,) = read(note)
    assert (one.text, one.tags) == ("one\n\n  two #b #a/x", ("b", "a/x"))


@pytest.mark.parametrize(
    "rest",
    [
        {"tags": ("two words",)},
        {"tags": ("",)},
        {"tags": ("12",)},
        {"fields": {"mood": "good"}},
        {"fields": {"type": "a]b"}},
        {"fields": {"type": "a\nb"}},
        {"fields": {"type": " "}},
        {"id": "no id"},
        {"id": ""},
        {"id": "r1"},
    ],
)
def test_what_cannot_be_written_is_refused(rest: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        add("- rye ^r1\n", "tea", **rest)


@given(TEXT, st.sampled_from(sorted(OWNERS)))
def test_any_text_comes_back_and_is_no_structure(text: str, name: str) -> None:
    try:
        wanted = canonical(text)
    except ObservationRefused:
        assume(False)
    before = OWNERS[name]
    after = add(before, text, fields={"status": "unreviewed", "expires": "2027-01-31"})
    added = ("n3wid0", wanted, "agent", "unreviewed")
    cut_out(before, after)
    assert facts(after)[:-1] == facts(before)
    assert facts(after)[-1][:4] == added
    assert outline(after) == outline(before)


@given(st.text(max_size=120))
def test_any_unicode_comes_back(text: str) -> None:
    try:
        wanted = canonical(text)
    except ObservationRefused:
        assume(False)
    assert texts(add(OWNERS["windows"], text))[-1] == wanted


@given(st.lists(TEXT, min_size=2, max_size=4))
def test_many_texts_in_one_note(many: list[str]) -> None:
    note, wanted = "", []
    for number, text in enumerate(many):
        try:
            wanted.append(canonical(text))
        except ObservationRefused:
            continue
        note = add(note, text, id=f"i{number}")
    assert texts(note) == wanted


# Replacing, removing, stamping


def pick(text: str, index: int) -> tuple[Source, Observation]:
    return Source.from_text(text), read(text)[index]


@given(TEXT, st.sampled_from(sorted(OWNERS)), st.integers(0, 9))
def test_replacing_changes_one_observation(text: str, name: str, which: int) -> None:
    before = facts(OWNERS[name])
    assume(before)
    index = which % len(before)
    try:
        wanted = canonical(text)
        after = memory.replace_observation(*pick(OWNERS[name], index), text).text
    except ObservationRefused:
        assume(False)
    expected = [*before]
    expected[index] = (before[index][0], wanted, *before[index][2:])
    assert facts(after) == expected
    assert outline(after)[:2] == outline(OWNERS[name])[:2]


def test_replacing_keeps_marker_fields_and_id() -> None:
    note = "*  old\n   more [type:: episodic] ^r1\r\n*  tea\r\n"
    after = memory.replace_observation(*pick(note, 0), "new\nline").text
    assert after == "*  new\n   line [type:: episodic] ^r1\r\n*  tea\r\n"
    assert memory.replace_observation(*pick(note, 1), "tea ").text == note
    task = memory.replace_observation(*pick("- [ ] buy rye\n", 0), "[x] buy rye").text
    assert task == "- [x] buy rye\n"
    piped = memory.replace_observation(*pick("- rye\n---\n", 0), "a |").text
    assert piped == "- a |\n\n---\n"


@pytest.mark.parametrize("name", OWNERS)
def test_removing_leaves_no_trace(name: str) -> None:
    before = OWNERS[name]
    for index in range(len(read(before))):
        after = memory.remove_observation(*pick(before, index)).text
        expected = facts(before)
        assert facts(after) == expected[:index] + expected[index + 1 :]
        assert outline(after)[:2] == outline(before)[:2]
        assert cut_out(after, before)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("# F\n\n- a\n  more\n- b\n", "# F\n\n- b\n"),
        ("- a\n\n- b\n\ntext\n", "- b\n\ntext\n"),
        ("# F\n\n- a\n\ntext\n", "# F\n\ntext\n"),
        ("text\n- a\n---\n", "text\n\n---\n"),
        ("text\n- a\n2. b\n", "text\n\n2. b\n"),
        ("- a", ""),
    ],
)
def test_removing_heals_the_seam(text: str, left: str) -> None:
    assert memory.remove_observation(*pick(text, 0)).text == left


@pytest.mark.parametrize("name", OWNERS)
def test_stamping_adds_the_id_and_keeps_the_origin(name: str) -> None:
    before = OWNERS[name]
    for index, one in enumerate(read(before)):
        after = memory.stamp_id(*pick(before, index), "n3w").text
        if one.id:
            assert after == before
            continue
        assert "^n3w" in cut_out(before, after)
        stamped = read(after)[index]
        assert (stamped.id, stamped.text, stamped.origin) == ("n3w", one.text, "owner")
        assert [o.text for o in read(after)] == [o.text for o in read(before)]


def test_a_stamp_where_no_paragraph_is() -> None:
    note = "- ```\n  code\n  ```\n- tea\n"
    after = memory.stamp_id(*pick(note, 0), "n3w").text
    assert after == "- ```\n  code\n  ```\n\n  [origin:: owner] ^n3w\n- tea\n"


def test_an_observation_that_is_no_longer_there_is_refused() -> None:
    _, one = pick("- rye\n- tea\n", 1)
    moved = Source.from_text("- rye\n- oats\n- tea\n")
    for function in (memory.remove_observation, memory.stamp_id, memory.replace_observation):
        with pytest.raises(NoteUnusable):
            function(moved, one, "x") if function is not memory.remove_observation else (
                memory.remove_observation(moved, one)
            )


def test_mm_06_and_mm_08_edits_of_a_fact_are_seen() -> None:
    home = Source.from_text("- Lives in a flat; heating code 4711; cat is called Pim\n")
    after = edit.find_replace(home, "home.md", "heating code 4711", "heating code 9922").text
    assert texts(after) == ["Lives in a flat; heating code 9922; cat is called Pim"]
    music = Source.from_text("- Dislikes opera\n")
    after = memory.replace_observation(music, read(music.text)[0], "Enjoys opera").text
    assert after == "- Enjoys opera\n"


def test_hostile_notes_take_linear_time() -> None:
    for unit in ("[type:: x] ", "`[type:: x]` ", "^a ", "[type:: ", "\\", "%", "x\n  "):
        note = "- " + unit * (300_000 // len(unit))
        started = time.process_time()
        read(note)
        assert time.process_time() - started < 2

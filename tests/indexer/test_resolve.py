"""Names: links go where Obsidian takes them, references of tools are never guessed."""

import posixpath
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.indexer.resolve import Names, Resolver, asks


def note(path, title="", aliases=(), own_id="", copy=False):
    stem = posixpath.basename(path).removesuffix(".md")
    return Names(path, own_id or f"id of {path}", title or stem, tuple(aliases), copy)


def vault(*notes):
    return Resolver(note(one) if isinstance(one, str) else one for one in notes)


# Links


@pytest.mark.parametrize("order", [1, -1])
def test_lk_08_own_folder_then_shortest_path_in_any_order_of_indexing(order):
    paths = ["k/Note.md", "h/k/Note.md", "wwww/Note.md", "k/Src.md", "q/Src2.md"][::order]
    sources = ("k/Src.md", "q/Src2.md", "wwww/deep/Src3.md")
    assert [vault(*paths).link("Note", source) for source in sources] == ["k/Note.md"] * 3
    assert vault(*paths).link("Note", "wwww/Src.md") == "wwww/Note.md"
    after = vault(*paths, "Note.md")
    assert [after.link("Note", source) for source in sources] == ["Note.md"] * 3


def test_a_path_is_found_from_the_top_then_below_the_own_folder_then_by_its_end():
    resolver = vault("k/Note.md", "h/k/Note.md", "a/bk/Note.md", "z/x/y/Note.md")
    assert resolver.link("k/Note", "h/Src.md") == "k/Note.md"
    assert resolver.link("x/y/Note", "z/Src.md") == "z/x/y/Note.md"
    assert resolver.link("y/Note", "Src.md") == "z/x/y/Note.md"
    assert resolver.link("/h/k/Note", "k/Src.md") == "h/k/Note.md"
    assert resolver.link("/y/Note", "z/x/Src.md") is None
    assert resolver.link("nowhere/Note", "k/Src.md") is None


def test_paths_of_one_length_go_in_alphabetical_order():
    assert vault("b/Note.md", "a/Note.md", "c/Note.md").link("Note", "Src.md") == "a/Note.md"


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("My Plan.md", "My Plan.md"),
        ("sub/Two Words.md", "sub/Two Words.md"),
        ("the brief.md", "the brief.md"),
        ("Report (final).md", "Report (final).md"),
        ("Sp]ot", "Sp]ot.md"),
    ],
)
def test_lk_10_and_lk_11_decoded_targets_resolve(target, path):
    names = ("My Plan.md", "sub/Two Words.md", "the brief.md", "Report (final).md", "Sp]ot.md")
    assert vault(*names).link(target, "Src.md") == path


def test_lk_15_a_file_beats_a_title_and_a_title_an_alias():
    planet, tool = note("far/away/Mercury.md"), note("Thermometer.md", aliases=["Mercury", "Hg"])
    assert vault(planet, tool).link("Mercury", "Src.md") == "far/away/Mercury.md"
    assert vault(planet, tool).link("hg", "Src.md") == "Thermometer.md"
    titled = note("Long/Way/x.md", title="Hg")
    assert vault(planet, tool, titled).link("Hg", "Src.md") == "Long/Way/x.md"


def test_a_title_with_a_slash_is_found():
    assert vault(note("x.md", title="CI/CD")).link("ci/cd", "Src.md") == "x.md"


def test_lk_20_a_local_anchor_stays_in_its_note():
    assert vault("Guide.md", "Src.md").link("", "Src.md") == "Src.md"
    assert vault("Guide.md", "Src.md").link("Guide", "Src.md") == "Guide.md"


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("../b/Pump", "b/Pump.md"),
        ("../b/Pump.md", "b/Pump.md"),
        ("./Missing", None),
        ("../c/../b/Pump", "b/Pump.md"),
        ("../../b/Pump", None),
        ("../..", None),
        ("..", None),
        ("/a/../b/Pump", "b/Pump.md"),
        ("./Src", "a/Src.md"),
    ],
)
def test_lk_21_a_relative_target_is_looked_up_there_and_nowhere_else(target, path):
    resolver = vault("a/Src.md", "b/Pump.md", "c/Missing.md", "c/Pump.md")
    assert resolver.link(target, "a/Src.md") == path


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("Mix.MD", "Mix.md"),
        ("diary", "Diary.md"),
        ("DIARY", "Diary.md"),
        ("Sp]ot", "Sp]ot.md"),
        ("Src", "Src.md"),
        ("https://site.invalid", None),
    ],
)
def test_lk_23_case_and_ending_do_not_matter(target, path):
    assert vault("Mix.md", "Diary.md", "Sp]ot.md", "Src.md").link(target, "Src.md") == path


def test_of_two_names_that_differ_in_case_the_one_spelt_so_is_meant():
    resolver = vault("note.md", "Note.md", "k/PUMP.md", "k/pump.md")
    assert resolver.link("note", "Src.md") == "note.md"
    assert resolver.link("Note", "Src.md") == "Note.md"
    assert resolver.link("pump", "k/Src.md") == "k/pump.md"
    assert resolver.link("NOTE", "Src.md") == "Note.md"


def test_unicode_forms_are_one_name():
    composed, split = "Café/Señal.md", unicodedata.normalize("NFD", "Café/Señal.md")
    assert vault(split).link(composed, "Src.md") == split
    assert vault(composed).link(split.upper(), "Src.md") == composed
    assert vault("Straße.md").link("STRASSE", "Src.md") == "Straße.md"


def test_fw_15_links_in_the_old_spelling_still_resolve():
    assert vault("Setup guide.md").link("Setup Guide", "Src.md") == "Setup guide.md"


def test_sy_01_conflict_copies_lose_to_every_ordinary_note():
    stamped = note("Plan.sync-conflict-20300102-030405-ABCDEFG.md", title="Plan", copy=True)
    named = note("Plan (Kim's conflicted copy 2030-01-02).md", aliases=["Plan"], copy=True)
    ordinary = note("deep/down/Plan.md", own_id="p1")
    resolver = vault(stamped, named, "Plan (1).md", ordinary)
    assert resolver.link("Plan", "Src.md") == "deep/down/Plan.md"
    assert resolver.link("Plan (1)", "Src.md") == "Plan (1).md"
    assert resolver.link("Plan (Kim's conflicted copy 2030-01-02)", "Src.md") == named.path
    assert resolver.find("Plan") == ("deep/down/Plan.md",)
    assert vault(stamped, note("a.md", aliases=["Plan"])).find("Plan") == ("a.md",)
    assert vault(stamped).find("Plan") == (stamped.path,)


# References


def test_mc_11_the_ending_is_optional_and_a_dot_is_no_ending():
    resolver = vault("Plan.md", "Pump v2.5 notes.md", "x.md.md")
    assert resolver.find("Plan") == resolver.find("Plan.md") == ("Plan.md",)
    assert resolver.find("Pump v2.5 notes") == ("Pump v2.5 notes.md",)
    assert resolver.link("Pump v2.5 notes", "Src.md") == "Pump v2.5 notes.md"
    assert resolver.find("x.md") == resolver.find("x.md.md") == ("x.md.md",)
    assert resolver.find("Release 3.1") == ()


def test_ed_21_a_near_match_is_never_accepted_and_ambiguity_is_told():
    resolver = vault("pumps/Pump A.md", "a/Todo.md", "b/Todo.md")
    assert resolver.find("Pump B") == ()
    assert resolver.find("Pump") == ()
    assert resolver.find("Todo") == ("a/Todo.md", "b/Todo.md")
    assert resolver.find("b/Todo") == ("b/Todo.md",)
    assert resolver.find("/b/todo.MD") == resolver.find("./b/Todo") == ("b/Todo.md",)


@pytest.mark.parametrize(
    ("ref", "paths"),
    [
        ("m1", ("deep/Alpha.md",)),
        ("alpha", ("Alpha.md",)),
        ("Beta", ("x/one.md",)),
        ("Gamma", ("y/two.md",)),
        ("two", ("y/two.md",)),
        ("[[Beta|the beta]]", ("x/one.md",)),
        ("![[two#^m3k9f2]]", ("y/two.md",)),
        ("two#^m3k9f2", ("y/two.md",)),
        ("y/two#A heading # more", ("y/two.md",)),
        ("C# notes", ("z/c.md",)),
        ("C# notes#^m3k9f2", ("z/c.md",)),
        ("", ()),
        ("#^m3k9f2", ()),
        ("[[]]", ()),
        ("t" * 5000, ()),
    ],
)
def test_a_reference_is_an_id_a_path_a_title_an_alias_or_a_file_name(ref, paths):
    resolver = vault(
        note("deep/Alpha.md", own_id="m1"),
        "Alpha.md",
        note("x/one.md", title="Beta"),
        note("y/two.md", title="Second", aliases=["Gamma", "Beta"]),
        note("z/Gamma.md", title="Third", aliases=["Beta"]),
        note("z/c.md", title="C# notes"),
    )
    assert resolver.find(ref) == paths


def test_a_copied_note_makes_its_id_ambiguous():
    assert vault(note("a.md", own_id="m1"), note("b.md", own_id="m1")).find("M1") == (
        "a.md",
        "b.md",
    )


def test_the_part_behind_a_name_is_told_apart_from_a_name_with_a_hash():
    resolver = vault(note("z/c.md", title="C# notes"), "y/two.md", "C.md")
    assert resolver.locate("C# notes") == (("z/c.md",), "")
    assert resolver.locate("C# notes#Old#Older") == (("C.md",), "notes#Old#Older")
    assert resolver.locate("C# notes#^m3k9f2") == (("z/c.md",), "^m3k9f2")
    assert resolver.locate("[[two#A / B|shown]]") == (("y/two.md",), "A / B")
    assert resolver.locate("two#") == (("y/two.md",), "")
    assert resolver.locate("three#Part") == ((), "")


# Suggestions


def test_ed_18_a_mistyped_name_is_suggested_not_taken():
    resolver = vault("Projects/Kiln.md", "Projects/Oven.md", "Kitchen.md")
    assert resolver.find("Projects/Klin") == ()
    assert resolver.suggest("Projects/Klin") == ("Projects/Kiln.md",)
    assert resolver.suggest("[[Klin#^m3k9f2]]") == ("Projects/Kiln.md",)


def test_suggestions_know_titles_put_copies_last_and_keep_the_limit():
    copy = note("Pump A.sync-conflict-20300102-030405-AAAAAAA.md", title="Pump A", copy=True)
    resolver = vault(copy, note("p.md", title="Pump A"), *(f"{n}/Pump {n}.md" for n in range(9)))
    assert resolver.suggest("Pump Ä", limit=20)[0] == "p.md"
    assert resolver.suggest("Pump A", limit=20)[-1] == copy.path
    assert len(resolver.suggest("Pump")) == 5
    assert resolver.suggest("zzz") == resolver.suggest("") == ()


PARTS = st.sampled_from(["a", "B", "Note", "note", "Ñ.md", "x.y", "..", "."])
TARGETS = st.lists(PARTS, min_size=1, max_size=4).map("/".join) | st.text(max_size=20)
PATHS = st.lists(PARTS.filter(lambda part: part.strip(".")), min_size=1, max_size=3).map(
    lambda parts: "/".join(parts) + ".md"
)


@given(st.lists(PATHS, unique=True, max_size=8), TARGETS, PATHS, st.randoms())
def test_answers_are_notes_of_the_vault_whatever_the_order(paths, target, source, random):
    shuffled = random.sample(paths, len(paths))
    one, other = vault(*paths), vault(*shuffled)
    assert one.link(target, source) == other.link(target, source)
    assert one.link(target, source) in {*paths, source, None}
    assert one.find(target) == other.find(target)
    assert one.suggest(target) == other.suggest(target)
    assert {*one.find(target), *one.suggest(target)} <= {*paths}


NOTES = st.builds(note, PATHS, TARGETS, st.lists(TARGETS, max_size=2), copy=st.booleans())


@given(st.lists(NOTES, max_size=6, unique_by=lambda one: one.path), NOTES, TARGETS, PATHS)
def test_a_note_that_is_called_nothing_that_a_link_asks_for_is_nothing_to_it(
    notes, other, target, source
):
    before, after = Resolver(notes), Resolver(notes)
    after.replace(None, other)
    if before.link(target, source) != after.link(target, source):
        assert asks(target, source) & other.called()


@given(st.lists(PATHS, unique_by=str.casefold, min_size=1, max_size=8))
def test_every_note_is_found_by_its_full_path(paths):
    resolver = vault(*paths)
    for path in paths:
        assert resolver.find(path) == (path,)
        assert resolver.link(f"/{path}", "elsewhere/Src.md") == path

import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from zibaldone.vault.categories import (
    _UNCHANGING,
    category_key,
    category_near,
    check_label,
    file_name,
    singular,
)
from zibaldone.vault.errors import CategoryRefused
from zibaldone.vault.paths import check_component, fold_name

LABELS = st.text(alphabet=st.characters(exclude_categories=()), min_size=1, max_size=120) | st.text(
    alphabet=st.sampled_from("aAsSeEiIyYcCoOnN -_.:?#ñéﬁ＿½㏚…"), min_size=1, max_size=12
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Preferences", "preferences"),
        ("Coding style", "coding-style"),
        ("coding_style", "Coding  Style"),
        ("To-do", "to do"),
        ("Code reviews", "code review"),
        ("preference", "preferences"),
        ("categories", "category"),
        ("hobbies", "Hobby"),
        ("movies", "movie"),
        ("boxes", "box"),
        ("classes", "class"),
        ("watches", "watch"),
        ("dishes", "dish"),
        ("houses", "house"),
        ("courses", "course"),
        ("caches", "cache"),
        ("databases", "database"),
        ("recipes", "recipe"),
        ("games", "game"),
        ("stores", "store"),
        ("potatoes", "potato"),
        ("shoes", "shoe"),
        ("topics", "topic"),
        ("preferencias", "Preferencia"),
        ("gustos", "gusto"),
        ("viajes", "viaje"),
        ("ciudades", "ciudad"),
        ("canciones", "canción"),
        ("reuniones", "reunión"),
        ("colores", "color"),
        ("materiales", "material"),
        ("errores", "error"),
        ("noches", "noche"),
        ("clases", "clase"),
        ("preferencias personales", "preferencia personal"),
        ("ﬁnance", "finance"),
        ("Café", unicodedata.normalize("NFD", "CAFÉ")),
    ],
)
def test_labels_of_one_category(one, other):
    assert category_key(one) == category_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("news", "new"),
        ("glass", "glasses"),
        ("Windows", "window"),
        ("pandas", "panda"),
        ("gas", "ga"),
        ("bus", "bu"),
        ("class", "clas"),
        ("physics", "physic"),
        ("lens", "len"),
        ("arms", "arm"),
        ("goods", "good"),
        ("car", "care"),
        ("plan", "plane"),
        ("not", "note"),
        ("plans", "planes"),
        ("tens", "tense"),
        ("crisis", "crisi"),
        ("status", "statu"),
        ("lunes", "lune"),
        ("1990s", "1990"),
        ("k8s", "k8"),
        ("C", "C++"),
        ("todo", "to-do"),
        ("Año", "Ano"),
        ("work", "home"),
    ],
)
def test_labels_of_two_categories(one, other):
    assert category_key(one) != category_key(other)


def test_mm_10_the_other_unicode_form_is_the_same_category_and_no_accent_is_another():
    known = ("Café", "Food")
    assert check_label("Cafe\u0301", known) == "Café"
    assert check_label("Cafe", known) == "Cafe"
    assert category_near("Cafe", known) == ("Café",)
    assert category_near("cafés", ("Cafe", "Café", "Food")) == ("Cafe",)
    assert category_near("Food", known) == ()
    assert fold_name(file_name("Cafe")) != fold_name(file_name("Café"))


def test_the_first_spelling_stays():
    assert check_label("coding-styles", ["Food", "Coding style"]) == "Coding style"
    assert check_label("  Coding \u00a0 style ", []) == "Coding style"
    assert check_label("¿Qué?", ()) == "¿Qué?"


@pytest.mark.parametrize(
    "label",
    [
        "",
        " ",
        "\u3164",
        "two\nlines",
        "two\u2028lines",
        "tab\there",
        "nul\0",
        "[[link]]",
        "a|b",
        "C#",
        "a/b",
        "a\\b",
        "a∕b",
        "a／b",
        "a%2fb",
        "%2e%2e",
        "../out.md",
        "a/../../out.md",
        "..\\out.md",
        "%2e%2e/out.md",
        "/tmp/out.md",
        ".",
        "..",
        "．．",
        "…",
        "a\u202eb",
        "a\u200bb",
        "a\udc80",
        "a\n",
        "a" * 101,
        "a" * 1_000_000,
    ],
)
def test_sc_01_unusable_labels_are_refused_with_the_known_ones(label):
    with pytest.raises(CategoryRefused) as caught:
        check_label(label, ["Food", "Travel"])
    assert caught.value.known == ("Food", "Travel")
    assert "Food, Travel" in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("preferences", "preferences.md"),
        ("Coding style", "coding-style.md"),
        ("to_do", "to-do.md"),
        ("Café", "café.md"),
        ("Año nuevo", "año-nuevo.md"),
        ("v2.5", "v2.5.md"),
        ("C++", "c++.md"),
        ("笔记", "笔记.md"),
        ("con", "con_.md"),
        ("50% off", "50%-off.md"),
    ],
)
def test_mc_11_the_file_of_a_category(label, name):
    assert file_name(label) == name


@pytest.mark.parametrize("label", ["???", "--", "::", "...?", ".net", "work: ideas", "etc."])
def test_a_label_that_loses_something_gets_a_fingerprint(label):
    name = file_name(label)
    assert check_component(name) == name
    stem, fingerprint = name.removesuffix(".md").rsplit("-", 1)
    assert stem in {"category", "net", "work-ideas", "etc"}
    assert len(fingerprint) == 8


def test_labels_without_letters_have_files_too():
    assert file_name("🙂") == "🙂.md"
    assert file_name("!") == "!.md"
    assert len({file_name(label) for label in ("?", "??", ":", "*", "--", "…?")}) == 6


def test_long_labels_are_clipped_and_stay_apart():
    one, other = (file_name("笔" * 99 + end) for end in "xy")
    assert one != other
    assert len(one.encode()) <= 200


@given(LABELS)
def test_an_accepted_label_is_settled_and_has_a_safe_file(label):
    try:
        accepted = check_label(label, ())
    except CategoryRefused:
        return
    assert check_label(accepted, ()) == accepted
    assert category_key(accepted) == category_key(label)
    assert check_label(label, (accepted,)) == accepted
    name = file_name(accepted)
    assert check_component(name) == name
    assert len(name.encode()) <= 200


@given(LABELS, LABELS)
def test_two_categories_never_share_a_file(one, other):
    if category_key(one) != category_key(other):
        assert fold_name(file_name(one)) != fold_name(file_name(other))


@given(st.text("aeiobdgklmnprt", min_size=2), st.sampled_from("bdgklmnprt"))
def test_a_plain_s_is_folded(beginning, last):
    word = beginning + last
    assume(f"{word}s" not in _UNCHANGING)
    assert singular(f"{word}s") == word

import unicodedata

import yaml
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.vault.ids import (
    ALPHABET,
    BLOCK_ID_LENGTH,
    LETTERS,
    derived_block_id,
    derived_id,
    is_id,
    new_block_id,
    new_id,
)


def test_new_ids_are_twelve_characters_and_differ():
    made = {new_id() for _ in range(2000)}
    assert len(made) == 2000
    assert all(is_id(each) for each in made)


def test_an_id_written_bare_into_yaml_reads_back_as_text():
    for each in [new_id() for _ in range(500)] + [derived_id(f"{n}.md") for n in range(500)]:
        assert yaml.safe_load(f"id: {each}") == {"id": each}
        assert each[0].isalpha()


def test_the_alphabet_has_no_letter_that_is_mistaken_for_another():
    assert len(set(ALPHABET)) == 32
    assert not set("ilou") & set(ALPHABET)


def test_a_block_id_is_never_one_that_is_taken():
    class AllButOne:
        def __init__(self):
            self.asked = []

        def __contains__(self, block_id):
            self.asked.append(block_id)
            return len(self.asked) < 5

    taken = AllButOne()
    block_id = new_block_id(taken)
    assert block_id == taken.asked[4]
    assert len(block_id) == 6
    assert set(block_id) <= set(ALPHABET)


def test_a_derived_id_is_stable_across_versions():
    assert derived_id("projects/boat/Log.md") == "kma03h7hjrz5"


def test_a_derived_id_ignores_the_unicode_form_of_the_path():
    path = "memoria/Café.md"
    assert derived_id(unicodedata.normalize("NFD", path)) == derived_id(path)
    assert derived_id("memoria/Cafe.md") != derived_id(path)


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_path_has_a_derived_id_even_one_that_is_no_valid_text(path):
    assert is_id(derived_id(path))


def test_other_texts_are_not_ids():
    for text in [
        "",
        "7k2m9qx4tb1",
        "7k2m9qx4tb1cc",
        "7K2M9QX4TB1C",
        "7k2m9qx4tb1l",
        "7k2m9qx4tb-c",
    ]:
        assert not is_id(text)
    assert is_id("7k2m9qx4tb1c")


@given(st.text(), st.text(alphabet=st.characters(exclude_categories=())))
def test_a_line_without_an_id_is_called_the_same_each_time(note, text):
    name = derived_block_id(note, text)
    assert name == derived_block_id(note, text)
    assert name != derived_block_id(f"{note}x", text)
    assert len(name) == BLOCK_ID_LENGTH
    assert name[0] in LETTERS

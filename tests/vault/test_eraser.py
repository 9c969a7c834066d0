"""What lies beside notes and journal loses words in one step, and nothing else."""

import json

import pytest
from zibaldone.vault.eraser import Eraser
from zibaldone.vault.errors import StorageFailed
from zibaldone.vault.forgetting import Doomed
from zibaldone.vault.layout import open_layout
from zibaldone.vault.traces import Words

WORDS = Words(["Likes violet themes in editors."])


@pytest.fixture
def eraser(vault_dir):
    return Eraser(open_layout(vault_dir))


@pytest.fixture
def state(vault_dir):
    return vault_dir / ".zibaldone"


def test_texts_of_an_audit_give_way_to_empty_ones(eraser, state):
    audit = state / "audit" / "dev" / "2026-11.jsonl"
    audit.parent.mkdir(parents=True)
    kept = b'{"query": "tea",  "n": [1, null, true, 2.50]}\n'
    audit.write_bytes(kept + b'["likes VIOLET themes in editors, said she", {"a": "b"}]\nno json\n')
    assert eraser.strike_lines(WORDS) == 1
    assert audit.read_bytes() == kept + b'["",{"a":"b"}]\nno json\n'
    before = audit.stat()
    assert eraser.strike_lines(WORDS) == 0
    assert audit.stat() == before


def test_law_11_a_question_that_the_words_answered_is_struck_for_one_word_of_them(eraser, state):
    audit = state / "audit" / "dev" / "2026-11.jsonl"
    audit.parent.mkdir(parents=True)

    def line(query, observation):
        given = [{"note": "k2m9qx4tb1c7", "observation": observation}]
        return json.dumps({"query": query, "given": given}, separators=(",", ":")) + "\n"

    asked = [("a violet?", "m3k9f2"), ("which colour", "m3k9f2"), ("a violet?", "q81xz0")]
    audit.write_text("".join(line(*each) for each in asked) + '{"query":1,"given":7}\n')
    assert eraser.strike_lines(WORDS, "k2m9qx4tb1c7", "m3k9f2") == 1
    kept = [json.loads(each) for each in audit.read_text().splitlines()]
    assert [each["query"] for each in kept] == ["", "which colour", "a violet?", 1]
    assert [each.get("redacted") for each in kept] == [True, None, None, None]
    assert eraser.strike_lines(WORDS, "k2m9qx4tb1c7") == 1
    assert "violet" not in audit.read_text()


def test_damaged_lines_of_an_audit_that_hold_the_words_are_left_out(eraser, state):
    audit = state / "audit" / "dev" / "2026-11.jsonl"
    audit.parent.mkdir(parents=True)
    audit.write_bytes(b'{"a": "Likes violet themes in editors."\n{}\n{"a": "Likes violet the')
    assert eraser.strike_lines(WORDS) == 1
    assert audit.read_bytes() == b"{}\n"


def test_only_temporary_files_with_the_words_are_swept(eraser, vault_dir, state):
    state.mkdir()
    held, other = state / ".1-a.zib-tmp", vault_dir / ".1-b.zib-tmp"
    held.write_text("Likes violet themes in editors")
    other.write_text("tea")
    assert eraser.sweep(WORDS) == 1
    assert (held.exists(), other.exists()) == (False, True)


def test_the_trash_of_a_note_is_emptied_with_its_folders(eraser, state):
    path = state / "trash" / "k2m9qx4tb1c7" / "projects" / "boat" / "Violet.md"
    path.parent.mkdir(parents=True)
    path.write_text("x")
    assert eraser.trashed("k2m9qx4tb1c7") == [path]
    eraser.empty("k2m9qx4tb1c7")
    eraser.empty("k2m9qx4tb1c7")
    assert list(state.rglob("*")) == [state / "trash"]


def test_what_is_planned_is_hashes_and_names_alone(eraser, state):
    assert (eraser.planned("n"), eraser.plans()) == ({}, [])
    eraser.plan("n", Doomed({"ab12": {"0.inserted", "path"}}, {"Likes violet themes."}))
    text = (state / "purges" / "n.json").read_text()
    assert json.loads(text) == {"v": 1, "parts": {"ab12": ["0.inserted", "path"]}}
    assert eraser.planned("n") == {"ab12": {"0.inserted", "path"}}
    assert eraser.plans() == ["n"]
    (state / "purges" / "n.json").write_text('{"parts": [1')
    assert eraser.planned("n") == {}
    eraser.done("n")
    eraser.done("n")
    assert eraser.plans() == []


def test_a_symlink_is_not_followed(eraser, vault_dir):
    (vault_dir / "a").write_text("tea")
    (vault_dir / "b").symlink_to("a")
    with pytest.raises(StorageFailed):
        eraser.change(vault_dir / "b", lambda _: b"")
    assert (vault_dir / "a").read_text() == "tea"

"""The lines of a thread's note, as tools and the owner write them, and when it is over."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from zibaldone.vault.layout import open_layout
from zibaldone.vault.memory import append_observation, canonical
from zibaldone.vault.note import parse_note
from zibaldone.vault.thread import KINDS, is_over, new_thread_source, thread_lines, written

TEXT = st.text(min_size=1, max_size=60).filter(str.isprintable).filter(str.strip).map(str.strip)


@pytest.fixture(scope="module")
def layout(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZIBALDONE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield open_layout(tmp_path_factory.mktemp("vault"))


def note_of(layout, text):
    return parse_note(layout, "agent-memory/threads/t.md", text.encode())


def test_each_line_has_its_kind_and_its_place(vault_dir):
    body = "- Decision: a: b ^a1\n- recipe: tea\n- [[Plan]]\n\n  more [origin:: owner] ^b2\n"
    note = note_of(open_layout(vault_dir), f"---\nkind: thread\n---\n{body}")
    lines = list(thread_lines(note))
    assert [(one.kind, one.text, one.id, one.line) for one in lines] == [
        ("decision", "a: b", "a1", 0),
        ("state", "recipe: tea", "", 1),
        ("state", "[[Plan]]\n\nmore", "b2", 2),
    ]
    assert [one.origin for one in lines] == ["agent", "owner", "owner"]
    assert note.body[lines[0].start : lines[0].end] == "- Decision: a: b ^a1"


@given(TEXT, st.sampled_from(KINDS), TEXT)
def test_any_note_reads_back(layout, name, kind, text):
    assume(name not in ("None", "null"))  # Such a title stands for the name of the file.
    source = new_thread_source(name, "abcdefgh1234", "2027-01-31")
    source = append_observation(source, written(kind, canonical(text)), id="a1")
    note = note_of(layout, source.text)
    (line,) = thread_lines(note)
    assert (note.kind, note.title) == ("thread", name)
    assert (line.kind, line.text, line.id) == (kind, canonical(text), "a1")


@pytest.mark.parametrize(
    ("line", "over"),
    [
        ("expires: 2027-01-30", True),
        ("expires: 2027-01-31", False),
        ("expires: ''", False),
        ("other: x", False),
    ],
)
def test_a_thread_is_over_after_its_last_day(vault_dir, line, over):
    note = note_of(open_layout(vault_dir), f"---\nkind: thread\n{line}\n---\n")
    assert is_over(note, "2027-01-31") is over

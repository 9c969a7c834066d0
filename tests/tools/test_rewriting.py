"""The owner's edit of a whole note: on the version that was read, and by nobody else."""

import pytest
from zibaldone.tools.refusals import OwnerOnly
from zibaldone.tools.rewriting import rewrite
from zibaldone.tools.vault import OWNER
from zibaldone.vault.errors import InvalidArgument, NoteChanged, NoteNotFound
from zibaldone.vault.note import MAX_BYTES
from zibaldone.vault.source import token_of

ID = "aaaaaaaaaaa1"
TEXT = f"---\nid: {ID}\n---\nOne.\r\n"
FILES = {"Note.md": TEXT}


def test_an_agent_may_not(opened, on_disk):
    with pytest.raises(OwnerOnly):
        rewrite(opened(FILES), "Note.md", ID, "x", token_of(TEXT.encode()))
    assert on_disk("Note.md") == TEXT


def test_it_is_written_once_and_found_at_once(opened, on_disk):
    vault, text = opened(FILES, caller=OWNER), TEXT.replace("\r", "").replace("One", "Two plums")
    done = rewrite(vault, "Note.md", ID, text, token_of(TEXT.encode()))
    assert (done.outcome, done.note_id) == ("edited", ID)
    assert on_disk("Note.md") == TEXT.replace("One", "Two plums")
    again = rewrite(vault, "Note.md", ID, text, done.version_token)
    assert (again.outcome, again.version_token) == ("unchanged", done.version_token)
    assert len(vault.history().records(ID)) == 2  # How it was found, and the edit.


@pytest.mark.parametrize(
    ("path", "text", "token", "failure"),
    [
        ("Note.md", "x", "0" * 64, NoteChanged),
        ("Note.md", "x", "", NoteChanged),
        ("Gone.md", "x", token_of(TEXT.encode()), NoteNotFound),
        ("Note.md", "x" * (MAX_BYTES + 1), token_of(TEXT.encode()), InvalidArgument),
        ("Note.md", "x\0", token_of(TEXT.encode()), InvalidArgument),
    ],
)
def test_what_cannot_be_written_leaves_the_note(opened, on_disk, path, text, token, failure):
    with pytest.raises(failure):
        rewrite(opened(FILES, caller=OWNER), path, ID, text, token)
    assert on_disk("Note.md") == TEXT

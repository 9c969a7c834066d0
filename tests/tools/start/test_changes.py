"""What others have changed since a session: who, and only what can be seen."""

import os

import pytest
from zibaldone.indexer.view import Scope
from zibaldone.tools.borders import Borders
from zibaldone.tools.notes import edit_note
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.start.changes import LOOKED, changes, last_session, touched
from zibaldone.tools.start.session import start_session
from zibaldone.tools.vault import Caller

SINCE = "2026-01-02T00:00:00.000Z"
OLD, NEW = 1_700_000_000, 1_790_000_000


@pytest.fixture
def told(opened):
    """What an agent is told: pairs of path and who changed it."""

    def tell(vault):
        def question():
            return touched(Borders(vault, None, closed=True), vault.index.rows(Scope()), SINCE)

        return [(one.row.path, one.by) for one in changes(vault, vault.index.ask(question), SINCE)]

    return tell


def test_newer_notes_with_who_changed_them_last(opened, told, vault_dir):
    vault = opened({name: f"# {name}\nText.\n" for name in ("Old.md", "New.md", "Mine.md")})
    for name, moment in (("Old.md", OLD), ("New.md", NEW), ("Mine.md", NEW - 9)):
        os.utime(vault_dir / name, (moment, moment))
    assert told(vault) == [("New.md", "the owner"), ("Mine.md", "the owner")]
    edit_note(vault, "Mine", "append", "More.")
    assert told(vault) == [("New.md", "the owner")]
    edit_note(vault.with_caller(Caller(agent="helper")), "Mine", "append", "Yet more.")
    assert told(vault) == [("Mine.md", "helper"), ("New.md", "the owner")]


def test_what_waits_for_a_review_is_no_change_until_it_is_accepted(opened, told, vault_dir):
    vault = opened({"agent-memory/tea.md": "- Green. ^aaaaaa\n"})
    edit_note(vault, "tea", "append", "- Black.")
    stranger = vault.with_caller(Caller(agent="stranger", origin="untrusted"))
    assert remember_about_user(stranger, "Drinks poison.", "tea").outcome == "pending"
    assert told(vault) == []
    file = vault_dir / "agent-memory/tea.md"
    file.write_text(file.read_text().replace(" [status:: unreviewed]", ""))
    assert told(vault) == [("agent-memory/tea.md", "the owner")]


def test_the_list_is_bounded(opened, told):
    vault = opened({f"Note {n}.md": "Text.\n" for n in range(LOOKED + 5)})
    assert len(told(vault)) == LOOKED


def test_the_last_session_is_that_before_this_one(opened):
    def as_session(session, agent="tester"):
        return vault.with_caller(Caller(agent=agent, session=session))

    vault = opened({"Note.md": "Text.\n"})
    assert last_session(as_session("a")) == ""
    start_session(as_session("a"))
    first = last_session(as_session("b"))
    assert first
    start_session(as_session("a"))
    assert last_session(as_session("b")) == first
    start_session(as_session("b"))
    assert last_session(as_session("c")) > first
    assert last_session(as_session("b")) == first
    assert last_session(as_session("c", agent="another")) == ""


def test_what_the_journal_has_lost_is_told_as_the_owners(opened, vault_dir):
    def started(session):
        return start_session(vault.with_caller(Caller(agent="tester", session=session))).context

    vault = opened({"agent-memory/tea.md": "- Green.\n"})
    started("a")
    remember_about_user(vault.with_caller(Caller(agent="helper")), "Likes figs.", "food")
    assert "- agent-memory/food.md (helper, " in started("b")
    remember_about_user(vault.with_caller(Caller(agent="helper")), "Keeps bees.", "hobbies")
    for file in (vault_dir / ".zibaldone/journal").rglob("*.jsonl"):
        file.write_text("no record\n")
    assert "- agent-memory/hobbies.md (the owner, " in started("c")

"""Pinning, muting, renaming a category, and giving an id to a line that was written by hand."""

import pytest
from zibaldone.tools import cli
from zibaldone.tools.api import (
    memory_summary,
    recall,
    remember_about_user,
    search,
    start_session,
)
from zibaldone.tools.history import history, restore
from zibaldone.tools.refusals import NameUnknown, OwnerOnly, SecretRefused
from zibaldone.tools.tending import category_note, mute, name_line, pin, rename_category, unpin
from zibaldone.tools.vault import OWNER, Caller
from zibaldone.vault.errors import (
    CategoryRefused,
    InvalidArgument,
    NoteChanged,
    NoteNotFound,
    NoteUnusable,
)

TEA = "---\n# mine\nid: aaaaaaaaaaa1\ncategory: Tea\n---\r\n- Green.\r\n- Mint. ^aaaaa1\r\n"
FILES = {"agent-memory/tea.md": TEA, "Note.md": "x\n"}


def test_an_agent_may_do_none_of_it(opened):
    vault = opened(FILES)
    with pytest.raises(OwnerOnly):
        mute(vault, "tea", muted=True)
    with pytest.raises(OwnerOnly):
        name_line(vault, "tea", "Green.", "x")
    with pytest.raises(OwnerOnly):
        rename_category(vault, "tea", "Drinks")


def test_a_note_is_muted_by_one_line_and_unmuted_to_the_byte(opened, on_disk):
    vault = opened(FILES, caller=OWNER)
    token = mute(vault, "tea", muted=True).version_token
    assert on_disk("agent-memory/tea.md") == TEA.replace("Tea\n", "Tea\nmuted: true\n")
    assert mute(vault, "tea", muted=True).version_token == token
    mute(vault, "tea", muted=False)
    assert on_disk("agent-memory/tea.md") == TEA


def test_what_is_muted_is_found_by_a_search_alone_and_marked(opened):
    vault = opened(FILES, caller=OWNER)
    agent = vault.with_caller(Caller(agent="x"))
    assert "Mint" in start_session(agent).context + recall(agent, "mint").context
    mute(vault, "tea", muted=True)
    told = (start_session(agent), recall(agent, "mint"), memory_summary(agent).user)
    assert not any(word in str(told) for word in ("Mint", "Green", "Tea", "tea"))
    (found,) = search(agent, "mint").results
    assert (found.snippet, found.muted) == ("Mint.", True)


@pytest.mark.parametrize("line", ["Muted: yes", "muted: on", 'muted: "true"'])
def test_whatever_its_owner_wrote_is_unmuted(opened, on_disk, line):
    text = TEA.replace("category: Tea\n", f"category: Tea\n{line}\n")
    vault = opened({"agent-memory/tea.md": text}, caller=OWNER)
    mute(vault, "tea", muted=False)
    assert on_disk("agent-memory/tea.md") == TEA


BARE = "Text.\n"
TAGGED = "---\ntags:\n  - one # mine\n  - 'two'\n---\nText.\n"


@pytest.mark.parametrize(
    ("before", "place", "after"),
    [
        (BARE, None, "---\ntags: [always-load]\n---\nText.\n"),
        (BARE, 3, "---\ntags: [always-load/3]\n---\nText.\n"),
        (TAGGED, None, TAGGED.replace("'two'\n", "'two'\n  - 'always-load'\n")),
        ("---\ntags: [a]\nx: 1\n---\n", 0, "---\ntags: [a, always-load/0]\nx: 1\n---\n"),
        ("---\r\nTags: [Always-Load]\r\n---\r\n", 2, "---\r\nTags: [always-load/2]\r\n---\r\n"),
        (
            "---\ntags: [a, [b], Always-Load] # c\n---\n",
            2,
            "---\ntags: [a, [b], always-load/2] # c\n---\n",
        ),
        ("Text. #always-load/9\n", 1, "---\ntags: [always-load/1]\n---\nText. #always-load/9\n"),
    ],
)
def test_a_pin_is_a_tag_in_the_frontmatter_and_nothing_else(opened, on_disk, before, place, after):
    vault = opened({"Note.md": before}, caller=OWNER)
    done = pin(vault, "Note", place)
    assert (done.outcome, on_disk("Note.md")) == ("changed", after)
    again = pin(vault, "Note", place)
    assert (again.outcome, again.version_token) == ("unchanged", done.version_token)
    assert history(vault, done.note_id).revisions[-1].op == "edit"


@pytest.mark.parametrize("text", [TAGGED, "---\nx: 1\n---\nText.\n", "---\ntags: [a]\n---\n"])
def test_a_note_is_unpinned_to_the_byte(opened, on_disk, text):
    vault = opened({"Note.md": text}, caller=OWNER)
    assert unpin(vault, "Note").outcome == "unchanged"
    pin(vault, "Note", 1)
    pin(vault, "Note")
    assert unpin(vault, "Note").outcome == "changed"
    assert on_disk("Note.md") == text


def test_what_cannot_be_pinned_or_unpinned(opened, on_disk):
    rules = "---\nkind: rules\n---\n- must: x\n"
    files = {"Note.md": "Text. #always-load\n", "agent-memory/rules.md": rules}
    vault = opened(files, caller=OWNER)
    with pytest.raises(NoteUnusable, match="stands in its text"):
        unpin(vault, "Note")
    with pytest.raises(InvalidArgument, match="note of rules"):
        pin(vault, "rules")
    with pytest.raises(InvalidArgument, match="from 0 to"):
        pin(vault, "Note", -1)
    for act in (pin, unpin):
        with pytest.raises(OwnerOnly):
            act(vault.with_caller(Caller(agent="x")), "Note")
    assert {path: on_disk(path) for path in files} == files


def test_the_commands_pin_and_mute(opened, on_disk, vault_dir, capsys):
    opened(FILES).close()

    def zib(*arguments):
        code = cli.run([*arguments, "--vault", str(vault_dir)])
        return code, capsys.readouterr().out

    assert zib("pin", "Note", "--place", "2") == (0, "Pinned: Note.md\n")
    assert zib("pin", "Note", "--place", "2") == (0, "It was so already: Note.md\n")
    assert "always-load/2" in on_disk("Note.md")
    assert zib("unpin", "Note") == (0, "Unpinned: Note.md\n")
    assert zib("mute", "TEAS") == (0, "Muted: agent-memory/tea.md\n")
    assert '"outcome": "unchanged"' in zib("mute", "agent-memory/tea.md", "--json")[1]
    assert zib("unmute", "tea")[0] == 0
    assert on_disk("agent-memory/tea.md") == TEA
    assert zib("mute", "tea", "--project", "acme")[0] == 3
    capsys.readouterr()
    assert cli.run(["mute", "coffee", "--vault", str(vault_dir)]) == 3
    assert "no category called 'coffee'. There is: " in capsys.readouterr().err


def test_only_memory_is_muted(opened):
    vault = opened({**FILES, "agent-memory/odd.md": "---\nx: [\n---\n- a\n"}, caller=OWNER)
    with pytest.raises(NoteNotFound):
        mute(vault, "Note", muted=True)
    with pytest.raises(NoteUnusable) as failure:
        mute(vault, "odd", muted=True)
    assert failure.value.path == "agent-memory/odd.md"


def test_a_line_gets_an_id_and_stays_its_owners(opened, on_disk):
    vault = opened(FILES, caller=OWNER)
    token = mute(vault, "tea", muted=False).version_token
    named = name_line(vault, "tea", "Green.", token)
    wanted = f"- Green. [origin:: owner] ^{named.observation_id}\r\n"
    assert on_disk("agent-memory/tea.md") == TEA.replace("- Green.\r\n", wanted)
    with pytest.raises(NoteChanged):
        name_line(vault, "tea", "Green.", token)
    with pytest.raises(NoteNotFound):
        name_line(vault, "tea", "Mint.", named.version_token)


HEADED = TEA.replace("- Green", "\r\n#  Teas  ##\r\n\r\nOf teas.\r\n- Green")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TEA, TEA.replace("category: Tea", "category: Hot drinks")),
        (HEADED, HEADED.replace("category: Tea", "category: Hot drinks").replace(
            "#  Teas  ##", "#  Hot drinks  ##")),
        (HEADED.replace("#  Teas", "#  Mine"), HEADED.replace("#  Teas", "#  Mine").replace(
            "category: Tea", "category: Hot drinks")),
        ("---\nCategory: 'Tea' # so\n---\n- Green.\n",
         "---\nCategory: 'Hot drinks' # so\n---\n- Green.\n"),
        ("# Tea\n- Green.\n", "---\ncategory: Hot drinks\n---\n# Hot drinks\n- Green.\n"),
    ],
    ids=["plain", "heading", "other-heading", "key", "bare"],
)  # fmt: skip
def test_a_label_changes_in_frontmatter_and_heading_alone(opened, on_disk, before, after):
    vault = opened({"agent-memory/tea.md": before}, caller=OWNER)
    path = category_note(vault, "teas")
    done = rename_category(vault, path, "  Hot   drinks ")
    assert on_disk("agent-memory/tea.md") == after
    assert done.path == path == category_note(vault, "hot drink")
    assert rename_category(vault, path, "Hot drinks").version_token == done.version_token
    assert on_disk("agent-memory/tea.md") == after


def test_a_rename_is_in_the_history_and_can_be_taken_back(opened, on_disk):
    vault = opened({"agent-memory/tea.md": HEADED}, caller=OWNER)
    done = rename_category(vault, "agent-memory/tea.md", "Drinks")
    first, last = history(vault, done.note_id).revisions
    assert (last.op, last.origin) == ("edit", "owner")
    restore(vault, done.note_id, first.revision)
    assert on_disk("agent-memory/tea.md") == HEADED


def test_the_old_label_is_free_for_a_new_category(opened, on_disk):
    vault = opened({"agent-memory/tea.md": TEA}, caller=OWNER)
    rename_category(vault, "agent-memory/tea.md", "Drinks")
    again = remember_about_user(vault, "Grows camellias.", category="tea")
    assert (again.outcome, again.path) == ("created", "agent-memory/tea-2.md")
    with pytest.raises(CategoryRefused, match=r"agent-memory/tea-2\.md"):
        rename_category(vault, "agent-memory/tea.md", "Teas")
    assert "category: Drinks" in on_disk("agent-memory/tea.md")


@pytest.mark.parametrize(
    ("path", "label", "failure"),
    [
        ("agent-memory/tea.md", "Coffees", CategoryRefused),
        ("agent-memory/tea.md", "a/b", CategoryRefused),
        ("agent-memory/tea.md", " ", CategoryRefused),
        ("agent-memory/tea.md", "ghp_" + "a1B2" * 9, SecretRefused),
        ("agent-memory/rules.md", "Drinks", InvalidArgument),
        ("Note.md", "Drinks", NoteNotFound),
    ],
)
def test_a_label_that_cannot_be_is_refused(opened, on_disk, path, label, failure):
    files = {
        **FILES,
        "agent-memory/coffee.md": "---\ncategory: Coffee\nmuted: true\n---\n- Black.\n",
        "agent-memory/rules.md": "---\nkind: rules\n---\n- must: drink\n",
        "projects/acme/agent-memory/tea.md": "---\ncategory: Drinks\n---\n- No.\n",
    }
    vault = opened(files, caller=OWNER)
    with pytest.raises(failure):
        rename_category(vault, path, label)
    assert {path: on_disk(path) for path in files} == files


def test_a_category_is_found_in_its_own_memory(opened):
    path = "projects/acme/agent-memory/tea.md"
    vault = opened({**FILES, path: "---\ncategory: Tea\n---\n- No.\n"}, caller=OWNER)
    assert category_note(vault, "TEA") == "agent-memory/tea.md"
    assert category_note(vault, "tea", "acme") == path
    with pytest.raises(NameUnknown, match="Tea"):
        category_note(vault, "coffee")


def test_the_command_renames(opened, vault_dir, capsys):
    opened(FILES).close()
    assert cli.run(["rename-category", "teas", "Drinks", "--vault", str(vault_dir)]) == 0
    assert capsys.readouterr().out == "Renamed: Drinks (agent-memory/tea.md)\n"
    assert cli.run(["rename-category", "drink", "Drinks", "--vault", str(vault_dir)]) == 0
    assert capsys.readouterr().out == "It was so already: Drinks (agent-memory/tea.md)\n"
    assert cli.run(["rename-category", "teas", "x", "--vault", str(vault_dir), "--json"]) == 3
    assert "name_unknown" in capsys.readouterr().out

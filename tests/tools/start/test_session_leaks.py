"""Nothing that is not for its agent is in a start: not its words, title, tag, category or count.

Two vaults are alike but for what is hidden. What is told of them must be the same to the letter.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.notes import delete_note
from zibaldone.tools.plans import create_progress
from zibaldone.tools.remember import remember_about_project, remember_about_user
from zibaldone.tools.rules import add_rule
from zibaldone.tools.start.session import start_session
from zibaldone.tools.threads import take_note
from zibaldone.tools.vault import OWNER, Caller, Vault

AGENT = Caller(agent="worker", session="one")
OTHER = Caller(agent="CANARY-agent", origin="untrusted")
PINNED = "---\ntags: [always-load, canarytag]\n---\n"
SET = (
    "---\nkind: context-set\n---\n- [[Open]]\n- [[Hushed]]\n- [[tea#^old111]]\n- [[tea#^new111]]\n"
    "- [[Bin]]\n- [[Private doc]]\n"
)
ALIKE = {
    "Open.md": "The open note.\n",
    "agent-memory/first.md": SET,
    "agent-memory/tea.md": "# Tea\n\n- Likes green tea. #drinks ^tea111\n",
    "agent-memory/rules.md": (
        "---\nkind: rules\n---\n- must: never recall #private\n"
        "- must: never recall category:health\n- should: answer briefly\n"
    ),
    "projects/acme/Plan.md": "Acme plans. #planning\n",
    "projects/acme/agent-memory/decisions.md": "- Uses oak. ^oak111\n",
    "projects/other/Known.md": "Something.\n",
    "zibaldone.toml": "personal_tokens = 3000\n",
}
HIDDEN = {
    "agent-memory/hushed.md": f"{PINNED[:-4]}muted: true\ncategory: CANARY\n---\n- CANARY.\n",
    "agent-memory/late.md": "---\nsummary: CANARY\n---\n- CANARY. [expires:: 2020-01-01] ^lat111\n",
    "agent-memory/health.md": f"{PINNED}- CANARY of health.\n",
    "agent-memory/plans/x.md": "---\nkind: progress\ntitle: CANARY\n---\n- [ ] [[other/Secret]]\n",
    "agent-memory/first.sync-conflict-20260101-101010-ABC.md": f"{PINNED}[[Open]] CANARY\n",
    "agent-memory/tied.md": "---\ntags: [other]\nsummary: CANARY\n---\n- CANARY.\n",
    "Private doc.md": "---\ntags: [private, always-load]\n---\nCANARY.\n",
    "projects/acme/Private.md": "---\ntags: [private, canarytag, always-load]\n---\nCANARY.\n",
    "projects/acme/deep/Private.md": "---\ntags: [private]\n---\nCANARY.\n",
    "projects/other/Secret.md": f"{PINNED}CANARY.\n",
    "projects/other/Set.md": "---\nkind: context-set\n---\n[[Secret]] CANARY\n",
    "projects/other/agent-memory/canary.md": f"{PINNED}- CANARY.\n",
    "projects/other/agent-memory/rules.md": "---\nkind: rules\n---\n- must: CANARY\n",
}
LINES = """\
- CANARY, which waits. [status:: unreviewed] #canarytag ^new111
- CANARY, which is over. [expires:: 2020-01-01] #canarytag ^old111
- CANARY, which is stale. [status:: stale] ^stl111
- CANARY of a project. #other
- CANARY of a note of it; see [[projects/other/Secret]]. #canarytag
- CANARY, which is nobody's. #private #canarytag
"""


def fill(root, files):
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


def hide(root):
    """Fill a vault with all that no start may tell."""
    fill(root, HIDDEN)
    with (root / "agent-memory/tea.md").open("a", encoding="utf-8") as tea:
        tea.write(LINES)
    fill(root, {"Bin.md": f"{PINNED}CANARY.\n"})
    with Vault.open(root, caller=OWNER) as owner:
        delete_note(owner, "Bin")
        gone = remember_about_user(owner, "CANARY, which is forgotten.", "tea", tags=["canarytag"])
        forget(owner, gone.observation_id)
        agent = owner.with_caller(Caller(agent="worker", session="zero"))
        for text in ("Grows CANARY. #canarytag", "Grows barley."):
            old = "old" if "CANARY" in text else "new"
            if old == "old":
                made = remember_about_project(agent, "acme", text, "farm")
            else:
                update_memory(agent, made.observation_id, text)
        take_note(agent, "CANARY thread", "CANARY.", "pending")
        create_progress(agent, "CANARY plan", ["CANARY"], project="other")
        stranger = owner.with_caller(OTHER)
        remember_about_user(stranger, "CANARY by a stranger.", "CANARY category", "CANARY summary")
        remember_about_project(stranger, "acme", "CANARY too.", "CANARY decisions")
        add_rule(stranger, "canary", "must", "CANARY", "canary")


def show(root):
    """The same, but for what is hidden."""
    fill(root, ALIKE)
    with Vault.open(root, caller=Caller(agent="worker", session="zero")) as agent:
        start_session(agent, "acme")
        remember_about_project(agent, "acme", "Grows barley.", "farm")


@pytest.fixture(scope="module")
def vaults(tmp_path_factory):
    """A vault with what is hidden, and one without it; both opened by an agent."""
    folders = [tmp_path_factory.mktemp(name) for name in ("hiding", "plain")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZIBALDONE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        show(folders[1])
        fill(folders[0], ALIKE)
        with Vault.open(folders[0], caller=Caller(agent="worker", session="zero")) as agent:
            start_session(agent, "acme")
        hide(folders[0])
        with (
            Vault.open(folders[0], caller=AGENT) as one,
            Vault.open(folders[1], caller=AGENT) as two,
        ):
            yield one, two


def told(answer):
    """All that an answer says but for nonces, ids made by chance, times and the notes in all."""
    parts = [replace(one, date=None, note_id=None) for one in answer.parts]
    left = [replace(one, note_id=None) for one in answer.omitted]
    text = re.sub(r"(recalled )\d+|\^\w{6}|T\d\d:\d\d:\d\dZ", r"\1", answer.context)
    return text, parts, left, answer.omitted_more, answer.tokens


@pytest.mark.parametrize("project", [None, "acme"])
@pytest.mark.parametrize("thread", [None, "mine"])
def test_a_start_is_the_same_with_and_without_what_is_hidden(vaults, project, thread):
    hiding, plain = (start_session(vault, project, thread) for vault in vaults)
    assert "canary" not in str(hiding).casefold()
    assert "green tea" in hiding.context
    assert told(hiding) == told(plain)


def test_what_is_hidden_is_there_for_its_owner_and_in_its_own_project(vaults):
    hiding = vaults[0]
    assert "CANARY" in start_session(hiding, "other").context
    assert "CANARY" in start_session(hiding, thread="canary thread").context
    assert sum("CANARY" in path.read_text() for path in Path(hiding.layout.root).rglob("*.md")) > 15

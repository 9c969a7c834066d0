"""Agents → Context: what a session starts with, what it weighs, and the owner's marks."""

import re
from html import unescape

import pytest
from zibaldone.tools.api import start_session
from zibaldone.tools.rules import add_rule
from zibaldone.tools.start.session import preview
from zibaldone.tools.vault import Caller, Vault

from .payloads import PAYLOADS
from .test_audit import main, plain, shown, strange

AGENT = Caller("planner", "laptop", "s1", "2.1", "agent")
TEA, PINE, SET = "aaaaaaaaaaa1", "nnnnnnnnnnn1", "ssssssssssss"
FILES = {
    "agent-memory/tea.md": f"---\nid: {TEA}\ncategory: Tea\n---\n- Green canary. ^aaaaa1\n",
    "Pine.md": f"---\nid: {PINE}\ntags: [always-load/2]\n---\nPine words.\n",
    "Oak.md": "Oak words.\n",
    "Set.md": f"---\nid: {SET}\nkind: context-set\n---\n- [[tea]]\n- [[No such note]]\n",
    "projects/acme/Plan.md": "---\ntags: [always-load]\n---\nPlan words.\n",
}


@pytest.fixture
def site(explored):
    site = explored(FILES)
    site.open_lens()
    return site


def on_disk(site, path):
    return (site.vault.layout.root / path).read_text()


def test_while_the_lens_is_closed_nothing_of_it_is_there(explored):
    site = explored(FILES)
    assert site.get("/agents/context").status == 404
    before = on_disk(site, "Oak.md")
    for action in ("pin", "unpin", "mute"):
        assert site.post(f"/agents/context/{action}", note="Oak.md", muted="on").status == 404
    assert on_disk(site, "Oak.md") == before


def test_it_shows_what_is_loaded_in_its_order_with_its_weight(site):
    answer = preview(site.vault)
    text = shown(site, "/agents/context")
    loaded = re.findall(r'<ol class="loaded">(.*?)</ol>', text, re.DOTALL)[0]
    assert loaded.index("Tea") < loaded.index("Pine") < loaded.index("Memory about the user")
    assert f'href="/m/{TEA}"' in loaded and f'href="/n/{PINE}"' in loaded
    told = plain(text)
    assert f"{answer.tokens} of 2 500 tokens" in told
    for one in answer.parts:
        assert f"{one.tokens} tokens" in told, one
    assert "links to nothing" in told and "Plan" not in loaded
    assert re.search(r'<rect width="\d+(\.\d)?" height="4"/>', loaded)


def test_a_project_and_an_agent_are_chosen(site):
    text = shown(site, "/agents/context?project=acme&agent=planner")
    assert "About the project" in text and "Plan words." in text
    assert '<option value="acme" selected>' in text and 'name="agent" value="planner"' in text
    with Vault.open(site.vault.layout.root, caller=AGENT) as agent:
        start_session(agent)
    assert "this agent started last" in shown(site, "/agents/context?agent=planner")
    assert "this agent started last" not in shown(site, "/agents/context?agent=reader")
    assert "the start of a session" in shown(site, "/agents/audit")


def test_the_preview_is_exactly_what_an_agent_gets(site):
    text = shown(site, "/agents/context?agent=planner")
    told = unescape(re.search(r'<pre class="typed"[^>]*>(.*?)</pre>', text, re.DOTALL)[1])
    with Vault.open(site.vault.layout.root, caller=AGENT) as agent:
        given = start_session(agent).context
    assert bare(told) == bare(given)


def bare(context):
    """A text without the nonce of its envelope, which is another each time."""
    return context.replace(re.search(r"<recalled (\w+)>", context)[1], "").strip()


def test_what_is_forbidden_or_no_project_is_told_with_the_page_whole(site):
    add_rule(site.vault, "only", "must", "recall project:acme only agent:reader", "memory")
    reply = site.get("/agents/context?project=acme&agent=planner")
    assert reply.status == 400 and 'role="alert"' in reply.text and "What decides it" in reply.text
    assert site.get("/agents/context?project=acme&agent=reader").status == 200
    for name in ("..", "a/b", "x" * 300):
        reply = site.get(f"/agents/context?project={name}")
        assert reply.status in (200, 400) and "<main" in reply.text


def test_pins_are_set_and_taken_away(site):
    back = "/agents/context?project=acme"
    reply = site.post("/agents/context/pin", note=" Oak ", place="1", back=back)
    assert (reply.status, reply.header("location")) == (303, back)
    assert on_disk(site, "Oak.md") == "---\ntags: [always-load/1]\n---\nOak words.\n"
    pins = shown(site, "/agents/context").partition("Pins</h3>")[2]
    assert pins.index("Oak") < pins.index("Pine") < pins.index("Plan")
    assert site.post("/agents/context/unpin", note="Pine.md").status == 303
    assert "always-load" not in on_disk(site, "Pine.md")
    assert site.post("/agents/context/pin", note="agent-memory/tea.md").status == 303
    assert "always-load" in on_disk(site, "agent-memory/tea.md")


REFUSED = [("pin", {"note": "Nothing"}), ("pin", {"note": ""}), ("pin", {"note": "Set.md"}),
           ("pin", {"note": "Oak.md", "place": "-1"}), ("pin", {"note": "Oak.md", "place": "x"}),
           ("unpin", {"note": "Nothing"}), ("mute", {"note": "Oak.md", "muted": "on"}),
           ("mute", {"note": "agent-memory/tea.md", "muted": "maybe"})]  # fmt: skip


def test_what_is_refused_comes_back_with_the_reason(site):
    before = {path: on_disk(site, path) for path in FILES}
    for action, form in REFUSED:
        reply = site.post(f"/agents/context/{action}", project="acme", **form)
        assert reply.status == 400, (action, form)
        assert 'role="alert"' in reply.text and '<option value="acme" selected>' in reply.text
    assert before == {path: on_disk(site, path) for path in FILES}


def test_memory_is_muted_and_unmuted(site):
    assert site.post("/agents/context/mute", note="agent-memory/tea.md", muted="on").status == 303
    text = shown(site, "/agents/context")
    assert "Green canary" not in text and f'href="/m/{TEA}"' in text.partition("Muted</h3>")[2]
    assert site.post("/agents/context/mute", note="agent-memory/tea.md", muted="off").status == 303
    assert on_disk(site, "agent-memory/tea.md") == FILES["agent-memory/tea.md"]
    assert "Nothing is muted." in shown(site, "/agents/context")


def test_an_empty_vault_has_a_page(explored):
    site = explored()
    site.open_lens()
    text = shown(site, "/agents/context")
    assert "No note is pinned." in text and "Nothing is muted." in text


def test_no_payload_gets_out_of_what_is_loaded(explored):
    files = {}
    for number, payload in enumerate(PAYLOADS[::3]):
        said = payload.replace("\0", "")
        head = f"---\ntitle: {said!r}\ncategory: {said!r}\n"
        files[f"n{number}.md"] = f"{head}tags: [always-load]\n---\n{said}\n"
        files[f"agent-memory/m{number}.md"] = f"{head}muted: true\n---\n- {said}\n"
        files[f"s{number}.md"] = f"{head}kind: context-set\n---\n[[{said}]] [[m{number}]]\n"
    site = explored(files)
    site.open_lens()
    for said in PAYLOADS[::9]:
        path = "/agents/context/pin"
        for text in (site.post(path, note=said, agent=said, project=said).text,
                     site.get("/agents/context").text):  # fmt: skip
            assert strange(main(text)) == [], said
            assert "<svg" in text


def test_a_category_is_pinned_on_its_own_page(site):
    page = shown(site, f"/m/{TEA}")
    assert 'action="/agents/context/pin"' in page
    reply = site.post("/agents/context/pin", note="agent-memory/tea.md", back=f"/m/{TEA}")
    assert reply.header("location") == f"/m/{TEA}"
    assert 'action="/agents/context/unpin"' in shown(site, f"/m/{TEA}")

"""The Memory lens: closed until it is opened, then every fact with its story."""

import re

import pytest
from zibaldone.tools.api import remember_about_project, remember_about_user, update_memory
from zibaldone.tools.vault import Caller, Vault

from .payloads import PAYLOADS

AGENT = Caller("planner", "laptop", "s1", "2.1", "agent")
NOTE = "aaaaaaaaaaa1"
FILES = {
    "agent-memory/tea.md": f"---\nid: {NOTE}\ncategory: Tea\nsummary: How she takes it\n---\n"
    "# Tea\n\n"
    "- Green, no sugar. ^aaaaa1\n- By hand, without an id.\n- Old. [status:: stale] ^aaaaa2\n"
    "- Rests on it. [derived_from:: aaaaa1] ^aaaaa3\n",
    "projects/acme/agent-memory/plan.md": "---\nid: aaaaaaaaaaa2\ncategory: Plan\n---\n"
    "- Soon. ^ppppp1\n",
    "Note.md": "Plain.\n",
}  # fmt: skip


@pytest.fixture
def site(explored):
    site = explored(FILES)
    site.open_lens()
    return site


def as_agent(site):
    return Vault.open(site.vault.layout.root, caller=AGENT)


def main(text):
    return text.partition("<main")[2].partition("</main>")[0]


def edit(site, name="aaaaa1", **form):
    """Send the form of a fact's page, as it was when the page was read, with other values."""
    page = form.pop("page", None) or site.get(f"/m/{NOTE}/{name}").text
    read = {
        key: re.search(rf'name="{key}" value="([^"]*)"', page)[1] for key in ("version", "read")
    }
    return site.post(f"/m/{NOTE}/{name}/edit", **{**read, **form})


def on_disk(site, path="agent-memory/tea.md"):
    return (site.vault.layout.root / path).read_text()


PAGES = [f"/m/{NOTE}", f"/m/{NOTE}/aaaaa1", "/m/aaaaaaaaaaa2", "/search?q=green&in=memory"]
ACTIONS = [
    (f"/m/{NOTE}/mute", {"muted": "on"}),
    (f"/m/{NOTE}/rename", {"label": "Drinks"}),
    (f"/m/{NOTE}/name", {"text": "By hand, without an id.", "token": "x"}),
    (f"/m/{NOTE}/aaaaa1/edit", {"text": "x", "version": "1"}),
    (f"/m/{NOTE}/aaaaa1/forget", {}),
    (f"/m/{NOTE}/aaaaa2/confirm", {}),
    (f"/m/{NOTE}/aaaaa1/restore", {}),
]


def test_while_the_lens_is_closed_nothing_of_it_is_there(explored):
    site = explored(FILES)
    for path in PAGES:
        assert "Green, no" not in site.get(path).text
    assert [site.get(path).status for path in PAGES[:3]] == [404, 404, 404]
    closed = main(site.get("/m").text)
    assert "Tea" not in closed and "acme" not in closed and not re.search(r"\d+ fact", closed)
    for path, form in ACTIONS:
        assert site.post(path, **form).status == 404, path
    assert on_disk(site) == FILES["agent-memory/tea.md"]


def test_the_switch_is_remembered_and_turned_back(site):
    assert "Tea" in main(site.get("/m").text)
    assert 'aria-pressed="true"' in site.get("/").text.partition('id="lens"')[2][:400]
    assert site.post("/settings", lens="off", back=f"/m/{NOTE}").header("location") == "/"
    assert "Tea" not in site.get("/m").text


def test_it_shows_the_user_first_and_then_each_project(site):
    text = main(site.get("/m").text)
    assert text.index("About you") < text.index("Tea") < text.index("Project acme")
    assert "How she takes it" in text and "3 facts" in text


def test_each_fact_says_where_it_comes_from(site):
    with as_agent(site) as agent:
        made = remember_about_user(agent, "Oolong on Sundays.", category="tea", type="episodic")
        update_memory(agent, made.observation_id, "Oolong on Saturdays.")
    text = main(site.get(f"/m/{NOTE}").text)
    fact = text[text.index("Oolong on Saturdays.") :][:700]
    for said in ("planner 2.1", "laptop", "episodic", "version 2", ">agent<"):
        assert said in fact, said
    assert "found in the note" in text
    found = main(site.get(f"/m/{NOTE}/aaaaa1").text)
    assert "found in the note" in found and "as found" in found and "before " in found
    page = main(site.get(f"/m/{NOTE}/{made.observation_id}").text)
    for said in ("s1", "<del>Sundays</del>", "<ins>Saturdays</ins>", "v2"):
        assert said in page, said


def test_facts_are_filtered_and_sorted(site):
    with as_agent(site) as agent:
        remember_about_user(agent, "Oolong on Sundays.", category="tea")

    def shown(query):
        text = main(site.get(f"/m/{NOTE}?{query}").text)
        return re.findall(r"<p>(Green|By hand|Old|Rests|Oolong)", text)

    assert shown("q=HAND") == ["By hand"]
    assert shown("author=planner") == ["Oolong"]
    assert shown("origin=owner") == ["By hand"]
    assert shown("q=zzz") == []
    assert shown("sort=newest")[0] == "Oolong"
    assert shown("sort=oldest")[-1] == "Oolong"
    assert shown("sort=nonsense") == shown("") == shown("sort=place")


def test_an_edit_is_a_version_of_the_owners(site):
    reply = edit(site, text="Green, with\r\nmint.", reason="now")
    assert reply.status == 303
    assert "- Green, with\n  mint. [origin:: owner] ^aaaaa1\n" in on_disk(site)
    page = main(site.get(f"/m/{NOTE}/aaaaa1").text)
    assert "“now”" in page and "explorer" in page and ">owner<" in page


def test_an_edit_of_what_has_changed_shows_both_and_loses_neither(site):
    page = site.get(f"/m/{NOTE}/aaaaa1").text
    with as_agent(site) as agent:
        update_memory(agent, "aaaaa1", "Green, with honey.")
    before = on_disk(site)
    reply = edit(site, page=page, text="Green, with mint.")
    assert reply.status == 409
    assert "Green, with honey." in reply.text and "Green, with mint.</textarea>" in reply.text
    assert "<ins>mint</ins>" in reply.text and 'name="version" value="2"' in reply.text
    assert on_disk(site) == before
    assert edit(site, page=reply.text, text="Both.").status == 303


def test_an_edit_of_what_was_forgotten_or_changed_in_an_editor_keeps_the_text(site):
    file = site.vault.layout.root / "agent-memory/tea.md"
    page = site.get(f"/m/{NOTE}/aaaaa1").text
    file.write_text(file.read_text().replace("no sugar", "some sugar"))
    reply = edit(site, page=page, text="Typed.")
    assert reply.status == 409 and "some sugar" in reply.text and "Typed." in reply.text
    left = [line for line in file.read_text().splitlines() if "^aaaaa1" not in line]
    file.write_text("\n".join(left))
    reply = edit(site, page=page, text="Typed again.")
    assert reply.status == 409 and "Typed again." in reply.text


@pytest.mark.parametrize(
    ("text", "status"),
    [("", 400), (" \n", 400), ("x" * 5000, 400), ("key AKIAIOSFODNN7EXAMPLQ", 400)],
)
def test_what_is_refused_comes_back_with_the_reason(site, text, status):
    before = on_disk(site)
    reply = edit(site, text=text)
    assert reply.status == status
    assert 'role="alert"' in reply.text
    assert on_disk(site) == before


@pytest.mark.parametrize("version", ["", "x", "-1", "9" * 40, "1@v1"])
def test_an_edit_names_the_version_that_was_read(site, version):
    assert edit(site, text="x", version=version).status == 400


def test_what_is_forgotten_keeps_its_page_and_comes_back(site):
    reply = site.post(f"/m/{NOTE}/aaaaa1/forget", reason="gone off it")
    assert reply.status == 303 and "Green" not in on_disk(site)
    page = main(site.get(f"/m/{NOTE}/aaaaa1").text)
    assert "no longer in its note" in page and "gone off it" in page
    to = re.search(r'name="to" value="(\w+)"', page)[1]
    assert site.post(f"/m/{NOTE}/aaaaa1/restore", to=to).status == 303
    assert "- Green, no sugar. ^aaaaa1" in on_disk(site)


def test_a_line_written_by_hand_gets_an_id_to_be_edited(site):
    token = re.search(r'name="token" value="([^"]+)"', site.get(f"/m/{NOTE}").text)[1]
    form = {"text": "By hand, without an id.", "token": token}
    reply = site.post(f"/m/{NOTE}/name", **form)
    assert reply.status == 303
    name = reply.header("location").rpartition("/")[2]
    assert f"- By hand, without an id. [origin:: owner] ^{name}\n" in on_disk(site)
    assert site.get(reply.header("location")).status == 200
    assert site.post(f"/m/{NOTE}/name", **form).status == 409


def test_what_is_stale_is_confirmed(site):
    page = site.get(f"/m/{NOTE}/aaaaa2").text
    assert f'action="/m/{NOTE}/aaaaa2/confirm"' in page
    assert site.post(f"/m/{NOTE}/aaaaa2/confirm").status == 303
    assert "- Old. ^aaaaa2" in on_disk(site)


def test_what_a_fact_rests_on_is_shown(site):
    page = main(site.get(f"/m/{NOTE}/aaaaa3").text)
    assert "What it rests on" in page and "Green, no sugar." not in page  # It has no history yet.
    edit(site, text="Green, no milk.")
    page = main(site.get(f"/m/{NOTE}/aaaaa3").text)
    assert f'href="/m/{NOTE}/aaaaa1"' in page and "Green, no milk." in page


def test_muting_is_one_line_of_frontmatter_and_nothing_else(site):
    before = on_disk(site)
    assert site.post(f"/m/{NOTE}/mute", muted="on").status == 303
    assert on_disk(site) == before.replace("takes it\n", "takes it\nmuted: true\n")
    assert "muted" in main(site.get("/m").text)
    assert site.post(f"/m/{NOTE}/mute", muted="off").status == 303
    assert on_disk(site) == before
    assert site.post(f"/m/{NOTE}/mute", muted="maybe").status == 400


def test_what_agents_propose_waits_for_its_owner(site):
    untrusted = Caller("reader", origin="untrusted")
    with Vault.open(site.vault.layout.root, caller=untrusted) as agent:
        remember_about_user(agent, "Takes oolong at noon.", category="tea")
        remember_about_user(agent, "Owns a samovar.", category="kitchen")
    page = main(site.get("/review").text)
    assert "Takes oolong at noon." in page and "reader" in page and "untrusted" in page
    first, second = re.findall(r'/review/accept".*?name="ticket" value="(\w+)"', page, re.DOTALL)
    assert site.post("/review/accept", ticket=first).status == 303
    assert "status" not in on_disk(site).partition("oolong")[2].partition("\n")[0]
    assert site.post("/review/reject", ticket=second, reason="no").status == 303
    assert "Nothing waits" in site.get("/review").text
    assert site.post("/review/accept", ticket=first).status == 409
    assert site.post("/settings", lens="off").status == 303
    assert site.get("/review").status == 404
    assert site.post("/review/accept", ticket=first).status == 404
    assert site.post("/review/reject", ticket=first).status == 404


def test_memory_is_searched_apart_from_notes(site):
    assert "Green, no sugar." not in re.sub("<.?mark>", "", site.get("/search?q=green").text)
    text = site.get("/search?q=green&in=memory").text
    assert f'href="/m/{NOTE}#b-aaaaa1"' in text


def test_no_payload_gets_out_of_memory(explored):
    site = explored(FILES)
    site.open_lens()
    caller = Caller(PAYLOADS[0], PAYLOADS[4], PAYLOADS[34], PAYLOADS[35], "agent")
    with Vault.open(site.vault.layout.root, caller=caller) as agent:
        for payload in PAYLOADS[:12]:
            text = payload.replace("\0", "")
            remember_about_project(agent, "acme", f"{text} {len(text)}", category="plan")
        update_memory(agent, "ppppp1", "Later.", PAYLOADS[2])
    for path in (
        "/m",
        "/m/aaaaaaaaaaa2",
        "/m/aaaaaaaaaaa2/ppppp1",
        "/journal",
        "/journal/aaaaaaaaaaa2",
    ):
        text = site.get(path).text
        assert not re.search(r"<(script(?! src=)|iframe|object|img|style|svg onload)", text), path
        assert not re.search(r"<[^>]* on(error|load|focus)=", main(text)), path


def test_a_category_is_renamed_and_a_label_that_cannot_be_comes_back(site):
    reply = site.post(f"/m/{NOTE}/rename", label="Hot drinks")
    page = main(site.get(reply.header("location")).text)
    assert "<h1>Hot drinks</h1>" in page and "It is written." in page
    assert "category: Hot drinks\n" in on_disk(site) and "# Hot drinks\n" in on_disk(site)
    reply = site.post(f"/m/{NOTE}/rename", label="<b>/")
    assert reply.status == 403 and 'value="&lt;b&gt;/"' in reply.text
    assert "cannot be a category" in reply.text and "category: Hot drinks\n" in on_disk(site)

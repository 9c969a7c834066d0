"""Journal and trash in the explorer: who did what, what it changed, and the way back."""

import re

import pytest
from zibaldone.lenses.differences import lines, words
from zibaldone.tools.api import remember_about_user
from zibaldone.tools.notes import delete_note, edit_note
from zibaldone.tools.vault import Caller, Vault

AGENT = Caller("planner", "laptop", "s1", "2.1", "agent")
NOTE = "aaaaaaaaaaa1"
FILES = {
    "Plan.md": f"---\nid: {NOTE}\n---\nFirst line.\nSecond old line.\nThird.\n",
    "agent-memory/tea.md": "---\nid: mmmmmmmmmmm1\ncategory: Tea\n---\n- Green. ^aaaaa1\n",
}


@pytest.fixture
def site(explored):
    site = explored(FILES)
    with Vault.open(site.vault.layout.root, caller=AGENT) as agent:
        edit_note(agent, "Plan", "findReplace", "new", find="old")
        remember_about_user(agent, "Oolong canary.", category="tea")
    return site


def main(text):
    return text.partition("<main")[2].partition("</main>")[0]


def revisions(site, note=NOTE):
    return re.findall(rf'href="/journal/{note}/(\w+)"', site.get(f"/journal/{note}").text)


def test_the_journal_tells_of_memory_only_through_the_lens(site):
    closed = main(site.get("/journal").text)
    assert "Plan" in closed and "tea" not in closed.lower() and "mmmm" not in closed
    assert site.get("/journal/mmmmmmmmmmm1").status == 404
    assert site.get("/purge?note=mmmmmmmmmmm1").status == 404
    assert site.post("/journal/mmmmmmmmmmm1/restore").status == 404
    assert site.post("/revert", agent="planner").status == 404
    assert site.post("/purge", note="mmmmmmmmmmm1").status == 404
    site.open_lens()
    assert "tea" in main(site.get("/journal").text)
    assert site.get("/journal/mmmmmmmmmmm1").status == 200


def test_it_is_narrowed_by_who_and_when(site):
    assert "planner" in main(site.get("/journal?agent=planner&instance=laptop&session=s1").text)
    for query in ("agent=nobody", "instance=phone", "session=s2", "until=2001-01-01T00:00",
                  "since=2999-01-01T00:00"):  # fmt: skip
        assert "Nothing has happened" in site.get(f"/journal?{query}").text, query
    assert site.get("/journal?since=yesterday").status == 400


def test_a_long_journal_has_pages(site):
    with Vault.open(site.vault.layout.root, caller=AGENT) as agent:
        for number in range(60):
            edit_note(agent, "Plan", "append", f"Line {number}")
    first, second = site.get("/journal"), site.get("/journal?page=2")
    assert main(first.text).count('class="revision"') == 50
    assert 'rel="next"' in first.text and 'rel="next"' not in second.text


def test_a_revision_shows_its_words(site):
    latest, first = revisions(site)
    text = main(site.get(f"/journal/{NOTE}/{latest}").text)
    assert "<del>old</del>" in text and "<ins>new</ins>" in text and "Second" in text
    assert "planner" in text
    assert "First line." in main(site.get(f"/journal/{NOTE}/{first}").text)
    assert site.get(f"/journal/{NOTE}/0123456789ab").status == 404


def test_any_state_comes_back(site):
    _, first = revisions(site)
    assert site.post(f"/journal/{NOTE}/restore", to=first).header("location") == f"/n/{NOTE}"
    assert (site.vault.layout.root / "Plan.md").read_text() == FILES["Plan.md"]
    assert site.post(f"/journal/{NOTE}/restore", to="ffffff").status == 404


def test_what_an_editor_did_is_told(site):
    file = site.vault.layout.root / "Plan.md"
    file.write_text(file.read_text() + "By hand.\n")
    latest = revisions(site)[0]
    text = main(site.get(f"/journal/{NOTE}/{latest}").text)
    assert "in an editor" in text and "By hand." in text


def test_the_trash_gives_back_a_note(site):
    assert "The trash is empty." in site.get("/trash").text
    with Vault.open(site.vault.layout.root, caller=AGENT) as agent:
        delete_note(agent, "Plan")
        delete_note(agent, "Tea")
    text = main(site.get("/trash").text)
    assert "Plan.md" in text and "planner" in text and "tea" not in text
    assert site.post(f"/journal/{NOTE}/restore").status == 303
    assert (site.vault.layout.root / "Plan.md").is_file()
    site.open_lens()
    assert "tea.md" in main(site.get("/trash").text)


def test_a_purge_is_asked_for_first_and_proved_after(site):
    page = site.get(f"/purge?note={NOTE}")
    assert "Plan.md" in page.text and (site.vault.layout.root / "Plan.md").exists()
    done = site.post("/purge", note=NOTE)
    assert "The words are gone." in done.text
    assert not (site.vault.layout.root / "Plan.md").exists()
    assert site.get("/purge?note=").status == site.get("/purge?note=zzz").status == 404


def test_one_fact_is_purged_through_the_lens(site):
    site.open_lens()
    fact = re.search(
        r"Oolong canary\. \^(\w+)", (site.vault.layout.root / "agent-memory/tea.md").read_text()
    )[1]
    assert "Oolong canary." in site.get(f"/purge?note=mmmmmmmmmmm1&observation={fact}").text
    assert "gone" in site.post("/purge", note="mmmmmmmmmmm1", observation=fact).text
    assert "Oolong" not in (site.vault.layout.root / "agent-memory/tea.md").read_text()
    assert site.get(f"/m/mmmmmmmmmmm1/{fact}").status in (200, 404)


def test_what_one_agent_did_is_taken_back(site):
    site.open_lens()
    assert "Take it back" in site.get("/journal?agent=planner").text
    done = site.post("/revert", agent="planner", since="")
    assert done.status == 200 and "tea.md#^" in done.text and NOTE in done.text
    assert "Oolong" not in (site.vault.layout.root / "agent-memory/tea.md").read_text()
    assert "Green." in (site.vault.layout.root / "agent-memory/tea.md").read_text()
    assert site.post("/revert", agent="").status == 400
    assert site.post("/revert", agent="planner", since="never").status == 400


# Differences


def shown(before, after):
    marks = {"same": " ", "gone": "-", "come": "+", "gap": "~"}
    return [
        marks[each.kind] + "".join(part.text for part in each.parts)
        for each in lines(before, after)
    ]


def test_lines_that_differ_are_shown_with_those_around():
    old = "\n".join("abcdefghijklmnop")
    new = old.replace("c", "C").replace("n", "n2")
    assert shown(old, new) == [
        " a", " b", "-c", "+C", " d", " e", "~", " l", " m", "-n", "+n2", " o", " p",
    ]  # fmt: skip
    assert shown(old, old) == []
    assert shown("", "x") == ["+x"]
    assert shown("x", "") == ["-x"]
    assert shown("a\n" * 9 + "x", "a\n" * 9 + "y")[0] == "~"


def test_words_that_differ_are_marked():
    gone, come = words("Prefers dark themes.", "Prefers light themes!")
    assert [part.text for part in gone if part.changed] == ["dark", "."]
    assert [part.text for part in come if part.changed] == ["light", "!"]


def test_texts_of_any_length_are_compared():
    long = "\n".join(f"line {number}" for number in range(4000))
    other = "\n".join(f"row {number}" for number in range(4000))
    assert len(lines(long, other)) == 8000
    gone, come = words("a " * 4000, "b " * 4000)
    assert gone[0].changed and come[0].changed

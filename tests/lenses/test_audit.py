"""Agents in the explorer: what they asked, what they were given, what was not there, what rules."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import quote

import pytest
from zibaldone.lenses.audit import LENGTH, PARTS
from zibaldone.tools.api import get_note, recall, remember_about_user, search, update_memory
from zibaldone.tools.audit import audit
from zibaldone.tools.refusals import RuleForbids
from zibaldone.tools.rules import add_rule
from zibaldone.tools.vault import Caller, Vault
from zibaldone.vault.audit import Given, LeftOut, Retrieval, record
from zibaldone.vault.errors import NoteNotFound
from zibaldone.vault.revision import Actor

from .payloads import PAYLOADS

AGENT = Caller("planner", "laptop", "s1", "2.1", "agent")
TEA = "aaaaaaaaaaa1"
FILES = {
    "agent-memory/tea.md": f"---\nid: {TEA}\ncategory: Tea\n---\n- Green canary. ^aaaaa1\n"
    "- Unasked. ^aaaaa2\n- By hand.\n",
    "Note.md": "---\nid: nnnnnnnnnnn1\n---\n# Pine\n\nPine canary.\n",
}
PAGES = ["/agents/audit", "/agents/questions", "/agents/rules"]


@pytest.fixture
def site(explored):
    site = explored(FILES)
    site.open_lens()
    return site


@pytest.fixture
def agent(site):
    with Vault.open(site.vault.layout.root, caller=AGENT) as vault:
        yield vault


def main(text):
    return text.partition("<main")[2].partition("</main>")[0]


def plain(html):
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def shown(site, path):
    reply = site.get(path)
    assert reply.status == 200, path
    return main(reply.text)


def keep(site, *retrievals):
    for one in retrievals:
        record(site.vault.layout.state_dir, "d", one)


def asked(query="q", number=0, **more):
    time = f"2026-11-08T09:{number // 60:02}:{number % 60:02}.000Z"
    one = Retrieval(time, "search", Actor("planner", origin="agent"), query)
    return replace(one, **more)


def test_while_the_lens_is_closed_nothing_of_agents_is_there(explored):
    site = explored(FILES)
    keep(site, asked("quince"))
    for path in (*PAGES, f"/agents/audit/{asked().time}"):
        reply = site.get(path)
        assert reply.status == 404 and "quince" not in reply.text, path
    assert "/agents" not in site.get("/").text
    site.open_lens()
    assert 'href="/agents/context">Agents' in site.get("/").text
    assert site.post("/settings", lens="off", back="/agents/audit").header("location") == "/"


def test_a_question_says_who_asked_what_was_found_and_what_it_cost(site, agent):
    search(agent, "green", limit=3)
    text = plain(shown(site, "/agents/audit"))
    for said in ("search green", "planner 2.1 laptop agent session s1", "1 found", "limit=3", "Tea",
                 "^aaaaa1 version 1", "1 question"):  # fmt: skip
        assert said in text, said
    tokens = audit(site.vault).retrievals[0].tokens
    assert tokens > 0 and f"{tokens} tokens" in text


def test_what_the_owner_asks_does_not_show(site):
    search(site.vault, "green")
    assert "Nothing was asked" in shown(site, "/agents/audit")
    assert "<svg" not in shown(site, "/agents/audit")


def moment(site):
    return re.search(r'href="(/agents/audit/[^"]+)"', shown(site, "/agents/audit"))[1]


def test_one_question_in_full_leads_to_the_notes_and_their_states(site, agent):
    made = remember_about_user(agent, "Oolong canary on Sundays.", category="tea")
    recall(agent, "canary", budget_tokens=1000)
    page = moment(site)
    text = shown(site, page)
    assert f'href="/m/{TEA}/{made.observation_id}"' in text and 'href="/n/nnnnnnnnnnn1"' in text
    revision = re.search(rf'href="(/journal/{TEA}/\w+)"', text)[1]
    assert "Oolong canary" in site.get(revision).text
    assert "unchanged since" in text
    update_memory(agent, made.observation_id, "Oolong no more.")
    assert f'href="{revision}"' in shown(site, page)
    (site.vault.layout.root / "Note.md").unlink()
    assert "a note that is gone" in shown(site, page)


def test_what_was_left_out_says_why(site):
    out = (LeftOut(TEA, "budget", 160), LeftOut("nnnnnnnnnnn1", "maxPerSource", 9))
    keep(site, asked("x", found=1, left_out=out, more_left_out=4))
    assert "6 left out" in plain(shown(site, "/agents/audit"))
    text = plain(shown(site, moment(site)))
    for said in (
        "Tea no room in the budget · 160 tokens",
        "Pine its note had enough room",
        "4 more",
    ):
        assert said in text, said


def test_a_list_names_some_parts_and_the_page_of_the_question_all(site):
    parts = tuple(Given(TEA, "0" * 16, 5, f"part{n}") for n in range(PARTS + 4))
    keep(site, asked("x", found=9, given=parts[:1] + parts, more_given=2))
    text = shown(site, "/agents/audit")
    assert "^part2" in text and "^part3" not in text and "6 more" in plain(text)
    assert all(f"^part{n}" in shown(site, moment(site)) for n in range(PARTS + 4))


FILTERED = [("q=QUINCE", 1), ("agent=planner", 2), ("agent=nobody", 0), ("tool=recall", 0),
            ("tool=nonsense", 2), ("session=s9", 1), ("instance=x", 0),
            ("since=2026-11-08T12:00", 0), ("until=2026-11-07T00:00", 0),
            ("since=2026-11-07T00:00&until=2026-11-09T00:00", 2)]  # fmt: skip


def test_filters_narrow(site):
    keep(site, asked("quince"), asked("oak", 1, caller=Actor("planner", session="s9")))
    for query, found in FILTERED:
        text = shown(site, f"/agents/audit?{query}")
        assert len(re.findall('<li class="revision">', text)) == found, query


def test_what_is_no_time_is_refused_and_a_moment_without_questions_is_none(site):
    assert site.get("/agents/audit?since=yesterday").status == 400
    for moment in ("2026-11-08T09:00:00.000Z", "yesterday", "x" * 300):
        assert site.get(f"/agents/audit/{moment}").status == 404


def test_many_questions_have_pages_that_stay_light(site):
    parts = tuple(Given(TEA, "0" * 16, 5, f"part{n}") for n in range(10))
    words = "word " * 200
    keep(site, *(asked(f"{words}{n}", n, found=9, given=parts) for n in range(LENGTH + 5)))
    first = site.get("/agents/audit?agent=planner").text
    assert len(first.encode()) < 150_000
    assert 'href="/agents/audit?agent=planner&amp;page=2"' in first
    assert len(re.findall('<li class="revision">', shown(site, "/agents/audit?page=2"))) == 5
    assert len(site.get("/agents/questions").text.encode()) < 150_000


def test_blind_spots_and_what_is_most_asked(site, agent):
    for _ in range(2):
        search(agent, "dentist")
    search(agent, "green")
    with pytest.raises(NoteNotFound):
        get_note(agent, "Birthdays")
    blind, _, frequent = shown(site, "/agents/questions").partition("Most asked")
    assert blind.index("dentist") < blind.index("Birthdays") and "green" not in blind
    assert "2 times" in blind and "once" in blind
    assert re.findall('q=(\\w+)"', frequent) == ["dentist", "Birthdays", "green"]
    assert "found nothing" in plain(shown(site, "/agents/audit?q=dentist"))


def test_the_chart_is_told_in_words_too(site, agent):
    search(agent, "dentist")
    search(agent, "green")
    text = shown(site, "/agents/audit")
    assert 'role="img" aria-labelledby="chart-title chart-desc"' in text
    assert "2 were asked, of which 1 found nothing; the busiest day had 2." in text
    assert re.search(r"<tr><td>[^<]+</td><td>2</td><td>1</td><td>\d+</td></tr>", text)


def test_struck_and_purged_questions_say_so(site):
    keep(site, asked("", struck="a password"), asked("", 1, redacted=True), asked("", 2))
    text = plain(shown(site, "/agents/audit"))
    for said in ("a question with a password in it", "a purged question", "no words"):
        assert said in text


def test_lines_that_are_none_are_told_of(site):
    keep(site, asked("quince"))
    file = next((site.vault.layout.state_dir / "audit").glob("*/*.jsonl"))
    file.write_bytes(file.read_bytes() + b"no line\n")
    assert "could not be read: 1." in shown(site, "/agents/audit")


def test_a_fact_tells_how_often_it_was_recalled(site, agent):
    for _ in range(2):
        search(agent, "green")
    text = plain(shown(site, f"/m/{TEA}"))
    assert "recalled 2 times, last just now" in text and text.count("never recalled") == 1
    assert "recalled 2 times" in plain(shown(site, f"/m/{TEA}/aaaaa1"))

    def order(sort):
        return re.findall("<p>(Green|Unasked|By hand)", shown(site, f"/m/{TEA}?sort={sort}"))

    assert order("used")[0] == "Green"
    assert order("unused")[-1] == "Green"
    search(agent, "green")
    assert "recalled 3 times" in plain(shown(site, f"/m/{TEA}"))


def test_memory_is_shown_where_the_audit_cannot_be_read(site):
    keep(site, asked("quince"))
    folder = site.vault.layout.state_dir / "audit" / "d"
    (folder / "2027-01.jsonl").symlink_to(folder / "2026-11.jsonl")
    assert site.get("/agents/audit").status == 503
    assert "never recalled" not in shown(site, f"/m/{TEA}")
    assert site.get(f"/m/{TEA}/aaaaa1").status in (200, 404)


def test_rules_tell_what_they_stopped_and_which_wait(site, agent):
    assert "There are no rules." in shown(site, "/agents/rules")
    add_rule(site.vault, "no_food", "must", "never remember #food", "memory")
    add_rule(agent, "brief", "should", "words <= 200", "style")
    with pytest.raises(RuleForbids):
        remember_about_user(agent, "Likes lentils.", category="tea", tags=["food"])
    text = plain(shown(site, "/agents/rules"))
    enforced = text[text.index("never remember #food") :]
    assert "binds kept by the tools" in enforced
    assert "stopped 1 time, last just now (planner, remember)" in enforced
    waits = text[text.index("words &lt;= 200") :]
    assert "waits for you" in waits and "has stopped nothing yet" in waits
    assert 'href="/review"' in shown(site, "/agents/rules")


def test_it_is_all_there_in_spanish(site, agent):
    search(agent, "dentist")
    site.post("/settings", language="es")
    assert "Auditoría" in shown(site, "/agents/audit")
    assert "Puntos ciegos" in shown(site, "/agents/questions")
    assert "no encontró nada" in shown(site, "/agents/audit")


def strange(html):
    """Elements, attributes and addresses that the pages have not from us."""
    found = []

    def start(tag, attributes):
        wrong = tag in ("script", "iframe", "object", "img", "style", "base", "meta", "link")
        for name, value in attributes:
            wrong |= name.startswith("on") or name in ("style", "src")
            wrong |= name in ("href", "action") and not value.startswith("/")
        if wrong:
            found.append((tag, attributes))

    parser = HTMLParser()
    parser.handle_starttag = parser.handle_startendtag = start
    parser.feed(html)
    return found


def test_no_payload_gets_out_of_what_agents_said(site):
    for number, payload in enumerate(PAYLOADS):
        caller = Actor(payload, payload, payload, payload, "agent")
        told = asked(payload, number, caller=caller, filters={payload: payload}, error=payload)
        parts = {"given": (Given(payload, payload, 5, payload, 1),)}
        parts |= {"left_out": (LeftOut(payload, payload, 1),)}
        keep(site, replace(told, struck=payload, **parts))
        keep(site, replace(asked(payload, 60 + number, caller=caller), error=""))
    paths = [*PAGES, "/agents/audit?page=2", "/agents/audit?page=3"]
    paths += [f"/agents/audit/{asked(number=number).time}" for number in range(len(PAYLOADS))]
    paths += [f"/agents/audit?q={quote(said)}&agent={quote(said)}" for said in PAYLOADS[::5]]
    for path in paths:
        text = shown(site, path)
        assert strange(text) == [], path


def test_hostile_lines_break_no_page(site):
    keep(site, asked("quince"))
    file = next((site.vault.layout.state_dir / "audit").glob("*/*.jsonl"))
    line = file.read_bytes()
    file.write_bytes(
        line
        + line.replace(b"quince", b"\\ud800half")
        + line.replace(b"2026-11-08T09", b"9999-99-99T09")
        + line.replace(b'"found"', b'"filters":{"a":[1,{"b":null}],"\\udfff":1e999},"found"')
    )
    assert site.get("/agents/audit").status == 200
    assert site.get("/agents/questions").status == 200
    assert site.get(f"/agents/audit/{asked().time}").status == 200

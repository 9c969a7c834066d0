"""What open pages are told: which notes have changed, and of memory only through the lens."""

import http.client
import json
import os

import pytest
from zibaldone.lenses.news import KEPT, News
from zibaldone.tools.api import remember_about_user
from zibaldone.tools.vault import Caller, Vault

AGENT = Caller("planner", origin="agent")
FILES = {
    "Plan.md": "---\nid: aaaaaaaaaaa1\n---\nFirst.\n",
    "agent-memory/tea.md": "---\nid: mmmmmmmmmmm1\ncategory: Tea\n---\n- Green. ^aaaaa1\n",
}
SECONDS = 10


@pytest.fixture
def news(house):
    return News(house(FILES).vault)


def write(news, path, text):
    file = news._vault.layout.root / path
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def test_nothing_has_changed_since_now(news):
    now = news.now()
    assert news.since(now)[1:] == (set(), set())


def test_a_note_that_changes_comes_or_goes_is_told_of(news):
    now = news.now()
    write(news, "Plan.md", FILES["Plan.md"] + "More.\n")
    after, notes, memory = news.since(now)
    assert (notes, memory) == ({"aaaaaaaaaaa1"}, set())
    write(news, "New.md", "---\nid: aaaaaaaaaaa2\n---\n")
    (news._vault.layout.root / "Plan.md").unlink()
    assert news.since(after)[1] == {"aaaaaaaaaaa1", "aaaaaaaaaaa2"}
    assert news.since(now)[1] == {"aaaaaaaaaaa1", "aaaaaaaaaaa2"}


def test_memory_is_told_of_apart(news):
    now = news.now()
    write(news, "agent-memory/tea.md", FILES["agent-memory/tea.md"] + "- Hot.\n")
    assert news.since(now)[1:] == (set(), {"mmmmmmmmmmm1"})


def test_a_note_that_is_only_touched_is_no_news(news):
    now = news.now()
    os.utime(news._vault.layout.root / "Plan.md", (1, 1))
    assert news.since(now)[1:] == (set(), set())


def test_an_index_that_is_built_anew_is_no_news_and_what_comes_after_it_is(news):
    for number in range(5):
        write(news, "Plan.md", f"---\nid: aaaaaaaaaaa1\n---\n{number}\n")
        before = news.now()
    news._vault.index.forget()
    news._vault.index.refresh()
    after, *told = news.since(before)
    assert after > before and told == [set(), set()]
    write(news, "Plan.md", FILES["Plan.md"])
    assert news.since(after)[1] == news.since(before)[1] == {"aaaaaaaaaaa1"}


def test_who_has_missed_too_much_is_told_so(news):
    news.now()
    assert news.since(-1) is None
    first = news.now()
    for number in range(KEPT + 1):
        write(news, "Plan.md", f"---\nid: aaaaaaaaaaa1\n---\n{number}\n")
        news.now()
    assert news.since(first) is None
    assert news.since(news.now())[1:] == (set(), set())


# Over the wire


class Listener:
    """Reads the events of one page, as EventSource does."""

    def __init__(self, site, since):
        self.connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=SECONDS)
        cookies = "; ".join(f"{name}={value}" for name, value in site.cookies.items())
        self.connection.request("GET", f"/live?since={since}", headers={"Cookie": cookies})
        self.answer = self.connection.getresponse()

    def next(self):
        while True:
            line = self.answer.readline()
            assert line, "the stream has ended"
            if line.startswith(b"data: "):
                return json.loads(line[6:])["notes"]

    def close(self):
        self.connection.close()


@pytest.fixture
def site(explored):
    return explored(FILES)


def since(site):
    return site.get("/").text.partition('data-change="')[2].partition('"')[0]


def listening(site):
    return Listener(site, since(site))


def test_a_page_hears_of_an_edit_and_not_of_memory(site):
    heard = listening(site)
    assert heard.answer.getheader("content-type").startswith("text/event-stream")
    with Vault.open(site.vault.layout.root, caller=AGENT) as agent:
        remember_about_user(agent, "Hot, in winter.", category="tea")
    (site.vault.layout.root / "Plan.md").write_text("---\nid: aaaaaaaaaaa1\n---\nOther.\n")
    assert heard.next() == ["aaaaaaaaaaa1"]
    heard.close()


def test_through_the_lens_it_hears_of_memory_too(site):
    site.open_lens()
    heard = listening(site)
    with Vault.open(site.vault.layout.root, caller=AGENT) as agent:
        remember_about_user(agent, "Hot, in winter.", category="tea")
    assert heard.next() == ["mmmmmmmmmmm1"]
    heard.close()


@pytest.mark.parametrize("text", ["", "x", "-5", "9" * 400, "0"])
def test_whoever_does_not_know_since_when_is_told_of_everything(site, text):
    heard = Listener(site, text)
    assert heard.next() == ["*"]
    heard.close()

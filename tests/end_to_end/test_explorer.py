"""Owners at their explorer, in a real browser: with mouse, keys, a phone, and without scripts."""

import re

import pytest
from zibaldone.tools.api import recall, search, update_memory
from zibaldone.tools.vault import Caller, Vault

from ..lenses.payloads import PAYLOADS
from .conftest import AXE

PAGES = ["/", "/tree", "/tree/projects/bandurria", "/tags", "/tags/casa", "/search?q=bandurria",
         "/n/t2h5b8kx1wqa", "/n/t2h5b8kx1wqa/edit", "/help", "/nowhere", "/journal", "/trash",
         "/m"]  # fmt: skip
PREFERENCES = "y0gvbv4gskh5"
LENS_PAGES = ["/m", f"/m/{PREFERENCES}", f"/m/{PREFERENCES}/ag88aw", "/journal?agent=planner",
              f"/journal/{PREFERENCES}", f"/purge?note={PREFERENCES}&observation=ag88aw",
              "/search?q=short&in=memory", "/trash", "/review", "/agents/rules",
              "/agents/context?project=bandurria", "/agents/audit",
              "/agents/questions"]  # fmt: skip


def test_an_owner_reads(sample, window):
    visit = window(sample)
    page = visit.page
    visit.go("/")
    page.click(".tree >> text=projects")
    page.click(".tree >> text=bandurria")
    assert page.get_attribute(".tree a.folder:has-text('projects')", "aria-expanded") == "true"
    page.click(".tree >> text=Bandurria 1931")
    assert page.inner_text("h1") == "Bandurria 1931"
    page.evaluate("document.querySelector('.prose img').decode()")  # Fails where it is none.
    page.locator(".picture text", has_text="Home").click()
    assert page.inner_text("h1") == "Home"
    page.click("text=Dark")
    page.wait_for_selector("html[data-theme=dark]")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(26, 25, 23)"
    page.click("text=Español")
    page.wait_for_selector("html[lang=es]")
    assert page.is_visible("text=Enlazada desde") or page.is_visible("text=Vecindario")


def test_a_closed_folder_opens_and_closes_in_place(sample, window):
    visit = window(sample)
    visit.go("/")
    folder = visit.page.locator(".tree a.folder", has_text="recipes")
    folder.click()
    visit.page.wait_for_selector(".tree >> text=Lentejas")
    folder.click()
    assert not visit.page.is_visible(".tree >> text=Lentejas")
    assert visit.page.url.endswith("/")


def test_search_answers_while_one_types(sample, window):
    visit = window(sample)
    visit.go("/search")
    visit.page.keyboard.type("humedad", delay=10)
    visit.page.wait_for_selector("#results mark")
    assert "q=humedad" in visit.page.url
    visit.page.reload()
    assert visit.page.locator("#results mark").count()


def test_keys_alone_lead_everywhere(sample, window):
    visit = window(sample)
    page = visit.page
    visit.go("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    first = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/n/"))
    assert page.inner_text("h1") == first
    page.keyboard.press("/")
    page.keyboard.type("galway")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("q=galway"))
    page.keyboard.press("Tab")
    for key, address in (("t", "/tree"), ("f", "/"), ("?", "/help")):
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press(key)
        page.wait_for_url(re.compile(re.escape(address) + "$"))


def test_everything_can_be_reached_with_tab_and_shows_its_focus(sample, window):
    visit = window(sample)
    page = visit.page
    visit.go("/n/t2h5b8kx1wqa")
    wanted = page.locator("a:visible, button:visible, input:visible, summary:visible").count()
    seen = set()
    for _ in range(wanted + 5):
        page.keyboard.press("Tab")
        seen.add(page.evaluate(
            "(() => { const e = document.activeElement; const s = getComputedStyle(e);"
            " const r = e.getBoundingClientRect();"
            " return [e.outerHTML.slice(0, 150), s.outlineStyle !== 'none' || r.width > 0] })()"
        ).__repr__())  # fmt: skip
    assert len(seen) >= wanted - 1
    assert all(each.endswith("True]") for each in seen)


def test_it_all_works_without_scripts(sample, window):
    visit = window(sample, java_script_enabled=False)
    page = visit.page
    visit.go("/")
    page.click(".tree >> text=projects")
    assert page.inner_text("h1") == "projects"
    page.click("main >> text=bandurria")
    page.click("main >> text=Bandurria 1931")
    assert page.inner_text("h1") == "Bandurria 1931"
    page.fill("#q", "humedad")
    page.press("#q", "Enter")
    assert page.locator("mark").count()
    page.click("text=Dark")
    assert page.get_attribute("html", "data-theme") == "dark"


def test_a_phone_shows_every_page_whole(sample, window):
    visit = window(sample, viewport={"width": 360, "height": 740}, has_touch=True)
    for path in (*PAGES, *LENS_PAGES):
        visit.go(path)
        if path == PAGES[-1]:
            with visit.page.expect_navigation():
                visit.page.click("#lens button")
        overflow = visit.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert overflow <= 0, path


def test_an_owner_tends_memory(shared, window):
    """From the switch to a fact, an edit, its history, back, and what agents were given of it."""
    visit = window(shared.address)
    page = visit.page
    visit.go("/")
    assert not page.is_visible("text=Preferences")
    page.keyboard.press("m")
    page.click("main >> text=Preferences")
    page.click("#b-ag88aw >> text=Edit")
    page.fill("#text", "Prefers long answers.")
    page.click("text=Save as version")
    assert page.is_visible("text=It is written.")
    assert page.inner_text(".history .card >> nth=0 >> ins") == "long"
    page.click(".history >> text=Restore these words")
    assert "short answers with the number first" in page.inner_text(".prose.card")
    with shared.agent() as agent:
        recall(agent, "How long should answers be?", budget_tokens=900)
    page.click(".places >> text=Agents")
    assert page.inner_text("h1") == "Agents" and page.is_visible("text=Exactly what the agent gets")
    page.click(".tabs >> text=Audit")
    assert page.is_visible("svg.chart")
    page.click("main >> text=How long should answers be?")
    page.click(f".parts a[href='/m/{PREFERENCES}/ag88aw']")
    assert "recalled 1 time" in page.inner_text("dl.facts")
    page.click("text=Forget this fact")
    assert page.is_visible("text=no longer in its note")
    text = (shared.vault / "agent-memory/preferences.md").read_text()
    assert "ag88aw" not in text
    page.keyboard.press("m")
    page.wait_for_url(re.compile(r"/$"))
    assert page.get_attribute("#lens button", "aria-pressed") == "false"


def test_two_windows_and_an_agent_lose_no_words(shared, window):
    base = shared.address
    one, other = window(base), window(base)
    for visit in (one, other):
        visit.go("/m")
        visit.page.click("main button.main")
        visit.go(f"/m/{PREFERENCES}/re4j1n")
    one.page.fill("#text", "Words of the first window.")
    other.page.fill("#text", "Words of the second window.")
    one.page.click("text=Save as version")
    other.page.click("text=Save as version")
    shown = other.page.inner_text("main")
    assert "Words of the first window." in shown
    assert other.page.input_value("#text") == "Words of the second window."
    with shared.agent() as agent:
        update_memory(agent, "re4j1n", "Words of an agent.")
    other.page.click("text=Save as version")
    assert "Words of an agent." in other.page.inner_text("main")
    other.page.click("text=Save as version")
    assert "Words of the second window." in other.page.inner_text(".prose.card")
    history = other.page.inner_text(".history")
    for said in ("first window", "of an agent", "second window"):
        assert said in history.replace("\n", " ")


ALL_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed: `make test` does it")
def test_axe_finds_nothing_wrong_in_the_light_nor_in_the_dark(sample, window):
    visit = window(sample, reduced_motion="reduce")  # No colour is looked at while it changes.
    visit.context.add_init_script(path=AXE)

    def check(path="", *, whole=False, dark=True):
        if path:
            visit.go(path)
        for theme, rules in (("light", ALL_RULES), ("dark", ["color-contrast"]))[: 1 + dark]:
            visit.page.emulate_media(color_scheme=theme)
            assert visit.check_access(rules, whole=whole) == [], (path or visit.page.url, theme)

    for number, path in enumerate(PAGES):  # In the dark the same parts have other colours.
        check(path, whole=not number, dark=number % 2 == 0)
    visit.page.click("#lens button")
    for number, path in enumerate(LENS_PAGES):
        check(path, whole=not number, dark=number % 2 == 0)
    links = ((f"/journal/{PREFERENCES}", ".revision a"), ("/agents/audit", ".asked a"))
    for path, link in (*links, ("/n/t2h5b8kx1wqa/edit", "#compare")):
        visit.go(path)
        visit.page.locator(link).first.click()
        check()


def test_the_page_does_not_jump(sample, window):
    visit = window(sample)
    visit.page.add_init_script(
        "window.shifts = 0; new PerformanceObserver(list => { for (const each of list.getEntries())"
        " window.shifts += each.value }).observe({type: 'layout-shift', buffered: true})"
    )
    for path in PAGES:
        visit.go(path)
        visit.page.wait_for_timeout(50)
        assert visit.page.evaluate("window.shifts") < 0.05, path


def test_no_payload_gets_out_of_a_note(vault_dir, explore, window):
    """Each is the title of a note; three together are in all other places of every third note."""
    for number, payload in enumerate(PAYLOADS):
        name = re.sub(r"[/\0<>:\"\\|?*]", "_", payload)[:60]
        text = f"---\nid: ppppppppp{number:03}\ntitle: {payload!r}\n"
        if number % 3 == 0:
            said = PAYLOADS[number : number + 3]
            text += f"aliases: {list(said)!r}\ntags: {list(said)!r}\n"
            text += "".join(f"{at}: {one!r}\n" for at, one in enumerate(said))
            text += "---\n" + "\n".join(map(_everywhere, said))
        else:
            text += f"---\n[[Hub]] {payload}\n"
        (vault_dir / f"{number} {name}.md").write_text(text.replace("\0", ""))
    (vault_dir / "Hub.md").write_text("---\nid: hhhhhhhhhhhh\n---\nhub\n")
    visit = window(explore(vault_dir))
    addresses = ["/", "/?page=2", "/tree", "/tags", "/n/hhhhhhhhhhhh", "/search?q=alert"]
    addresses += [f"/n/ppppppppp{number:03}" for number in range(0, len(PAYLOADS), 3)]
    addresses += [f"{address}/edit" for address in addresses[-3:]]
    for address in addresses:
        assert visit.go(address).status == 200
        assert visit.page.evaluate(STRANGE) == [], address


def _everywhere(payload):
    return (
        f"# {payload}\n\n> [!{payload}] {payload}\n> {payload}\n\n"
        f"#{payload} [[{payload}|{payload}]] [x]({payload})\n\n```{payload}\n{payload}\n```\n\n"
        f"- [x] {payload}\n\n[[Hub]] {payload}\n"
    )


def test_no_payload_gets_out_of_memory(vault_dir, explore, window):
    """As category, summary, fact, field, agent, client, instance, session, reason, difference."""
    (vault_dir / "agent-memory").mkdir()
    for number, payload in enumerate(PAYLOADS):
        text = (
            f"---\nid: mmmmmmmmmm{number:02}\ncategory: {payload!r}\nsummary: {payload!r}\n---\n"
            f"- Plain. [type:: {payload}] ^aaaa{number:02}\n- {payload} [expires:: {payload}]\n"
        ).replace("\0", "")
        (vault_dir / f"agent-memory/m{number}.md").write_text(text)
    visit = window(explore(vault_dir))
    visit.go("/m")
    visit.page.click("main button.main")
    addresses = ["/m", "/journal", "/search?q=alert&in=memory", "/trash", "/agents/context"]
    addresses += ["/agents/audit", "/agents/questions", "/agents/rules"]
    for number in range(0, len(PAYLOADS), 6):
        said = [payload.replace("\0", "") for payload in (PAYLOADS * 2)[number : number + 5]]
        caller = Caller(*said[:4], "agent")
        with Vault.open(vault_dir, caller=caller) as agent:
            update_memory(agent, f"aaaa{number:02}", f"Now {said[4]}", said[0])
            search(agent, said[4])
        note = f"mmmmmmmmmm{number:02}"
        addresses += [f"/m/{note}", f"/m/{note}/aaaa{number:02}"]
        visit.go(f"/journal/{note}")
        assert visit.page.evaluate(STRANGE) == [], note
        addresses.append(visit.page.get_attribute(".revision a", "href"))
    for address in addresses:
        visit.go(address)
        assert visit.page.evaluate(STRANGE) == [], address


# Elements of ours are counted from the templates; anything else in a page came out of a note.
STRANGE = """
[...document.querySelectorAll('main *')].filter(each =>
  ['SCRIPT', 'STYLE', 'IFRAME', 'OBJECT', 'EMBED', 'FORM', 'INPUT', 'BUTTON', 'SELECT', 'TEXTAREA',
   'LINK', 'META', 'BASE', 'VIDEO', 'AUDIO', 'TEMPLATE', 'MARQUEE', 'MATH'].includes(each.tagName)
   && !each.closest('main form')
  || each.tagName.toLowerCase() === 'svg' && !each.classList.contains('picture')
  || [...each.attributes].some(a => a.name.startsWith('on') || a.name === 'style'
     || ['href', 'src', 'action', 'xlink:href'].includes(a.name)
        && /^\\s*(javascript|data|vbscript)/i.test(a.value))
).map(each => each.outerHTML.slice(0, 200))
"""


def test_an_open_page_follows_its_note(shared, window):
    visit = window(shared.address)
    visit.go("/n/t2h5b8kx1wqa")
    file = shared.vault / "projects/bandurria/Bandurria 1931.md"
    file.write_text(file.read_text() + "\nWritten in an editor.\n")
    visit.page.wait_for_selector("text=Written in an editor.")
    visit.go("/")
    (shared.vault / "inbox/Fresh.md").write_text("Fresh from the editor.\n")
    visit.page.wait_for_selector("main >> text=Fresh from the editor.")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "none"])
def test_an_owner_edits_a_note_that_an_editor_changes_meanwhile(shared, window, scripts):
    visit = window(shared.address, java_script_enabled=scripts)
    page, file = visit.page, shared.vault / "areas/taller/Hide glue.md"
    theirs = f"Theirs, {scripts}.\n"
    visit.go("/n/zzf6e6w2t66g")
    page.click("#edit")
    page.fill("#text", page.input_value("#text") + "Mine, half a senten")
    file.write_text(file.read_text() + theirs)
    page.click("#news >> text=Show it" if scripts else "text=Save")
    page.wait_for_selector("text=both texts are here")
    assert theirs in page.input_value("#now") and theirs not in page.input_value("#text")
    page.fill("#text", page.input_value("#now") + "Mine, a whole sentence.\n")
    if scripts:
        page.keyboard.press("Control+s")
    else:
        page.click("text=Save")
    page.wait_for_selector("text=It is written.")
    assert file.read_text().endswith(f"{theirs}Mine, a whole sentence.\n")


def test_words_that_were_not_sent_are_not_left_without_a_word(sample, window):
    visit = window(sample)
    page, asked = visit.page, []
    page.remove_listener("dialog", visit._dialog)
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    visit.go("/n/t2h5b8kx1wqa/edit")
    page.fill("#text", "Half a senten")
    page.click(".brand", no_wait_after=True)
    page.wait_for_timeout(200)
    assert asked == ["beforeunload"]
    assert page.input_value("#text") == "Half a senten"


def test_what_is_being_typed_stays_when_an_agent_writes(shared, window):
    visit = window(shared.address)
    page = visit.page
    visit.go("/m")
    page.click("main button.main")
    visit.go(f"/m/{PREFERENCES}/kzjfp2")
    page.fill("#text", "Half a senten")
    with shared.agent() as agent:
        update_memory(agent, "kzjfp2", "Words of an agent.")
    page.wait_for_selector("#news >> text=changed meanwhile")
    assert page.input_value("#text") == "Half a senten"
    assert "Words of an agent." not in page.inner_text("main")
    page.click("text=Save as version")
    assert "Words of an agent." in page.inner_text("main")
    assert page.input_value("#text") == "Half a senten"


def test_a_second_site_can_neither_read_nor_write(sample, browser, tmp_path):
    import functools
    import http.server
    import threading

    base = sample
    (tmp_path / "evil.html").write_text(
        f"<form id=f method=post action='{base}settings'><input name=theme value=dark></form>"
    )
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    context = browser.new_context()
    page = context.new_page()
    try:
        page.goto(f"http://127.0.0.1:{other.server_port}/evil.html")
        for mode in ("cors", "no-cors"):
            read = page.evaluate(
                "([u, mode]) => fetch(u, {mode, credentials: 'include'})"
                ".then(r => r.type + r.status, e => 'refused')",
                [base, mode],
            )
            assert read == "refused"
        framed = page.evaluate(
            "u => new Promise(done => { const f = document.createElement('iframe'); f.src = u;"
            " f.onload = () => { try { done(f.contentDocument ? 'read' : 'closed') }"
            " catch { done('closed') } }; document.body.append(f) })",
            base,
        )
        assert framed == "closed"
        answer = page.evaluate("document.forms.f.submit()")
        page.wait_for_url(re.compile("/settings"))
        assert answer is None and "not" in page.inner_text("body")
        page.goto(base)
        assert page.get_attribute("html", "data-theme") == "auto"
    finally:
        context.close()
        other.shutdown()
        other.server_close()


def test_browsers_that_leave_early_do_not_end_it(sample):
    import http.client
    import socket
    from urllib.parse import urlsplit

    base = sample
    port = urlsplit(base).port
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode() * 3)
    again = http.client.HTTPConnection("127.0.0.1", port)
    again.request("GET", "/")
    assert again.getresponse().status == 200
    again.close()

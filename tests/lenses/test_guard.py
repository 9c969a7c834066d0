"""Who may ask, over every route: pages, actions, static files and addresses that are none."""

import hmac
import re

import pytest
from zibaldone.lenses.guard import Door, Guard, cookie_header, is_loopback
from zibaldone.lenses.server import GET, POST

NOTE = "aaaaaaaaaaaa"
FILES = {
    "Note.md": f"---\nid: {NOTE}\n---\nWords of the owner.\n",
    "agent-memory/tea.md": "---\nid: bbbbbbbbbbbb\ncategory: Tea\n---\n- Green. ^aaaaa1\n",
    "pic.png": b"\x89PNG\r\n\x1a\n",
}
FILLED = {"{id}": NOTE, "{folder:path}": "", "{tag:path}": "x", "{file:path}": "pic.png"}


def filled(path):
    for name, value in FILLED.items():
        path = path.replace(name, value)
    return re.sub(r"{\w+(:path)?}", "x", path)


PAGES = [filled(path) for path in GET]
ACTIONS = [filled(path) for path in POST]
OTHERS = ["/static/0/explorer.css", "/nowhere", "/n/nothing", "/static/../server.py", "/%2e%2e/x"]
ROUTES = [("GET", path) for path in (*PAGES, *OTHERS)] + [("POST", path) for path in ACTIONS]
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def site(explored):
    return explored(FILES)


def ask(site, method, path, headers):
    own = {"Origin": site.origin, **FORM} if method == "POST" else {}
    body = "csrf=x" if method == "POST" else None
    return site.ask(method, path, headers={**own, **headers}, body=body, cookies=False)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost", "127.0.0.1:1",
     "127.0.0.1.evil.example:{port}", "", "[::1]", "user@127.0.0.1:{port}", "0.0.0.0:{port}"],
)  # fmt: skip
def test_a_foreign_name_is_refused_on_every_route(site, host):
    given = host.format(port=site.port)
    for method, path in ROUTES:
        reply = ask(site, method, path, {"Host": given})
        assert reply.status == 403, (method, path)
        assert "owner" not in reply.text


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "[::1]:{port}"])
def test_the_names_of_this_machine_are_answered(site, host):
    assert ask(site, "GET", "/", {"Host": host.format(port=site.port)}).status == 200


def test_two_names_at_once_are_refused(site):
    reply = site.ask("GET", "/", headers={"Host": [site.host, "evil.example"]})
    assert reply.status in (400, 403)


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1",
     "http://localhost:{port}", "http://127.0.0.1:{port}.evil.example", ""],
)  # fmt: skip
def test_another_origin_is_refused_on_every_route(site, origin):
    for method, path in ROUTES:
        reply = ask(site, method, path, {"Origin": origin.format(port=site.port)})
        assert reply.status == 403, (method, path)
        assert "owner" not in reply.text


@pytest.mark.parametrize("from_where", ["cross-site", "same-site", "unheard-of"])
def test_what_another_site_makes_a_browser_ask_is_refused(site, from_where):
    for method, path in ROUTES:
        for more in ({}, {"Origin": "null"}, {"Sec-Fetch-Mode": "navigate"}):
            reply = ask(site, method, path, {"Sec-Fetch-Site": from_where, **more})
            assert reply.status == 403, (method, path, more)


def test_a_page_that_tells_no_referrer_says_null_and_is_known_by_the_browser(site):
    csrf = site.csrf()
    cookie = "; ".join(f"{name}={value}" for name, value in site.cookies.items())
    headers = {"Origin": "null", "Sec-Fetch-Site": "same-origin", "Cookie": cookie, **FORM}
    body = f"csrf={csrf}&theme=dark"
    assert site.ask("POST", "/settings", headers=headers, body=body).status == 303


def test_an_action_has_to_say_where_it_comes_from(site):
    for path in ACTIONS:
        reply = site.ask("POST", path, headers=FORM, body=f"csrf={site.csrf()}")
        assert reply.status == 403


@pytest.mark.parametrize("csrf", ["", "x", "0" * 64])
def test_an_action_needs_the_token_of_its_session(site, csrf):
    before = {path: path.read_bytes() for path in site.vault.layout.root.rglob("*.md")}
    for path in ACTIONS:
        assert site.post(path, csrf=csrf).status == 403, path
    assert before == {path: path.read_bytes() for path in site.vault.layout.root.rglob("*.md")}


def test_the_token_of_another_session_does_not_count(site):
    stolen = site.csrf()
    site.cookies.clear()
    site.get("/")
    assert site.post("/settings", csrf=stolen, theme="dark").status == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECTX"])
def test_other_methods_are_refused(site, method):
    for _, path in ROUTES[::4]:
        reply = ask(site, method, path, {"Origin": site.origin})
        assert reply.status in (403, 405)


def test_get_is_no_way_to_an_action_and_post_none_to_a_page(site):
    for path in ACTIONS:
        if path not in PAGES:
            assert site.get(path).status in (404, 405), path
    for path in PAGES:
        if path not in ACTIONS:
            assert site.post(path).status == 405, path


def test_no_get_changes_the_vault_or_its_history(site):
    root = site.vault.layout.root
    site.get("/")
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    for path in (*PAGES, *OTHERS):
        site.get(path)
    assert before == {path: path.stat().st_mtime_ns for path in root.rglob("*")}


def test_every_answer_is_sealed(site):
    replies = [ask(site, method, path, {}) for method, path in ROUTES]
    replies += [ask(site, method, path, {"Host": "evil"}) for method, path in ROUTES]
    replies += [site.ask("GET", f"/static/{version(site)}/explorer.js")]
    for reply in replies:
        policy = reply.header("content-security-policy")
        assert "unsafe" not in policy.replace("style-src 'unsafe-inline'; sandbox", "")
        assert "default-src 'none'" in policy
        assert reply.header("x-content-type-options") == "nosniff"
        assert reply.header("referrer-policy") == "no-referrer"
        assert reply.header("x-frame-options") == "DENY"
        assert reply.header("cross-origin-resource-policy") == "same-origin"
        assert "access-control-allow-origin" not in [name.lower() for name, _ in reply.headers]
        assert reply.header("server") == ""


def version(site):
    return re.search(r"/static/(\w+)/", site.get("/").text)[1]


def test_pages_may_load_and_run_only_what_is_theirs(site):
    policy = site.get("/").header("content-security-policy")
    for own in ("script", "style", "img", "connect"):
        assert f"{own}-src 'self'" in policy
    for rule in ("frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"):
        assert rule in policy


def test_pages_hold_no_inline_script_or_style(site):
    site.open_lens()
    for path in PAGES:
        text = site.get(path).text
        assert not re.search(r"<style|<script(?![^>]*\bsrc=)|\bstyle=|\bon\w+=", text), path


def test_cookies_are_kept_from_scripts_and_other_sites(site):
    reply = site.get("/")
    (cookie,) = [value for name, value in reply.headers if name == "set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    kept = site.post("/settings", theme="dark")
    given = [value for name, value in kept.headers if name == "set-cookie"]
    assert given
    assert all("HttpOnly" in each and "SameSite=Strict" in each for each in given)


def test_pages_are_not_stored_and_static_files_are(site):
    assert site.get("/").header("cache-control") == "no-store"
    assert "immutable" in site.get(f"/static/{version(site)}/explorer.css").header("cache-control")


def test_cookies_of_any_form_do_no_harm(site):
    for cookie in ("=", "a=b; =c", "zib=\x80", "\t;;", f"zib_{site.port}_session=" + "x" * 4000):
        assert site.ask("GET", "/", headers={"Cookie": cookie}, cookies=False).status == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "multipart/form-data", ""])
def test_only_forms_of_a_browser_are_read(site, kind):
    headers = {"Origin": site.origin, "Content-Type": kind}
    reply = site.ask("POST", "/settings", headers=headers, body=f"csrf={site.csrf()}")
    assert reply.status == 415


def test_a_form_has_bounds(site):
    assert site.post("/settings", **{f"f{n}": "x" for n in range(60)}).status == 400
    headers = {"Origin": site.origin, **FORM}
    assert site.ask("POST", "/settings", headers=headers, body="csrf=%ff").status == 400


# Beyond this machine


def test_without_the_token_nobody_enters(explored):
    site = explored(FILES, host="127.0.0.1", token="sesame-open")
    for method, path in ROUTES:
        reply = ask(site, method, path, {})
        assert reply.status == 401, (method, path)
        assert "owner" not in reply.text


def test_the_token_lets_in_and_leaves_the_address(explored):
    site = explored(FILES, token="sesame-open")
    assert site.get("/?token=wrong").status == 401
    reply = site.get("/?token=sesame-open")
    assert (reply.status, reply.header("location")) == (303, "/")
    assert site.get("/").status == 200
    assert site.post("/settings", theme="dark").status == 303


def test_a_token_in_a_cookie_has_to_be_right(explored):
    site = explored(FILES, token="sesame-open")
    site.cookies[site.door.cookie("token")] = "sesame"
    assert site.get("/").status == 401


@pytest.mark.parametrize(
    ("host", "name", "known"),
    [
        ("127.0.0.1", "localhost:80", True),
        ("192.168.1.5", "192.168.1.5:80", True),
        ("192.168.1.5", "localhost:80", False),
        ("0.0.0.0", "192.168.1.5:80", True),
        ("0.0.0.0", "evil.example:80", False),
        ("::", "[fe80::1]:80", True),
        ("127.0.0.1", "localhost", True),
        ("127.0.0.1", "evil", False),
    ],
)
def test_the_names_of_a_door(host, name, known):
    token = "" if is_loopback(host) else "t"
    assert Door(host, 80, token).knows(name) is known


def test_this_machine_is_known_by_its_addresses():
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.8.8.8", "::1")))
    assert not any(map(is_loopback, ("0.0.0.0", "192.168.0.1", "example.org", "")))


def test_the_token_of_a_form_is_signed_with_a_secret_of_the_process():
    one, other = Door("127.0.0.1", 80), Door("127.0.0.1", 80)
    assert one.csrf("a") == hmac.new(one.secret, b"a", "sha256").hexdigest() != other.csrf("a")
    assert str(one.secret) not in repr(one)


def test_beyond_this_machine_forms_say_where_they_come_from():
    assert Door("127.0.0.1", 80).referrer_policy == "no-referrer"
    assert Door("192.168.1.5", 80, "t").referrer_policy == "same-origin"


def test_cookies_of_two_explorers_differ():
    assert Door("127.0.0.1", 80).cookie("lens") != Door("127.0.0.1", 81).cookie("lens")
    assert b"Max-Age" not in cookie_header("a", "b")
    assert b"Max-Age" in cookie_header("a", "b", keep=True)


def test_a_web_socket_is_left_unanswered():
    import anyio

    async def never(*_):
        raise AssertionError

    anyio.run(Guard(never, Door("127.0.0.1", 80)), {"type": "websocket"}, never, never)

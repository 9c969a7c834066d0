"""Who may ask the explorer, and what every answer forbids the browser.

Each request passes here first, those for static files and for pages that are not there too.
Browsers tell in `Host` which name they looked up, in `Origin` and `Sec-Fetch-Site` which site
asks, and no page can forge these. So another site, or a name that was pointed at this machine,
neither reads nor writes.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
METHODS: Final = frozenset({*SAFE_METHODS, "POST"})
OWN_SITES: Final = frozenset({"", "none", "same-origin"})

HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
FILE_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""For files of the vault, which may be SVG or HTML that somebody else wrote."""

YEAR_SECONDS = 365 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Door:
    """Under which names the explorer is served, and what has to be shown to enter.

    Without a token only this machine's own names are answered to. `secret` signs the tokens of
    forms, and is new in each process.
    """

    host: str
    port: int
    token: str = ""
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def knows(self, host: str) -> bool:
        """Whether a `Host` header names this explorer."""
        name, _, port = host.rpartition(":")
        if port != str(self.port):
            name, port = (host, "80") if self.port == 80 else ("", "")
        if name in _names(self.host):
            return True
        # Whoever listens on all addresses is called by any of them, but by no foreign name.
        return bool(self.token) and self.host in ("0.0.0.0", "::") and _is_address(name)

    def cookie(self, name: str) -> str:
        """Return the full name of a cookie: browsers do not tell ports apart."""
        return f"zib_{self.port}_{name}"

    @property
    def referrer_policy(self) -> str:
        """What pages tell of themselves: nothing, and beyond this machine nothing to other sites.

        There browsers send no `Sec-Fetch-Site`, and a form that tells nothing has no `Origin`.
        """
        return "no-referrer" if is_loopback(self.host) else "same-origin"

    def csrf(self, session: str) -> str:
        """Return the token that the forms of a session carry."""
        return hmac.new(self.secret, session.encode(), "sha256").hexdigest()


def _names(host: str) -> frozenset[str]:
    if is_loopback(host):
        return frozenset({"localhost", "127.0.0.1", "[::1]", _bracketed(host)})
    return frozenset({_bracketed(host)})


def is_loopback(host: str) -> bool:
    """Whether a name or an address is of this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class Guard:
    """The outermost layer of the explorer: refuses strangers and seals every answer."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app, self._door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] != "http":
            return
        cookies = _cookies(scope)
        session = cookies.get(self._door.cookie("session"), "")
        fresh = "" if _is_session(session) else secrets.token_urlsafe(24)
        scope["zib.cookies"] = cookies
        scope["zib.csrf"] = self._door.csrf(fresh or session)

        async def seal(message: Message) -> None:
            if message["type"] == "http.response.start":
                _seal(message, self._door, fresh)
            await send(message)

        refusal = _refusal(scope, self._door)
        if refusal:
            await _answer(seal, 403, refusal)
        elif self._door.token and not self._is_let_in(cookies):
            await self._ask_for_token(scope, seal)
        else:
            await self._app(scope, receive, seal)

    def _is_let_in(self, cookies: Mapping[str, str]) -> bool:
        given = cookies.get(self._door.cookie("token"), "")
        return hmac.compare_digest(given.encode(), self._door.token.encode())

    async def _ask_for_token(self, scope: Scope, send: Send) -> None:
        """Let in who comes with the token in the address, which then leaves the address."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["method"] != "GET" or not hmac.compare_digest(
            given.encode(), self._door.token.encode()
        ):
            await _answer(send, 401, "Open the address that `zib explore` printed; it has a token.")
            return
        cookie = cookie_header(self._door.cookie("token"), given)
        await _answer(send, 303, "", [(b"location", b"/"), (b"set-cookie", cookie)])


def _cookies(scope: Scope) -> Mapping[str, str]:
    jar: SimpleCookie = SimpleCookie()
    for given in _values(scope, b"cookie"):
        try:
            jar.load(given)
        except CookieError:
            continue
    return {name: morsel.value for name, morsel in jar.items()}


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _is_session(text: str) -> bool:
    return len(text) == 32 and text.replace("-", "").replace("_", "").isalnum()


def _refusal(scope: Scope, door: Door) -> str:
    """Why a request is refused, or nothing."""
    hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
    if len(hosts) != 1 or not door.knows(hosts[0]):
        return "The explorer is not called by this name. Use the address that it printed."
    site = "".join(_values(scope, b"sec-fetch-site"))
    if site not in OWN_SITES:
        return "Another site sent you here. Type the address, or open it from the terminal."
    own = f"http://{hosts[0]}"
    # A browser that tells nobody where it comes from says null here, and same-origin there.
    ours = [own, "null"] if site == "same-origin" else [own]
    if any(origin not in ours for origin in origins):
        return "Another site asked for this, and it may not."
    if scope["method"] not in METHODS:
        return "The explorer knows GET and POST."
    if scope["method"] not in SAFE_METHODS and len(origins) != 1:
        return "The request does not say where it comes from."
    return ""


def cookie_header(name: str, value: str, *, keep: bool = False) -> bytes:
    """Return a cookie that scripts cannot read and that no other site makes a browser send."""
    age = f"; Max-Age={YEAR_SECONDS}" if keep else ""
    return f"{name}={value}; Path=/; SameSite=Strict; HttpOnly{age}".encode("latin-1")


def _seal(message: Message, door: Door, session: str) -> None:
    headers: list[Any] = list(message.get("headers", ()))
    given = {key.lower() for key, _ in headers}
    sealed = {**HEADERS, "referrer-policy": door.referrer_policy}
    for name, value in sealed.items():
        if name.encode() not in given:
            headers.append((name.encode(), value.encode()))
    if b"cache-control" not in given:
        headers.append((b"cache-control", b"no-store"))
    if session:
        headers.append((b"set-cookie", cookie_header(door.cookie("session"), session)))
    message["headers"] = headers


async def _answer(send: Send, status: int, words: str, headers: list[Any] | None = None) -> None:
    plain = [(b"content-type", b"text/plain; charset=utf-8"), *(headers or ())]
    await send({"type": "http.response.start", "status": status, "headers": plain})
    await send({"type": "http.response.body", "body": f"{words}\n".encode()})

"""What a visit to the explorer needs: `zib explore` as its owner starts it, and a real browser."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from zibaldone.tools.api import remember_about_user, search, update_memory
from zibaldone.tools.notes import delete_note, edit_note
from zibaldone.tools.vault import Caller, Vault

AGENT = Caller("planner", "laptop", "morning", "2.1", "agent")
REPOSITORY = Path(__file__).parents[2]
AXE = REPOSITORY / "tests/clients/node_modules/axe-core/axe.min.js"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# In networks that are closed the browser must not wait for services of its maker.
FLAGS = [
    f"--{name}"
    for name in (
        "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-sync",
        "disable-background-networking", "disable-component-update",
    )
]  # fmt: skip
SECONDS = 30


@contextmanager
def exploring(vault, *options):
    """Run `zib explore`; yields the address that it prints."""
    zib = Path(sys.executable).with_name("zib")
    command = [str(zib), "explore", "--no-open", "--port", "0", "--vault", str(vault), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        try:
            line = process.stdout.readline()
            found = re.search(r"http://\S+?(?=[;\s])", line)
            assert found, line
            yield found[0]
            assert process.poll() is None, "the explorer has ended by itself"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(SECONDS)


@pytest.fixture
def explore():
    """Start an explorer of a vault; it ends with the test."""
    with ExitStack() as stack:
        yield lambda vault, *options: stack.enter_context(exploring(vault, *options))


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The explorer of a sample vault that the tests of a module only look at: its address."""
    folder = tmp_path_factory.mktemp("sample")
    vault = shutil.copytree(REPOSITORY / "sample-vault", folder / "vault")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZIBALDONE_CACHE_DIR", str(folder / "cache"))
        with Vault.open(vault, caller=AGENT) as agent:
            remember_about_user(agent, "Tunes a tone low in winter.", category="instruments")
            update_memory(
                agent, "ag88aw", "Prefers short answers, the number first.", "she said so"
            )
            edit_note(agent, "Brown soda bread", "append", "Buttermilk, never milk.")
            delete_note(agent, "Salmorejo")
            for question in ("short answers", "her birthday"):
                search(agent, question)
            stranger = agent.with_caller(Caller("reader", origin="untrusted"))
            remember_about_user(stranger, "Collects thimbles.", category="hobbies")
        with exploring(vault) as address:
            yield address


@dataclass(frozen=True)
class Shared:
    """An explorer at `address` of a vault that the tests of a module change, each elsewhere."""

    address: str
    vault: Path
    cache: Path

    @contextmanager
    def agent(self):
        """Work in the same vault as an agent."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ZIBALDONE_CACHE_DIR", str(self.cache))
            with Vault.open(self.vault, caller=AGENT) as agent:
                yield agent


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """The explorer of a sample vault that is shared by the tests that change something in it."""
    folder = tmp_path_factory.mktemp("shared")
    vault = Path(shutil.copytree(REPOSITORY / "sample-vault", folder / "vault"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZIBALDONE_CACHE_DIR", str(folder / "cache"))
        with exploring(vault) as address:
            yield Shared(address, vault, folder / "cache")


@pytest.fixture(scope="module")
def browser():
    """One real Chromium for the tests of a module; other tests run event loops of their own."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: `make test` does it where apt and root are there")
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


class Window:
    """A page of a browser that keeps what must never happen: dialogs, failures, requests abroad."""

    def __init__(self, context, base):
        self.context, self.base = context, base.rstrip("/")
        self.page = context.new_page()
        self.wrong = []
        self.page.set_default_timeout(SECONDS * 1000)
        self.page.on("dialog", self._dialog)
        self.page.on("pageerror", lambda error: self.wrong.append(f"failure: {error}"))
        self.page.on("console", self._console)
        self.page.on("request", self._request)

    def _dialog(self, dialog):
        self.wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, message):
        # A page that is not there is told of in the console too.
        if message.type == "error" and "404" not in message.text and "409" not in message.text:
            self.wrong.append(f"console: {message.text}")

    def _request(self, request):
        if not request.url.startswith(self.base):
            self.wrong.append(f"request: {request.url}")

    def go(self, path):
        return self.page.goto(self.base + path)

    def check_access(self, rules, *, whole=False):
        """Ask axe-core, which the page has loaded, what is wrong by some of its rules.

        What is around the main part is the same on every page, and looked at if `whole` is true.
        """
        assert self.page.locator("main h1").count() == 1
        found = self.page.evaluate(
            "([whole, rules]) => axe.run(whole ? document : 'main',"
            " {resultTypes: ['violations'], runOnly: rules})",
            [whole, rules],
        )
        return [
            f"{each['id']}: {json.dumps([node['html'][:200] for node in each['nodes']])}"
            for each in found["violations"]
        ]


@pytest.fixture
def window(browser):
    """Open a window on an explorer; nothing wrong may have happened in it at the end."""
    windows = []

    def opened(base, **options):
        options.setdefault("viewport", {"width": 1280, "height": 900})
        options.setdefault("locale", "en-GB")
        made = Window(browser.new_context(**options), base)
        windows.append(made)
        return made

    yield opened
    for each in windows:
        each.context.close()
    assert [wrong for each in windows for wrong in each.wrong] == []

"""Pictures of the explorer for the README, taken of a copy of sample-vault with two agents' work.

python docs/screenshots.py [FOLDER]

Each page is taken in the light and in the dark, in a real Chromium, and saved as WebP, which the
browser makes itself. Times and ids are those of the run, so that two runs differ in them.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Browser, Page, sync_playwright
from zibaldone.tools.api import Caller, Vault, recall, remember_about_user, search, update_memory
from zibaldone.tools.notes import edit_note
from zibaldone.tools.plans import complete_step, create_progress
from zibaldone.tools.shell import AGENT_SHELLS, AGENT_VARIABLE
from zibaldone.tools.tending import pin
from zibaldone.tools.vault import OWNER
from zibaldone.vault.audit import read_audit, record

REPOSITORY: Final = Path(__file__).parents[1]
PICTURES: Final = Path(__file__).with_name("screenshots")
PAGES: Final = {
    "note": "/n/t2h5b8kx1wqa",
    "memory": "/m/y0gvbv4gskh5",
    "context": "/agents/context?project=bandurria",
    "audit": "/agents/audit",
}
"""The pages by the names of their pictures."""

QUESTIONS: Final = (
    "how are answers to be written",
    "when is the concert",
    "glue for the bars",
    "strings for the bandurria",
)
THEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
WIDTH, HEIGHT = 1200, 760
LARGEST = 80 * 1024
"""Pixels of a picture, and its bytes at most."""

# As root Chromium needs the first; in a closed network it must not wait for its maker's services.
FLAGS: Final = ("--no-sandbox", "--disable-background-networking", "--disable-component-update")

_TO_WEBP: Final = """
async ([png, quality]) => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  canvas.getContext("2d").drawImage(image, 0, 0);
  const blob = await canvas.convertToBlob({ type: "image/webp", quality });
  return btoa(Array.from(new Uint8Array(await blob.arrayBuffer()), b => String.fromCharCode(b)).join(""));
}
"""  # noqa: E501


def main(folder: Path) -> None:
    """Take all pictures and put them into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work, explored(Path(work)) as address, browser() as found:
        for theme in THEMES:
            page = visit(found, address, theme)
            for name, path in PAGES.items():
                page.goto(address + path)
                picture = _webp(found, page.screenshot())
                (folder / f"{name}-{theme}.webp").write_bytes(picture)
                sys.stdout.write(f"{name}-{theme}.webp  {len(picture) // 1024} KB\n")


@contextmanager
def explored(work: Path) -> Iterator[str]:
    """Explore a vault in which agents have worked; yields its address, without a last slash."""
    vault = Path(shutil.copytree(REPOSITORY / "sample-vault", work / "notebook"))
    os.environ["ZIBALDONE_CACHE_DIR"] = str(work / "cache")
    for name in (AGENT_VARIABLE, *AGENT_SHELLS):
        os.environ.pop(name, None)  # The explorer is its owner's, whoever takes the pictures.
    _work(vault)
    zib = Path(sys.executable).with_name("zib")
    command = [str(zib), "explore", "--no-open", "--port", "0", "--vault", str(vault)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            said = re.search(r"http://\S+?(?=/)", process.stdout.readline())
            assert said, "the explorer did not say where it is"
            yield said[0]
        finally:
            process.send_signal(signal.SIGINT)


def _work(vault: Path) -> None:
    """Let two agents remember, correct, search and recall."""
    planner = Caller("planner", "laptop", "monday", "2.1", "agent")
    with Vault.open(vault, caller=planner) as one:
        remember_about_user(
            one, "Reads diffs side by side, the old text on the left.", "preferences"
        )
        update_memory(
            one,
            "ag88aw",
            "Prefers short answers: the number first, then the reason.",
            "she said so",
        )
        create_progress(one, "varnish the top", ["mix the shellac", "test coats", "six coats"])
        complete_step(one, "varnish the top", "mix the shellac", "125 g to the litre")
        pin(one.with_caller(OWNER), "Bandurria 1931")
        edit_note(one, "Brown soda bread", "append", "Buttermilk, never milk.")
        for question in QUESTIONS:
            recall(one, question)
        search(one, "tide tables of Galway")
        _spread(one)
        other = one.with_caller(Caller("reader", "phone", "tuesday", "0.9", "untrusted"))
        remember_about_user(other, "Wants every score as a PDF on the tablet.", "preferences")


def _spread(vault: Vault) -> None:
    """Put the same questions on the days of a month, some of them without an answer."""
    state = vault.layout.state_dir
    asked = read_audit(state).retrievals
    for day in range(1, 30):
        for at in range(day * 7 % 11 // 2):
            one = asked[(day + at) % len(asked)]
            moment = datetime.fromisoformat(one.time) - timedelta(days=day, hours=at)
            time = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            nothing = {"found": 0, "given": (), "left_out": (), "tokens": 0} if at == 3 else {}
            record(state, "laptop", replace(one, time=time, **nothing))


@contextmanager
def browser() -> Iterator[Browser]:
    """Start the system's Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("Chromium is not here; `make screenshots` says what it needs.")
    with sync_playwright() as started:
        found = started.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield found
        found.close()


def visit(found: Browser, address: str, theme: Literal["light", "dark"]) -> Page:
    """Open a window with an open Memory lens."""
    size = {"width": WIDTH, "height": HEIGHT}
    context = found.new_context(viewport=size, color_scheme=theme, locale="en-GB")  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{address}/m")
    page.click("main button.main")
    return page


def _webp(found: Browser, png: bytes) -> bytes:
    """Return a picture as WebP, no larger than allowed. Raises `ValueError` when it cannot be."""
    page = found.new_page()
    data = base64.b64encode(png).decode()
    for quality in (0.9, 0.8, 0.65, 0.5):
        made = base64.b64decode(page.evaluate(_TO_WEBP, [data, quality]))
        if len(made) <= LARGEST:
            page.close()
            return made
    raise ValueError(f"a picture is larger than {LARGEST} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES)

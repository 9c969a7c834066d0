"""Measurements of `zib explore`: how soon its pages are sent, and how much they weigh.

python bench/exploring.py           these alone, on 10,000 notes
python bench/exploring.py 1000
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self
from urllib.parse import urlencode

import corpus
from clocks import Series, cpu_of, percentile, run
from report import Row, table, timed
from setting import Setting, use_cache
from zibaldone.indexer.view import Scope
from zibaldone.tools.shell import AGENT_SHELLS, AGENT_VARIABLE
from zibaldone.tools.vault import Vault
from zibaldone.vault.audit import Given, Retrieval, to_raw
from zibaldone.vault.revision import Actor

BUILD = [sys.executable, str(Path(__file__).with_name("build.py"))]
KB = 1024
TIMES = 60
ASKED = 50_000
"""Questions of agents in the audit: those of ninety very busy days."""

SEED = 3


class Explorer:
    """One running `zib explore` with an open Memory lens, and a browser's connection to it."""

    def __init__(self, vault: Path) -> None:
        command = [sys.executable, "-m", "zibaldone.tools", "explore", "--no-open", "--port", "0"]
        self._process = subprocess.Popen(
            [*command, "--vault", str(vault)], stdout=subprocess.PIPE, text=True, env=_environment()
        )
        assert self._process.stdout is not None
        said = re.search(r"127\.0\.0\.1:(\d+)", self._process.stdout.readline())
        assert said, "the explorer did not say where it is"
        self._connection = http.client.HTTPConnection("127.0.0.1", int(said[1]), timeout=60)
        self._cookies: dict[str, str] = {}

    def get(self, path: str) -> bytes:
        """Return a page. Raises `RuntimeError` for any other answer."""
        return self._ask("GET", path, None, 200)

    def open_lens(self) -> None:
        """Turn the switch of the Memory lens."""
        page = self.get("/help").decode()
        token = re.search(r'name="csrf" value="(\w+)"', page)
        assert token, "the page has no token"
        self._ask("POST", "/settings", urlencode({"csrf": token[1], "lens": "on"}), 303)

    def _ask(self, method: str, path: str, form: str | None, status: int) -> bytes:
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}
        if form is not None:
            headers["Origin"] = f"http://{self._connection.host}:{self._connection.port}"
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self._connection.request(method, path, form, headers)
        answer = self._connection.getresponse()
        for given in answer.headers.get_all("set-cookie") or ():
            name, _, value = given.partition(";")[0].partition("=")
            self._cookies[name] = value
        data = answer.read()
        if answer.status != status:
            raise RuntimeError(f"{path} was answered with {answer.status}")
        return data

    def cpu(self) -> float:
        """Seconds of CPU that the process has had."""
        return cpu_of(self._process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._connection.close()
        self._process.send_signal(signal.SIGINT)
        self._process.wait(30)
        if self._process.stdout:
            self._process.stdout.close()


def _environment() -> dict[str, str]:
    """The variables of this process without those of agents, who may not open the explorer."""
    agents = {AGENT_VARIABLE, *AGENT_SHELLS}
    return {name: value for name, value in os.environ.items() if name not in agents}


def measure(setting: Setting) -> Iterator[Row]:
    """Explore a vault that is indexed."""
    pages = _pages(setting)
    _ask_much(setting)
    setting.measuring("the explorer")
    weights = []
    with Explorer(setting.vault) as explorer:
        explorer.open_lens()
        shell = sum(len(explorer.get(path)) for path in _static(explorer))
        for what, paths in pages.items():
            series = Series()
            explorer.get(paths[0])
            for path in paths:
                cpu, wall = explorer.cpu(), time.perf_counter()
                page = explorer.get(path)
                series.wall.append(time.perf_counter() - wall)
                series.cpu.append(explorer.cpu() - cpu)
                weights.append((len(page) + shell) / KB)
            yield timed(f"explorer: {what}", setting.count, series)
    weight, most = percentile(weights, 0.5), max(weights)
    yield Row("explorer: weight of a page", setting.count, "KB", weight, most)


def _pages(setting: Setting) -> dict[str, list[str]]:
    """The addresses to ask for, by what they are."""
    questions = setting.questions(TIMES, skip=200)
    with Vault.open(setting.vault) as vault:
        rows = vault.index.ask(lambda: [vault.index.row(one["note"]) for one in questions])
    ids = [("m" if row.note_class == "agent-memory" else "n", row.id) for row in rows if row]
    setting.require(bool(ids), "no note of the questions is in the index")
    times = len(questions)
    return {
        "tree": ["/tree"] * times,
        "feed": ["/"] * times,
        "note": [f"/{place}/{note}" for place, note in ids],
        "memory": ["/m"] * times,
        "search": [f"/search?{urlencode({'q': one['text']})}" for one in questions],
        "audit": ["/agents/audit"] * times,
        "blind spots": ["/agents/questions"] * times,
        "context": ["/agents/context"] * times,
    }


def _ask_much(setting: Setting) -> None:
    """Fill the audit as agents would have done in ninety days."""
    with Vault.open(setting.vault) as vault:
        notes = [row.id for row in vault.index.ask(lambda: vault.index.rows(Scope()))]
        folder = vault.layout.state_dir / "audit" / "bench"
    folder.mkdir(parents=True)
    texts = [one["text"] for one in setting.questions(TIMES, skip=200)]
    start = datetime.now(UTC) - timedelta(days=90)
    for number in range(ASKED):
        time_of = start + timedelta(days=90) * number / ASKED
        moment = time_of.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        caller = Actor(f"agent-{number % 5}", session=f"s{number // 40}", origin="agent")
        given = tuple(Given(notes[(number + n) % len(notes)], "0" * 16, 40) for n in range(4))
        found = 0 if number % 7 == 0 else 4
        query = f"{texts[number % len(texts)]} {number % 400}"
        asked = Retrieval(moment, "recall", caller, query, found, 160, given=given[:found])
        with (folder / f"{moment[:7]}.jsonl").open("ab") as file:
            file.write(json.dumps(to_raw(asked)).encode() + b"\n")


def _static(explorer: Explorer) -> list[str]:
    """The style and the scripts that every page needs."""
    return re.findall(r'(?:href|src)="(/static/\S+\.(?:css|js))"', explorer.get("/help").decode())


def main(count: int) -> None:
    """Make a vault, index it, and measure nothing but the explorer."""
    with tempfile.TemporaryDirectory(prefix="zib-bench-") as work:
        setting = Setting(Path(work), count, [])
        use_cache(setting.cache)
        setting.vault.mkdir()
        corpus.generate(setting.vault, count, SEED)
        setting.queries = corpus.known_item_queries(setting.vault, 800, SEED)
        run([*BUILD, str(setting.vault)])
        print(table(list(measure(setting))))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)

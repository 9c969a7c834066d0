"""Measurements of `zib mcp`: how soon it answers, how quickly over the pipe, and its memory."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

from clocks import Series, percentile, run
from report import Row, timed
from server import Server
from setting import Setting

STARTS = 5
CHANGES = 8
PATIENCE = 20.0
"""Seconds to wait until an editor's change is found."""

_PLAIN_START = (
    "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); "
    "db.execute('SELECT path FROM note WHERE note MATCH ? LIMIT 10', ('first',)).fetchall()"
)


def measure(setting: Setting) -> Iterator[Row]:
    """Start servers, and talk to the last one for a while."""
    yield from starts(setting)
    setting.measuring("over the pipe")
    with Server(setting.vault) as server:
        server.initialize()
        server.call("search", query="first")
        yield changes(setting, server)
        yield _over_the_pipe(setting, server, "search, over the pipe", "search", limit=10)
        yield _over_the_pipe(setting, server, "recall, depth 2, over the pipe", "recall", depth=2)
        memory = server.memory()
    yield Row("memory of the server", setting.count, "MB", memory.now, memory.peak)


def starts(setting: Setting) -> Iterator[Row]:
    """Start servers on a vault that is indexed; beside it, Python that asks FTS5 once."""
    points = ("initialize", "the list of tools", "the first search")
    walls: list[list[float]] = [[], [], []]
    cpus: list[list[float]] = [[], [], []]
    plain = []
    command = [sys.executable, "-c", _PLAIN_START, str(setting.work / "fts.db")]
    for question in setting.questions(STARTS):
        setting.measuring("start")
        plain.append(run(command).cpu)
        with Server(setting.vault) as server:
            steps = (
                server.initialize,
                lambda server=server: server.ask("tools/list"),
                lambda server=server, text=question["text"]: server.call("search", query=text),
            )
            for at, step in enumerate(steps):
                answer = step()
                walls[at].append(server.since_start())
                cpus[at].append(server.cpu())
            fresh = answer is not None and answer["index"]["fresh"]
            setting.require(bool(fresh), "the first answer of a server was not fresh")
    for point, wall, cpu in zip(points, walls, cpus, strict=True):
        middle = percentile(cpu, 0.5)
        yield Row(
            f"start of zib mcp to {point}",
            setting.count,
            "s",
            percentile(wall, 0.5),
            max(wall),
            middle,
            max(cpu),
            to_fts=middle / percentile(plain, 0.5),
        )


def changes(setting: Setting, server: Server) -> Row:
    """Change notes as an editor does, and ask until the change is found."""
    series = Series()
    for number, question in enumerate(setting.questions(CHANGES, skip=100)):
        word = f"qzeditor{number}{setting.count}"
        with (setting.vault / question["note"]).open("a", encoding="utf-8") as file:
            file.write(f"\nWritten in an editor: {word}.\n")
        started = time.perf_counter()
        found = False
        while not found and time.perf_counter() - started < PATIENCE:
            found = bool(server.call("search", query=word)["results"])
        setting.require(found, "the change of an editor was not found")
        series.wall.append(time.perf_counter() - started)
    return Row(
        "an editor's change, found by the server",
        setting.count,
        "ms",
        1000 * percentile(series.wall, 0.5),
        1000 * max(series.wall),
    )


def _over_the_pipe(setting: Setting, server: Server, what: str, tool: str, **more: int) -> Row:
    series = Series()
    for question in setting.questions(100, skip=600):
        cpu, wall = server.cpu(), time.perf_counter()
        server.call(tool, query=question["text"], **more)
        series.wall.append(time.perf_counter() - wall)
        series.cpu.append(server.cpu() - cpu)
    return timed(what, setting.count, series)

"""Measurements of indexing: from nothing, with nothing to do, and after one change."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from baseline import Fts, read_all
from clocks import Ran, Series, percentile, run
from report import Row, ratio
from setting import Setting

BUILD = [sys.executable, str(Path(__file__).with_name("build.py"))]
FEW = 2000
"""Vaults up to so many notes are indexed several times, and the median counts."""


def measure(setting: Setting) -> Iterator[Row]:
    """Index a vault in processes of their own."""
    yield from cold(setting)
    setting.measuring("one-shot")
    yield _one_shot(setting, "zib index, nothing changed", 3, change=False)
    yield _one_shot(setting, "zib index, one changed file", 3, change=True)


def cold(setting: Setting) -> Iterator[Row]:
    """Index from nothing; files and FTS5 are read and built between the runs."""
    ours, files, fts = Series(), Series(), Series()
    peak = 0.0
    for _ in range(3 if setting.count <= FEW else 1):
        setting.measuring("cold index")
        shutil.rmtree(setting.cache, ignore_errors=True)
        with files.step():
            read_all(setting.vault)
        database = setting.work / "cold-fts.db"
        with fts.step():
            plain = Fts(database)
            plain.build(setting.vault)
        plain.close()
        database.unlink()
        built, found = _build(setting.vault)
        _check_progress(setting, built, found)
        ours.wall.append(found["wall"])
        ours.cpu.append(found["cpu"])
        peak = max(peak, built.peak_mb)
    speed = setting.count / percentile(ours.wall, 0.5)
    cpu_speed = setting.count / percentile(ours.cpu, 0.5)
    to_files, to_fts = ratio(ours, files), ratio(ours, fts)
    yield Row(
        "cold index",
        setting.count,
        "notes/s",
        speed,
        cpu_p50=cpu_speed,
        to_files=to_files,
        to_fts=to_fts,
    )
    yield Row("memory of the cold index", setting.count, "MB", peak)


def _build(vault: Path) -> tuple[Ran, dict[str, Any]]:
    ran = run([*BUILD, str(vault)], on_terminal=True)
    return ran, json.loads(ran.output)


def _check_progress(setting: Setting, built: Ran, found: dict[str, Any]) -> None:
    """A build tells its progress: to callers, and as a bar on a terminal."""
    setting.require(found["notes"] == setting.count, "the cold index has not all notes")
    if setting.count >= 200:
        setting.require("Indexing notes" in built.told, "no progress was shown")
        setting.require(len(found["shown"]) > 1 or setting.count < 500, "progress came only once")


def _one_shot(setting: Setting, what: str, times: int, *, change: bool) -> Row:
    walls, cpus = [], []
    for number in range(times):
        if change:
            path = setting.vault / setting.queries[number]["note"]
            with path.open("a", encoding="utf-8") as file:
                file.write(f"\nA late remark, number {number}.\n")
            os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
        ran, found = _build(setting.vault)
        setting.require(found["notes"] == setting.count, "the index has not all notes")
        walls.append(ran.wall)
        cpus.append(ran.cpu)
    middle = times // 2
    return Row(what, setting.count, "s", sorted(walls)[middle], cpu_p50=sorted(cpus)[middle])

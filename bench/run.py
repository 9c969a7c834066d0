"""Measure Zibaldone on generated vaults, beside plain files and SQLite FTS5.

    python bench/run.py                 1,000 and 10,000 notes, some minutes
    python bench/run.py --quick         1,000 notes
    python bench/run.py --generator other.py

Prints the figures with their aims and writes them to bench/results/. Ends with 1 when something
was wrong (a fact not found, a budget exceeded, a row missing); with --strict also when an aim is
missed in CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import calls
import corpus
import exploring
import indexing
import quality
import serving
from baseline import Fts
from clocks import Yardstick, middle
from report import Row, data, missed, missing, table
from setting import Setting, use_cache

REPOSITORY = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("results")
COUNTS = (1000, 10_000)
SEED = 3
QUERIES = 800


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, report, and return the exit code."""
    options = _options(arguments)
    generator = corpus.load(options.generator)
    started = time.perf_counter()
    rows: list[Row] = []
    found: dict[str, Any] = {"machine": _machine()}
    failures: list[str] = []
    sticks: dict[str, Yardstick] = {}
    for count in options.counts:
        with tempfile.TemporaryDirectory(prefix="zib-bench-", dir=options.work) as work:
            setting = _prepare(generator, Path(work), count, options.scale)
            _tell(f"\n{count:,} notes")
            rows += _measure(setting, found)
            failures += setting.failures
            sticks |= setting.yardsticks
    with tempfile.TemporaryDirectory(prefix="zib-bench-", dir=options.work) as work:
        use_cache(Path(work) / "cache")
        found["recall on sample-vault"] = quality.evidence(REPOSITORY, Path(work))
    found["duplicates"] = quality.duplicates(REPOSITORY)
    found["duplicates held out"] = quality.duplicates(REPOSITORY, held_out=True)
    failures += [f"not measured: {what}" for what in missing(rows)]
    found |= {"rows": data(rows), "failures": failures, "yardsticks": _plain(sticks)}
    found["seconds"] = round(time.perf_counter() - started, 1)
    _report(rows, found, sticks, options.counts)
    _write(found, options.out)
    return 1 if failures or (options.strict and missed(rows)) else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--counts", type=int, nargs="+", default=COUNTS, metavar="N")
    parser.add_argument("--quick", action="store_const", const=COUNTS[:1], dest="counts")
    parser.add_argument("--generator", type=Path, help="a Python file that makes the vault")
    parser.add_argument("--scale", type=float, default=1.0, help="take fewer samples, below 1")
    parser.add_argument("--strict", action="store_true", help="fail when an aim is missed")
    parser.add_argument("--work", type=Path, help="the folder for temporary files")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the folder for the results")
    return parser.parse_args(arguments)


def _prepare(generator: corpus.Generator, work: Path, count: int, scale: float) -> Setting:
    setting = Setting(work, count, [], scale)
    use_cache(setting.cache)
    setting.vault.mkdir()
    generator.generate(setting.vault, count, SEED)
    setting.queries = generator.known_item_queries(setting.vault, QUERIES, SEED)
    return setting


def _measure(setting: Setting, found: dict[str, Any]) -> list[Row]:
    rows: list[Row] = []

    def take(row: Row) -> None:
        rows.append(row)
        _tell(f"  {row.what}: {row.p50:.2f} {row.unit} {row.verdict}")

    for row in indexing.measure(setting):
        take(row)
    fts = Fts(setting.work / "fts.db")
    fts.build(setting.vault)
    known = quality.known_items(setting, fts)
    found.setdefault("known items", {})[str(setting.count)] = known
    for row in calls.measure(setting, fts):
        take(row)
    for row in serving.measure(setting):
        take(row)
    for row in exploring.measure(setting):
        take(row)
    fts.close()
    return rows


def _machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": platform.system(),
    }


def _plain(sticks: dict[str, Yardstick]) -> dict[str, dict[str, float]]:
    return {
        step: {"wall_ms": round(1000 * one.wall, 1), "cpu_ms": round(1000 * one.cpu, 1)}
        for step, one in sticks.items()
    }


def _report(
    rows: Sequence[Row],
    found: dict[str, Any],
    sticks: dict[str, Yardstick],
    counts: Sequence[int],
) -> None:
    stick, machine = middle(list(sticks.values())), found["machine"]
    print(f"\n{table(rows)}\n")
    print(
        f"{machine['cores']} cores, Python {machine['python']}, SQLite {machine['sqlite']}. "
        f"A fixed loop took {1000 * stick.cpu:.0f} ms of CPU and {1000 * stick.wall:.0f} ms by "
        f"the wall clock: the machine was {stick.wall / stick.cpu:.1f} times slower than alone.\n"
    )
    for count in counts:
        known = quality.found_table(found["known items"][str(count)])
        print(f"Known items, {count:,} notes\n{known}\n")
    print(f"Recall on sample-vault: {json.dumps(found['recall on sample-vault'])}\n")
    print(f"Duplicates\n{quality.pairs_table(found['duplicates'])}\n")
    for what, pairs in (("all pairs", "duplicates"), ("held-out half", "duplicates held out")):
        print(f"The write gate, {what}\n{quality.verdicts_table(found[pairs])}\n")
    for failure in found["failures"]:
        print(f"WRONG: {failure}")
    for row in missed(rows):
        print(f"missed: {row.what}, {row.notes:,} notes")
    print(f"{found['seconds']:.0f} s in all")


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _write(found: dict[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    name = time.strftime("%Y-%m-%dT%H%M%S", time.gmtime())
    (folder / f"{name}.json").write_text(
        json.dumps(found, indent=1, ensure_ascii=False), encoding="utf-8"
    )


if __name__ == "__main__":
    sys.exit(main())

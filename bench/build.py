"""One process of the command line that brings an index up to date; prints its times as JSON.

    python bench/build.py VAULT

Other than `zib index` it tells the start of the process from the work.
"""

from __future__ import annotations

import json
import sys
import time


def main() -> None:
    """Index the vault named on the command line, with its progress bar on stderr."""
    from zibaldone.tools.commands import opened

    cpu, wall = time.process_time(), time.perf_counter()
    shown = []
    with opened(sys.argv[1]) as vault:
        bar = vault.index.progress

        def progress(done: int, total: int) -> None:
            shown.append((time.perf_counter() - wall, done, total))
            if bar:
                bar(done, total)

        vault.index.progress = progress
        notes = vault.index.refresh().notes
        times = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    sys.stdout.write(json.dumps({"notes": notes, **times, "shown": shown}))


if __name__ == "__main__":
    main()

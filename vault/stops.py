"""What rules have stopped: JSON lines in the state folder, one folder for each device.

A line holds the rule, the caller and a count, and no word of what was stopped.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from .errors import StorageFailed, reason_of
from .files import append_line, make_folder, opened_folder, torn
from .source import readable

FOLDER = "rules"
TIME = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True)
class Stop:
    """That a rule stopped something: `count` passages of a recall or a search, or one write.

    `rule` is its name, or its line where it has none; `path` is its note.
    """

    time: str
    rule: str
    path: str
    moment: str
    agent: str
    session: str
    count: int


def now() -> str:
    """The time of a stop: ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).strftime(TIME)


def record_stop(state_dir: Path, device: str, stop: Stop) -> None:
    """Append a stop to the file of its month, durably. Raises StorageFailed."""
    line = json.dumps(asdict(stop), ensure_ascii=True).encode() + b"\n"
    try:
        make_folder(state_dir)
        with opened_folder(state_dir, (FOLDER, device), create=True) as folder:
            append_line(folder, f"{stop.time[:7]}.jsonl", line)
    except OSError as error:
        shown = str(state_dir / FOLDER)
        raise StorageFailed(shown, reason_of(error)) from error


def stops(state_dir: Path) -> Iterator[Stop]:
    """Yield what was stopped, device by device. A line that is no stop is passed over."""
    for file in sorted((state_dir / FOLDER).glob("*/*.jsonl")):
        with contextlib.suppress(OSError):
            for line in file.read_bytes().splitlines(keepends=True):
                with contextlib.suppress(ValueError, TypeError):
                    if not torn(line):
                        yield _checked(Stop(**json.loads(line)))


def _checked(stop: Stop) -> Stop:
    """Raises ValueError for a stop that is none, such as one of another program."""
    texts = (stop.rule, stop.path, stop.moment, stop.agent, stop.session)
    if type(stop.count) is not int or not all(isinstance(each, str) for each in texts):
        raise ValueError("it is no stop")
    datetime.strptime(stop.time, TIME)
    return replace(stop, agent=readable(stop.agent), moment=readable(stop.moment))

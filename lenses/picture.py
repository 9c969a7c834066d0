"""The picture of a note's neighbourhood: an SVG whose notes are links, drawn on the server.

The note stands in the middle, what it is linked with around it, and what lies behind those
further out, each near the note over which it is reached. Equal input gives an equal picture.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin

from ..indexer.catalog import Row
from .around import Surroundings

WIDTH, HEIGHT = 760, 480
INNER, OUTER = (176.0, 118.0), (262.0, 206.0)
"""The size of the picture, and the half axes of the two rings."""

LABEL = 19
CROWDED = 6
STAGGER = 0.74
"""Letters of a title that are written, and from how many near notes on every other one stands
nearer by so much, so that their labels do not meet."""


@dataclass(frozen=True, slots=True)
class Dot:
    """One note of the picture: where it stands, and how its label is set."""

    href: str
    title: str
    label: str
    x: float
    y: float
    radius: float
    kind: str
    anchor: str
    label_x: float
    label_y: float


@dataclass(frozen=True, slots=True)
class Line:
    """One link, whichever way it goes; `near` ones touch the note in the middle."""

    x1: float
    y1: float
    x2: float
    y2: float
    near: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """What the template draws."""

    dots: tuple[Dot, ...]
    lines: tuple[Line, ...]
    width: int = WIDTH
    height: int = HEIGHT


def draw(around: Surroundings, address: Callable[[Row], str]) -> Picture | None:
    """Place the notes around one; None when there are none. `address` gives a note's page."""
    if not around.rows:
        return None
    angles = _angles(around)
    dots = {around.centre.path: _dot(around.centre, address, 0.0, "centre")}
    near = sorted((n.path for _, n in around.rows if n.hop == 1), key=lambda path: angles[path])
    closer = set(near[1::2]) if len(near) > CROWDED else set()
    for row, neighbour in around.rows:
        kind = "memory" if row.note_class == "agent-memory" else f"hop{neighbour.hop}"
        share = STAGGER if row.path in closer else 1.0
        dots[row.path] = _dot(row, address, angles[row.path], kind, hop=neighbour.hop, share=share)
    lines = []
    far = {neighbour.path for _, neighbour in around.rows if neighbour.hop > 1}
    for one, other in sorted(around.edges):
        if not {one, other} <= far:
            touching = around.centre.path in (one, other)
            lines.append(_line(dots[one], dots[other], near=touching))
    lines.sort(key=lambda line: line.near)
    return Picture(tuple(dots.values()), tuple(lines))


def _angles(around: Surroundings) -> dict[str, float]:
    """The direction of each note: a sector for each near one, which those behind it share."""
    behind: dict[str, list[str]] = defaultdict(list)
    near = [neighbour.path for _, neighbour in around.rows if neighbour.hop == 1]
    for _, neighbour in around.rows:
        if neighbour.hop > 1:
            behind[neighbour.via].append(neighbour.path)
    weights = [1 + 0.3 * len(behind[path]) for path in near]
    turn, total = -pi / 2 - pi / max(len(near), 1), sum(weights) or 1
    angles: dict[str, float] = {}
    for path, weight in zip(near, weights, strict=True):
        share = 2 * pi * weight / total
        angles[path] = turn + share / 2
        _spread(angles, behind[path], turn, share)
        turn += share
    for _, neighbour in around.rows:  # Reached over a note that was left out.
        angles.setdefault(neighbour.path, 0.0)
    return angles


def _spread(angles: dict[str, float], paths: Sequence[str], start: float, share: float) -> None:
    for number, path in enumerate(sorted(paths)):
        angles[path] = start + share * (number + 0.5) / len(paths)


def _dot(
    row: Row,
    address: Callable[[Row], str],
    angle: float,
    kind: str,
    *,
    hop: int = 0,
    share: float = 1.0,
) -> Dot:
    axes = ((0.0, 0.0), INNER, OUTER)[min(hop, 2)]
    x, y = WIDTH / 2 + share * axes[0] * cos(angle), HEIGHT / 2 + share * axes[1] * sin(angle)
    radius = (11.0, 7.0, 5.0)[min(hop, 2)]
    side = cos(angle)
    if hop == 0 or abs(side) < 0.3:
        below = hop == 0 or sin(angle) >= 0
        place = ("middle", x, y + (radius + 16 if below else -radius - 8))
    else:
        away = radius + 5
        place = ("start" if side > 0 else "end", x + (away if side > 0 else -away), y + 4.5)
    label = row.title if len(row.title) <= LABEL else f"{row.title[: LABEL - 1].rstrip()}…"
    labelled = (place[0], _r(place[1]), _r(place[2]))
    return Dot(address(row), row.title, label, _r(x), _r(y), radius, kind, *labelled)


def _line(one: Dot, other: Dot, *, near: bool) -> Line:
    """A line that ends at the rims of its two dots."""
    length = hypot(other.x - one.x, other.y - one.y) or 1.0
    dx, dy = (other.x - one.x) / length, (other.y - one.y) / length
    return Line(
        _r(one.x + dx * one.radius),
        _r(one.y + dy * one.radius),
        _r(other.x - dx * other.radius),
        _r(other.y - dy * other.radius),
        near,
    )


def _r(number: float) -> float:
    return round(number, 1)

"""The size of a picture, read from the first bytes of its file, so that a page does not jump.

PNG, GIF, JPEG, WebP and SVG, by their specifications; of anything else it is not known.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path

HEAD = 64 * 1024
"""Bytes that are read. A JPEG may have a preview and colour profiles before its size."""

LARGEST = 9999

_SVG = re.compile(rb"<svg\b[^>]*>", re.IGNORECASE)
_SIDE = re.compile(rb"""\b(width|height)\s*=\s*["']\s*([\d.]{1,12})(?:px)?\s*["']""")
_VIEW = re.compile(rb"""\bviewBox\s*=\s*["']\s*[-\d.]+[\s,]+[-\d.]+[\s,]+([\d.]+)[\s,]+([\d.]+)""")


@dataclass(frozen=True, slots=True)
class Size:
    """Width and height in pixels."""

    width: int
    height: int


def size_of(file: Path) -> Size | None:
    """Return the size of a picture; None when it cannot be told."""
    try:
        with file.open("rb") as stream:
            head = stream.read(HEAD)
    except OSError:
        return None
    try:
        found = _size(head)
    except (struct.error, ValueError, IndexError):  # The file ends early, or is no picture.
        return None
    if found is None or not all(0 < side <= LARGEST for side in found):
        return None
    return Size(*found)


def _size(head: bytes) -> tuple[int, int] | None:
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return struct.unpack(">II", head[16:24])
    if head.startswith((b"GIF87a", b"GIF89a")):
        return struct.unpack("<HH", head[6:10])
    if head.startswith(b"\xff\xd8"):
        return _jpeg(head)
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return _webp(head)
    tag = _SVG.search(head)
    return _svg(tag[0]) if tag else None


def _jpeg(head: bytes) -> tuple[int, int] | None:
    """Go from marker to marker to the start of the frame (ITU-T T.81, B.2)."""
    at = 2
    while head[at] == 0xFF:
        marker = head[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return width, height
        at += 2 + struct.unpack(">H", head[at + 2 : at + 4])[0]
    return None


def _webp(head: bytes) -> tuple[int, int] | None:
    """Read the first chunk: lossy, lossless or extended (RFC 9649)."""
    kind = head[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", head[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None


def _svg(tag: bytes) -> tuple[int, int] | None:
    sides = {name: round(float(value)) for name, value in _SIDE.findall(tag)}
    if b"width" in sides and b"height" in sides:
        return sides[b"width"], sides[b"height"]
    view = _VIEW.search(tag)
    return (round(float(view[1])), round(float(view[2]))) if view else None

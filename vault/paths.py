"""Names and paths that a caller may give: what is safe, what is the same, what a title becomes.

Two grades. `contained` is for what may be on disk already: the owner may have named a folder
`Acme Inc.`, so only what could climb out of the vault is refused. `check_component` is for
names that a tool gives to something new: they must also be safe on every system that the
vault may be synced to, and visible. Neither touches the disk; see `Layout` for symlinks.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from .errors import PathRefused

MAX_NAME_BYTES = 255
MAX_PATH_CHARACTERS = 4096
MAX_FILE_NAME_BYTES = 200
NOTE_ENDING = ".md"

_DRIVE = re.compile(r"[A-Za-z]:")
_DRIVE_PATH = re.compile(r"[A-Za-z]:[\\/]")
_SLASHES = re.compile(r"[/\\]")
_BLANKS = re.compile(r"\s+")
_FORBIDDEN_IN_FILE_NAMES = frozenset('[]#^|:*?"<>')
# Drawn like a slash, though Unicode's compatibility forms do not say so.
_SLASH_TWINS = frozenset("/\\\u2044\u2215\u2216\u29f5\u29f8\u29f9")
# Letters by category, and yet nothing is drawn.
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{number}" for port in ("com", "lpt") for number in range(10)]
)


def fold_name(name: str) -> str:
    """Return the form in which two names are twins: NFKC, case folded, invisible signs out.

    The method is Unicode's NFKC_Casefold (Unicode Standard, section 3.13), so `Café` in NFC
    and NFD, `README` and `readme`, and a full-width `Ａ` and `a` are twins.
    """
    if name.isascii():
        return name.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(c for c in folded if unicodedata.category(c) != "Cf")


def is_slash_like(character: str) -> bool:
    """Whether a character is a slash or backslash, looks like one, or folds to one."""
    if character.isascii() or character in _SLASH_TWINS:
        return character in _SLASH_TWINS
    folded = unicodedata.normalize("NFKC", character)
    return "/" in folded or "\\" in folded


def is_control(character: str) -> bool:
    """Whether a character is a control character, a line separator or a lone surrogate."""
    return unicodedata.category(character) in {"Cc", "Zl", "Zp", "Cs"}


def is_invisible(character: str) -> bool:
    """Whether a character has no width or turns the writing direction."""
    return unicodedata.category(character) == "Cf" or character in _BLANK_LETTERS


def only_dots(name: str) -> bool:
    """Whether a name is made of dots, in any of Unicode's forms of a dot."""
    return not unicodedata.normalize("NFKC", name).strip(". ")


def is_reserved(name: str) -> bool:
    """Whether Windows reserves the name: `con`, `aux.md`, `COM1`, …"""
    return fold_name(name).split(".", 1)[0].strip() in _RESERVED


def percent_decoded(name: str) -> str:
    """Take percent-encoding off, also when it was applied more than once."""
    for _ in range(3):
        name, before = unquote(name), name
        if name == before:
            break
    return name


def _refused(value: str, reason: str, what: str) -> PathRefused:
    shown = value if len(value) <= MAX_NAME_BYTES else f"{value[:MAX_NAME_BYTES]}…"
    return PathRefused(shown, f"{reason} ({what})")


def _flaw(name: str) -> str | None:
    """Say what forbids `name` as the name of something new; None when nothing does."""
    if len(name.encode("utf-8", "surrogatepass")) > MAX_NAME_BYTES:
        return f"a name is longer than {MAX_NAME_BYTES} bytes"
    if any(map(is_control, name)):
        return "it holds a control character"
    if any(map(is_slash_like, name)):
        return "a name holds a slash or its look-alike"
    if any(map(is_invisible, name)):
        return "it holds an invisible character"
    if only_dots(name):
        return "a name is blank or made of dots"
    if name.startswith("."):
        return "a name that begins with a dot is hidden"
    if name != name.strip() or name.endswith("."):
        return "a name begins with a blank, or ends with a blank or a dot"
    if _DRIVE.match(name):
        return "it begins with a drive letter"
    return "Windows reserves the name" if is_reserved(name) else None


def check_component(name: str, what: str = "name") -> str:
    """Return one file or folder name in NFC, if something new may be called so.

    `what` names the argument in the error. Raises PathRefused.
    """
    name = unicodedata.normalize("NFC", name)
    flaw = _flaw(name) or _flaw(percent_decoded(name))
    if flaw:
        raise _refused(name, flaw, what)
    return name


def _climbs(part: str) -> bool:
    return only_dots(part) and not part.isspace() and part != ""


def contained(value: str, what: str = "path") -> PurePosixPath:
    """Return a path that stays below the folder it is applied to, judged by its text alone.

    Refused with PathRefused: nothing, an absolute path, a drive letter, `.` and `..` in any
    disguise (backslashes, percent-encoding, Unicode dots), NUL. The spelling is kept.
    """
    if not value or len(value) > MAX_PATH_CHARACTERS:
        raise _refused(value, "it is empty or too long", what)
    if "\0" in value or not _is_encodable(value):
        raise _refused(value, "it holds a NUL or no valid character", what)
    if value[0] in "/\\" or _DRIVE_PATH.match(value):
        raise _refused(value, "it is an absolute path", what)
    parts = value.removesuffix("/").split("/")
    if not all(map(str.strip, parts)):
        raise _refused(value, "a part of it is blank", what)
    if any(map(_climbs, parts + _SLASHES.split(value) + _SLASHES.split(percent_decoded(value)))):
        raise _refused(value, "a part of it is made of dots", what)
    return PurePosixPath(*parts)


def _is_encodable(value: str) -> bool:
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def same_name(names: Iterable[str], name: str) -> str | None:
    """Return which of `names` is `name` itself, else its twin (see `fold_name`), else None."""
    folded = fold_name(name)
    twins = [each for each in names if fold_name(each) == folded]
    return name if name in twins else min(twins, default=None)


def twin(folder: str | Path, name: str) -> str | None:
    """Return the entry of `folder` that is called `name`, or so in other case or Unicode form.

    A folder that is not there has no entries; other failures to list it raise OSError.
    """
    try:
        with os.scandir(folder) as entries:
            return same_name([entry.name for entry in entries], name)
    except FileNotFoundError:
        return None


def clip(text: str, limit: int) -> str:
    """Return the longest beginning of at most `limit` bytes of UTF-8.

    Neither a character nor, where possible, a letter and its accents are parted.
    """
    encoded = text.encode("utf-8")
    if len(encoded) <= limit:
        return text
    clipped = encoded[:limit].decode("utf-8", "ignore")
    end = len(clipped)
    while end and unicodedata.category(text[end])[0] == "M":
        end -= 1
    return clipped[:end] or clipped


def fingerprint(text: str) -> str:
    """Return 8 hexadecimal digits that tell apart what a safe name no longer does."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _plain(character: str) -> str:
    if is_slash_like(character):
        return "-"
    if is_control(character) or character in _FORBIDDEN_IN_FILE_NAMES:
        return " "
    return "" if is_invisible(character) else character


def safe_stem(text: str) -> str:
    """Return `text` without what a file name or an Obsidian link cannot hold; maybe empty.

    Slashes become hyphens, other forbidden characters blanks. Dots stay, but not at an end.
    """
    text = unicodedata.normalize("NFC", "".join(map(_plain, unicodedata.normalize("NFC", text))))
    stem = _BLANKS.sub(" ", text).lstrip(" .-").rstrip(" .")
    return "" if only_dots(stem) else stem


def finish_stem(stem: str, original: str) -> str:
    """Return a file name from a stem of `safe_stem`: named, unreserved and short enough.

    `original` is the text that the stem was made of; its fingerprint tells clipped names apart.
    """
    if _flaw(percent_decoded(stem)):
        stem = safe_stem(stem.replace("%", " "))
    end = next((n for n in range(1, len(stem) + 1) if is_reserved(stem[:n])), 0)
    if end and is_reserved(stem):
        stem = f"{stem[:end]}_{stem[end:]}"
    if len(stem.encode()) > MAX_FILE_NAME_BYTES - len(NOTE_ENDING):
        short = clip(stem, MAX_FILE_NAME_BYTES - len(NOTE_ENDING) - 9).rstrip(" .")
        stem = f"{short}-{fingerprint(original)}"
    return (stem or f"note-{fingerprint(original)}") + NOTE_ENDING


def note_file_name(title: str) -> str:
    """Return the file name of a new note with this title: at most 200 bytes, safe everywhere.

    `Trip 2: packing` gives `Trip 2 packing.md`; `Release 3.1` keeps its dot. An ending `.md`
    in the title is the file's. A title of nothing but symbols gets a name with a fingerprint.
    """
    stem = title[: -len(NOTE_ENDING)] if title.lower().endswith(NOTE_ENDING) else title
    return finish_stem(safe_stem(stem[: 2 * MAX_NAME_BYTES]), title)

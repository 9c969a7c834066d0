"""What a browser remembers for its owner: language, light or dark, and the Memory lens."""

from __future__ import annotations

from typing import Final, get_args

from ..vault.errors import InvalidArgument
from .visit import Language, Page, Redirect, Theme, Visit, local

CHOICES: Final = {
    "lens": ("on", "off"),
    "language": get_args(Language),
    "theme": get_args(Theme),
}
"""The choices and what each may be."""


def change(visit: Visit) -> Redirect:
    """Take the choices of a form and go back to where it was. Raises `InvalidArgument`."""
    kept = {}
    for name, known in CHOICES.items():
        value = visit.form.get(name)
        if value is not None and value not in known:
            raise InvalidArgument(name, f"it is one of {', '.join(known)}")
        if value is not None:
            kept[name] = value
    back = local(visit.form.get("back", "/"))
    if kept.get("lens") == "on":
        back = "/m"
    elif "lens" in kept and back.split("?")[0].split("/")[1] in ("agents", "m", "purge", "review"):
        back = "/"
    return Redirect(back, kept)


def help_page(_visit: Visit) -> Page:
    """Show the keys, and what the explorer does and does not do."""
    return Page("help.html", {})

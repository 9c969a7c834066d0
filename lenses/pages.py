"""Pages out of templates: what every template may use, and the static files with their versions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..tools.answers import IndexState
from ..tools.vault import Vault
from ..vault.errors import ZibaldoneError
from .shelf import Folder, Shelf
from .visit import (
    Page,
    Visit,
    address_of,
    file_address,
    folder_address,
    tag_address,
)
from .words import LANGUAGES, Words, moment_of, parsed

_Told = TypeVar("_Told")

FOLDER: Final = Path(__file__).parent
MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file that comes with the explorer."""

    data: bytes
    media_type: str


class Pages:
    """Renders the pages of one process."""

    def __init__(self) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(FOLDER / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.globals.update(
            address=address_of,
            file_address=file_address,
            folder_address=folder_address,
            tag_address=tag_address,
            moment=moment_of,
            parsed=parsed,
            languages=LANGUAGES,
            static=self.static_address,
        )

    @cached_property
    def static(self) -> Mapping[str, StaticFile]:
        """The static files by their names."""
        return {
            file.name: StaticFile(file.read_bytes(), MEDIA_TYPES[file.suffix])
            for file in sorted((FOLDER / "static").iterdir())
            if file.suffix in MEDIA_TYPES
        }

    @cached_property
    def version(self) -> str:
        """A name for these very static files, so that browsers may keep them."""
        digest = hashlib.sha256()
        for name, file in self.static.items():
            digest.update(name.encode() + b"\0" + file.data)
        return digest.hexdigest()[:12]

    def static_address(self, name: str) -> str:
        """Return the address of a static file."""
        return f"/static/{self.version}/{name}"

    def render(self, page: Page, visit: Visit) -> str:
        """Return a page as HTML, or its changing part alone when that is asked for."""
        part = bool(page.part) and visit.query.get("part") == "1"
        template = self._environment.get_template(page.part if part else page.template)
        facts: dict[str, Any] = {"open_path": "", "live": "", **page.facts}
        if not part:
            facts["tree"] = _tree(visit, str(facts["open_path"]))
            facts["state"] = _asked(visit, visit.vault.index_state, _NO_INDEX)
        return template.render(
            visit=visit, t=Words(visit.language), vault_name=name_of(visit.vault), **facts
        )


def name_of(vault: Vault) -> str:
    """Return what the owner calls the vault: the name of its folder."""
    return vault.layout.root.name or str(vault.layout.root)


def _tree(visit: Visit, open_path: str) -> dict[str, Any]:
    """What the tree at the side needs: the top folder, and which folders are open."""
    shelf = _asked(visit, visit.house.shelves.now, Shelf(()))
    parts = open_path.split("/")
    opened = {"/".join(parts[:end]) for end in range(1, len(parts) + 1)} if open_path else set()
    top: Folder = shelf.folders[""]
    return {"top": top, "opened": opened}


_NO_INDEX = IndexState(fresh=True, notes=0, behind=0)


def _asked(visit: Visit, question: Callable[[], _Told], default: _Told) -> _Told:
    """What is around a page must not keep it from telling what failed."""
    try:
        return visit.vault.index.ask(question)
    except ZibaldoneError:
        return default

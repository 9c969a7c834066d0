"""Where the tools put things: the folder of a project, and of a memory. No argument chooses it."""

from __future__ import annotations

from ..vault.errors import PathRefused, StorageFailed, reason_of
from ..vault.layout import Layout
from ..vault.paths import check_component, contained, fold_name, twin


def project_name(layout: Layout, label: str) -> str:
    """Return a project's folder name: the spelling on disk, or the label for a new project.

    A folder that the owner made may be called as the owner likes, `Acme Inc.` for one. Raises
    `PathRefused` for a label that is no plain name of a visible folder.
    """
    name = label.strip()
    if len(contained(name, "project").parts) > 1:
        raise PathRefused(label, "a project is one folder (project)")
    if name.startswith("."):
        return check_component(name, "project")
    known = _spelling(layout, name)
    if known is None and fold_name(name) == fold_name(layout.settings.memory_folder):
        raise PathRefused(label, "that is the name of the folder of memory (project)")
    return known or check_component(name, "project")


def known_project(layout: Layout, project: str | None) -> str | None:
    """Return the folder name of a project to which a question is narrowed; it may hold nothing.

    Raises `PathRefused` as `project_name` does.
    """
    return None if project is None else project_name(layout, project)


def _spelling(layout: Layout, label: str) -> str | None:
    """How a project is spelt on disk, whatever the label's case or Unicode form."""
    folder = layout.root / layout.settings.projects_folder
    try:
        found = twin(folder, label)
    except OSError:
        return None  # What cannot be listed fails where it is written to, and holds no notes.
    return found if found and (folder / found).is_dir() else None


def memory_folder(layout: Layout, project: str | None) -> str:
    """Return the folder of the user's memory, or of a project's."""
    settings = layout.settings
    if project is None:
        return settings.memory_folder
    return f"{settings.projects_folder}/{project}/{settings.memory_folder}"


def new_note(layout: Layout, path: str, note_class: str) -> str:
    """Return the path at which a note of a class can be made; a twin's that is there already.

    Raises `PathRefused` for a place that is hidden, ignored, outside the vault, or where notes
    are of the other class, and `StorageFailed` when a folder on the way cannot be listed.
    """
    try:
        placed = layout.relative(layout.new_path(path))
    except OSError as failure:
        raise StorageFailed(path, reason_of(failure)) from failure
    if layout.ignored(placed):
        raise PathRefused(path, "the settings say that notes in this place are ignored")
    if layout.place(placed).note_class != note_class:
        other = "memory, which has tools of its own" if note_class == "user-doc" else "no memory"
        raise PathRefused(path, f"that folder holds {other}")
    return placed

"""Where the tools put things: the folder of a project, and of a memory. No argument chooses it."""

from __future__ import annotations

from ..vault.layout import Layout
from ..vault.paths import check_component, twin


def project_name(layout: Layout, label: str) -> str:
    """Return a project's folder name: the spelling on disk, or the label for a new project.

    Raises `PathRefused` for a label that is no plain folder name.
    """
    name = check_component(label.strip(), "project")
    return spelling(layout, name) or name


def spelling(layout: Layout, label: str) -> str | None:
    """Return how a project is spelt on disk, whatever the label's case or Unicode form."""
    return twin(layout.root / layout.settings.projects_folder, label)


def memory_folder(layout: Layout, project: str | None) -> str:
    """Return the folder of the user's memory, or of a project's."""
    settings = layout.settings
    if project is None:
        return settings.memory_folder
    return f"{settings.projects_folder}/{project}/{settings.memory_folder}"

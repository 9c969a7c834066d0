"""The whole evaluation, on a copy of the vault that is gone when it ends.

The copy has the notes, the settings and the history. Its state and its cache lie beside it, in the
same temporary folder, whatever the environment says: nothing is written where the vault is.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ...vault.errors import StorageFailed, reason_of
from ...vault.ids import new_id
from ...vault.journal import JOURNAL_FOLDER
from ...vault.layout import Layout
from ...vault.settings import SETTINGS_FILE, STATE_FOLDER
from ..vault import Caller, Vault
from .changing import conflicts, deletions, overrides, resumes, writing
from .figures import Figure
from .labels import Labels
from .reading import leakage, provenance, usefulness

AGENT = "eval"
"""The name of the agent that asks and writes in the copy."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What came out for one vault, and of how many notes it is."""

    notes: int
    figures: tuple[Figure, ...]


def evaluate(layout: Layout, labels: Labels) -> Evaluation:
    """Measure a copy of the vault with labelled cases. Raises `StorageFailed`."""
    caller = Caller(AGENT, session=new_id(), origin="agent")
    with copied(layout) as copy:
        with Vault.of(copy, caller) as vault:
            notes = vault.index.refresh().notes
            found = usefulness(vault, labels.questions)
            traced = provenance(vault, labels.questions)
            leaks = leakage(vault, labels.hidden, labels.questions)
            written = writing(vault, labels.writes)
            judged = conflicts(vault, labels.conflicts)
            overridden = overrides(vault, labels.updates)
            gone = deletions(vault, labels.deletions)
        resumed = resumes(copy, caller, labels.plans)
    return Evaluation(notes, (*written, *found, overridden, judged, traced, gone, leaks, resumed))


@contextmanager
def copied(layout: Layout) -> Iterator[Layout]:
    """A copy of a vault in a temporary folder. Raises `StorageFailed`."""
    with TemporaryDirectory(prefix="zibaldone-") as folder:
        root = Path(folder).resolve() / "vault"
        try:
            _copy(layout, root)
        except OSError as failure:
            raise StorageFailed(str(root), reason_of(failure)) from failure
        yield Layout(root, layout.settings, root / STATE_FOLDER, root.with_name("cache"))


def _copy(layout: Layout, root: Path) -> None:
    settings = (layout.root / SETTINGS_FILE).is_file()
    for path in (*(entry.path for entry in layout.walk()), *([SETTINGS_FILE] if settings else [])):
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(layout.root / path, target)
    journal = layout.state_dir / JOURNAL_FOLDER
    if journal.is_dir():
        shutil.copytree(journal, root / STATE_FOLDER / JOURNAL_FOLDER)

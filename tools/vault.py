"""An open vault, as the tools and the doors use it: notes, index and who is asking."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from ..indexer.index import Index
from ..indexer.keeper import Keeper
from ..vault.layout import Layout, find_vault, open_layout
from ..vault.ledger import Act
from ..vault.note import read_note
from ..vault.revision import Actor, Op
from ..vault.settings import Settings
from ..vault.store import Store
from .answers import IndexState, Origin


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls a tool. The door sets it; no argument can."""

    agent: str = "unknown"
    instance: str = ""
    session: str = ""
    client_version: str = ""
    origin: Origin = "agent"


OWNER = Caller(agent="owner", origin="owner")


class Vault:
    """One open vault. Use it as a context manager, or call `close`.

    >>> with Vault.open("~/notes") as vault:
    ...     remember_about_user(vault, "Prefers short reports.", category="preferences")
    """

    def __init__(self, layout: Layout, store: Store, index: Index, caller: Caller) -> None:
        self.layout, self.store, self.index, self.caller = layout, store, index, caller
        self._keeper: Keeper | None = None

    @classmethod
    def open(
        cls, path: str | Path | None = None, *, caller: Caller = OWNER, watch: bool = False
    ) -> Vault:
        """Open the vault at `path`, else `ZIBALDONE_VAULT`, else the nearest one above.

        `watch` is for long-lived processes: the index is built and kept in the background.
        Raises `VaultNotFound` and `SettingsInvalid`. Opening writes nothing into the vault.
        """
        layout = open_layout(path or os.environ.get("ZIBALDONE_VAULT") or find_vault(Path.cwd()))
        store = Store(layout, identify=lambda note: read_note(layout, note).id)
        vault = cls(layout, store, Index(layout), caller)
        if watch:
            vault._keeper = Keeper(vault.index)
            vault._keeper.start()
        return vault

    @property
    def settings(self) -> Settings:
        """The vault's settings."""
        return self.layout.settings

    def with_caller(self, caller: Caller) -> Vault:
        """The same vault, asked by someone else. Only the first one is to be closed."""
        return Vault(self.layout, self.store, self.index, caller)

    def act(self, op: Op, note: str, observation: str | None = None, **more: str | None) -> Act:
        """What the caller does, for the journal; `more` are `of` and `reason`."""
        caller = self.caller
        actor = Actor(
            caller.agent, caller.instance, caller.session, caller.client_version, caller.origin
        )
        return Act(op, note, actor, observation, more.get("of"), more.get("reason") or "")

    def index_state(self) -> IndexState:
        """How far the index is; only inside a question."""
        now = self.index.freshness()
        return IndexState(now.behind == 0, now.notes, now.behind, now.notice or None)

    def close(self) -> None:
        """Stop the background work and close the index."""
        if self._keeper is not None:
            self._keeper.stop()
        else:
            self.index.tidy()
        self.index.close()
        self.store.ledger.close()

    def __enter__(self) -> Vault:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

"""An open vault, as the tools and the doors use it: notes, index and who is asking."""

from __future__ import annotations

import os
from pathlib import Path

from ..indexer.index import Index
from ..indexer.keeper import Keeper
from ..vault.audit import AuditLog
from ..vault.history import History
from ..vault.layout import Layout, find_vault, open_layout
from ..vault.ledger import Act
from ..vault.note import read_note
from ..vault.revision import Actor, Op
from ..vault.settings import Settings
from ..vault.store import Store
from .answers import IndexState
from .shown import Shown
from .trust import OWNER, Caller, as_trusted, refuse_act

__all__ = ["OWNER", "Caller", "Vault", "layout_of"]


def layout_of(path: str | Path | None = None) -> Layout:
    """Return the vault at `path`, else `ZIBALDONE_VAULT`, else the nearest one above, unopened.

    Creates nothing. Raises `VaultNotFound` and `SettingsInvalid`.
    """
    return open_layout(path or os.environ.get("ZIBALDONE_VAULT") or find_vault(Path.cwd()))


class Vault:
    """One open vault. Use it as a context manager, or call `close`.

    >>> with Vault.open("~/notes") as vault:
    ...     remember_about_user(vault, "Prefers short reports.", category="preferences")
    """

    def __init__(
        self,
        layout: Layout,
        store: Store,
        index: Index,
        caller: Caller,
        *,
        shown: Shown | None = None,
        audit_log: AuditLog | None = None,
        key: str = "",
    ) -> None:
        self.layout, self.store, self.index = layout, store, index
        self.caller = as_trusted(caller, layout.settings)
        self.shown = shown or Shown()
        self.audit_log = audit_log or AuditLog(layout.state_dir)
        self.key = key
        self._keeper: Keeper | None = None

    @classmethod
    def open(
        cls, path: str | Path | None = None, *, caller: Caller = OWNER, watch: bool = False
    ) -> Vault:
        """Open the vault at `path`, else `ZIBALDONE_VAULT`, else the nearest one above.

        `watch` is for long-lived processes: the index is built and kept in the background.
        Raises `VaultNotFound` and `SettingsInvalid`. Opening writes nothing into the vault.
        """
        vault = cls.of(layout_of(path), caller)
        if watch:
            vault._keeper = Keeper(vault.index)
            vault._keeper.start()
        return vault

    @classmethod
    def of(cls, layout: Layout, caller: Caller = OWNER) -> Vault:
        """Open the vault that lies as a layout says."""
        store = Store(layout, identify=lambda note: read_note(layout, note).id)
        return cls(layout, store, Index(layout), caller)

    @property
    def settings(self) -> Settings:
        """The vault's settings."""
        return self.layout.settings

    def with_caller(self, caller: Caller) -> Vault:
        """The same vault, asked by someone else. Only the first one is to be closed."""
        return self._asked_by(caller)

    def with_key(self, key: str) -> Vault:
        """The same vault and caller, whose writes go into the journal under a key."""
        return self._asked_by(self.caller, key)

    def _asked_by(self, caller: Caller, key: str = "") -> Vault:
        return Vault(
            self.layout,
            self.store,
            self.index,
            caller,
            shown=self.shown,
            audit_log=self.audit_log,
            key=key,
        )

    def history(self) -> History:
        """What the journals of all devices tell now. Raises `JournalUnreadable`."""
        known = self.store.ledger.history
        known.catch_up()
        return known

    @property
    def actor(self) -> Actor:
        """The caller, as journal and audit name it."""
        one = self.caller
        return Actor(one.agent, one.instance, one.session, one.client_version, one.origin)

    def act(
        self,
        op: Op,
        note: str,
        observation: str | None = None,
        *,
        of: str | None = None,
        reason: str | None = None,
        quiet: bool = False,
    ) -> Act:
        """What the caller does, for the journal; `of` is the hash of the record it is about.

        `quiet` is what shows no words of the caller to any agent: a fact that waits for review,
        or an id for a line that is there. Raises `ClientReadOnly` and `ClientUntrusted`.
        """
        refuse_act(self.caller, self.settings, quiet=quiet)
        return Act(op, note, self.actor, observation, of, reason or "", self.key)

    def index_state(self) -> IndexState:
        """How far the index is; only inside a question. What is hidden is counted for the owner."""
        now = self.index.freshness()
        notes = now.notes if self.caller.origin == "owner" else now.notes - now.quiet
        return IndexState(now.behind == 0, notes, now.behind, now.notice or None)

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

    def __exit__(self, *failure: object) -> None:
        self.close()

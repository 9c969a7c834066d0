"""How often what is remembered was given to agents, and when last."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final

from ..tools.audit import Use, uses
from ..tools.vault import Vault
from ..vault.audit import Audit
from ..vault.errors import ZibaldoneError

Given = Mapping[tuple[str, str], Use]
NEVER: Final = Use(0, "")


class Uses:
    """Keeps the counts of a vault up to date. Threads may share it."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._made: tuple[Audit, Given] | None = None
        self._warmed = False

    def now(self) -> Given:
        """Return the use of each part by the ids of note and observation, as `uses` does."""
        log = self._vault.audit_log.read()
        made = self._made
        if made is None or made[0] is not log:
            made = self._made = (log, uses(self._vault))
        return made[1]

    def known(self) -> Given | None:
        """Return the same, or None where the audit cannot be read; its own page tells why."""
        try:
            return self.now()
        except ZibaldoneError:
            return None

    def warm(self) -> None:
        """Begin, once, to read the audit, so that the first page that needs it need not wait."""
        if not self._warmed:
            self._warmed = True
            threading.Thread(target=self.known, daemon=True).start()

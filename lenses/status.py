"""What a failure is called by the web: the status of the page that tells of it."""

from __future__ import annotations

from typing import Final

from ..vault.errors import (
    Conflicting,
    NotFound,
    Refused,
    StorageFailure,
    UsageFailure,
    ZibaldoneError,
)

STATUS: Final[tuple[tuple[type[ZibaldoneError], int], ...]] = (
    (NotFound, 404),
    (UsageFailure, 400),
    (Refused, 403),
    (Conflicting, 409),
    (StorageFailure, 503),
)


def status_of(error: ZibaldoneError) -> int:
    """Return the status of the page that tells of a failure."""
    return next((status for kind, status in STATUS if isinstance(error, kind)), 500)

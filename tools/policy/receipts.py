"""Receipts for memories that a caller was shown before it decides: signed, and kept nowhere.

A receipt carries short keyed digests: of what was to be written and where, of who asked, and of
each memory that was shown, at its version and with its words. A code over all of them (HMAC)
makes it unforgeable; the key lies in the cache folder of the vault, so that a receipt holds in
every process of this machine and for this vault alone.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass

from ..refusals import ReceiptRefused

LASTS = 1800
"""Seconds for which a receipt holds."""

_DIGEST, _CODE, _TIME = 6, 16, 5
_FORM = "zibaldone receipt 1"

FORGED = "it is none of this vault, or was changed on the way"
EXPIRED = f"it is older than {LASTS // 60} minutes"
OTHER_CALLER = "it was given to another session"
OTHER_WORDS = "it was given for other words or another place"


@dataclass(frozen=True, slots=True)
class Receipts:
    """Gives and reads the receipts of one vault, with its key."""

    key: bytes

    def give(self, words: str, caller: str, shown: Iterable[str], now: float) -> str:
        """Return a receipt for these words and this caller, who is shown these memories."""
        until = (int(now) + LASTS).to_bytes(_TIME, "big")
        marks = sorted(map(self.mark, shown))
        told = b"".join([until, self._digest("words", words), self._digest("caller", caller)])
        told += b"".join(marks)
        return base64.urlsafe_b64encode(told + self._code(told)).rstrip(b"=").decode()

    def read(self, receipt: str, words: str, caller: str, now: float) -> frozenset[bytes]:
        """Return the marks of the memories that were shown. Raises `ReceiptRefused`."""
        told = self._genuine(receipt.strip())
        until, rest = int.from_bytes(told[:_TIME], "big"), told[_TIME:]
        if now > until:
            raise ReceiptRefused(EXPIRED)
        if rest[_DIGEST : 2 * _DIGEST] != self._digest("caller", caller):
            raise ReceiptRefused(OTHER_CALLER)
        if rest[:_DIGEST] != self._digest("words", words):
            raise ReceiptRefused(OTHER_WORDS)
        marks = rest[2 * _DIGEST :]
        return frozenset(marks[n : n + _DIGEST] for n in range(0, len(marks), _DIGEST))

    def mark(self, memory: str) -> bytes:
        """Return how a receipt names a memory, given as a text of all that it must not lose."""
        return self._digest("memory", memory)

    def _genuine(self, receipt: str) -> bytes:
        try:
            padded = receipt + "=" * (-len(receipt) % 4)
            data = base64.b64decode(padded.encode("ascii"), b"-_", validate=True)
        except (binascii.Error, UnicodeEncodeError) as problem:
            raise ReceiptRefused(FORGED) from problem
        told, code = data[:-_CODE], data[-_CODE:]
        right = hmac.compare_digest(code, self._code(told))
        if not right or len(told) < _TIME + 2 * _DIGEST or len(told) % _DIGEST != _TIME:
            raise ReceiptRefused(FORGED)
        return told

    def _digest(self, kind: str, text: str) -> bytes:
        return self._keyed(f"{kind}:{text}".encode("utf-8", "surrogatepass"))[:_DIGEST]

    def _code(self, told: bytes) -> bytes:
        return self._keyed(b"receipt:" + told)[:_CODE]

    def _keyed(self, data: bytes) -> bytes:
        return hmac.digest(self.key, _FORM.encode() + b"\0" + data, hashlib.sha256)


def as_text(*parts: object) -> str:
    """Return parts as one text that no other parts give."""
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))

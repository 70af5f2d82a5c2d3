"""Which proofs are off here."""

from __future__ import annotations

from contextvars import ContextVar

OFF: ContextVar[frozenset[str]] = ContextVar("tangentx_proofs_off", default=frozenset())

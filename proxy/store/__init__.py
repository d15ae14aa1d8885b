"""Where the ledger and the audit live: one protocol, one file a backend.

Every call may raise `StoreUnavailable` (down, locked, full, read-only); callers bound the wait.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from proxy.splice import SplicePlace, StoredSplice

__all__ = [
    "AuditLog",
    "HitQuery",
    "HitRecord",
    "Ledger",
    "RuleCount",
    "SplicePlace",
    "Store",
    "StoreUnavailable",
    "StoredSplice",
    "TurnRecord",
]


class StoreUnavailable(Exception):  # noqa: N818 - a state of the world, named as one
    """The store did not answer or refused; the message says what and never holds content."""


@dataclass(frozen=True, slots=True)
class HitRecord:
    """One hit as the audit shows it. `excerpt` is masked and cut already."""

    time: float
    conversation: str
    turn: str
    attempt: int
    agent: str
    model: str
    rule: str
    rule_path: str
    surface: str
    tool: str | None
    target_path: str | None
    action: str
    excerpt: str
    offset: int
    leaked: bool
    outcome: str
    id: int = 0


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One turn: `usage` holds one entry an attempt, None where the upstream sent none."""

    time: float
    conversation: str
    turn: str
    agent: str
    model: str
    workspace: str
    attempts: int
    withheld_characters: int
    usage: tuple[Mapping[str, int] | None, ...]
    outcome: str
    cured: bool | None
    unledgered: bool = False


@dataclass(frozen=True, slots=True)
class HitQuery:
    """Filters of `GET /audit/hits`; None means any. `cursor`: only ids below it."""

    rule: str | None = None
    surface: str | None = None
    action: str | None = None
    conversation: str | None = None
    since: float | None = None
    limit: int = 100
    cursor: int | None = None


@dataclass(frozen=True, slots=True)
class RuleCount:
    """How often a rule acted, by action, under one tenant-wide store."""

    rule: str
    action: str
    count: int


class Ledger(Protocol):
    """The stored splices, separated by tenant."""

    async def find(self, tenant: str, keys: Sequence[str]) -> Sequence[StoredSplice]:
        """Every splice of the tenant that has one of `keys`, oldest first, in one read."""

    async def append(
        self, tenant: str, places: Sequence[SplicePlace], payload: bytes, now: float
    ) -> int:
        """Store a splice durably and return its id. Returns only once it would be read back."""

    async def amend(self, tenant: str, splice: int, payload: bytes) -> None:
        """Replace a splice's payload (a placement that worked, or `dropped`)."""


class AuditLog(Protocol):
    """Rows for people; batched, never on the path of a turn."""

    async def record(self, hits: Sequence[HitRecord], turns: Sequence[TurnRecord]) -> Sequence[int]:
        """Write rows in one transaction; returns the ids of `hits`, in order."""

    async def hits(self, query: HitQuery) -> Sequence[HitRecord]:
        """Rows newest first, at most `query.limit`."""

    async def counts(self) -> Sequence[RuleCount]:
        """Totals by rule and action."""

    async def turns(self, limit: int) -> Sequence[TurnRecord]:
        """Newest turns first."""


class Store(Ledger, AuditLog, Protocol):
    """One backend: opened by its own classmethod, closed once."""

    async def ready(self) -> bool:
        """Tell whether a write and a read would work now."""

    async def secret(self) -> bytes:
        """Read the installation's random secret (32 bytes), made on first use."""

    async def purge(self, before: float) -> int:
        """Delete splices and audit rows older than `before`; returns how many rows went."""

    async def close(self) -> None:
        """Write what is pending and release every resource."""

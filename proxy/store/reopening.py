"""A store that may be down when the proxy starts: opened as soon as it can be."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import anyio

from proxy.store import (
    HitQuery,
    HitRecord,
    RuleCount,
    SplicePlace,
    Store,
    StoredSplice,
    StoreUnavailable,
    TurnRecord,
)

log = logging.getLogger(__name__)

_PAUSE = 1.0  # seconds between two tries


class ReopeningStore:
    """Any backend behind `open`, which raises `StoreUnavailable` while it cannot serve."""

    def __init__(
        self, open_store: Callable[[], Awaitable[Store]], *, pause: float = _PAUSE
    ) -> None:
        self._open = open_store
        self._pause = pause
        self._store: Store | None = None
        self._problem = "the store is not open yet"

    async def open(self) -> None:
        """Open the backend; raises `StoreUnavailable` where it cannot serve yet."""
        # An opening that nobody waits for any more would leave its threads behind.
        with anyio.CancelScope(shield=True):
            try:
                self._store = await self._open()
            except StoreUnavailable as problem:
                self._problem = str(problem)
                raise

    async def run(self) -> None:
        """Open the backend as soon as it can be; returns once it is open."""
        while self._store is None:
            with suppress(StoreUnavailable):
                await self.open()
                log.warning("the store answers")
                return
            await anyio.sleep(self._pause)

    def _opened(self) -> Store:
        """The backend. A caller never waits for it to open: opening may take seconds."""
        if self._store is None:
            raise StoreUnavailable(self._problem)
        return self._store

    async def find(self, tenant: str, keys: Sequence[str]) -> Sequence[StoredSplice]:
        """See `store.Ledger`."""
        return await self._opened().find(tenant, keys)

    async def append(
        self, tenant: str, places: Sequence[SplicePlace], payload: bytes, now: float
    ) -> int:
        """See `store.Ledger`."""
        return await self._opened().append(tenant, places, payload, now)

    async def amend(self, tenant: str, splice: int, payload: bytes) -> None:
        """See `store.Ledger`."""
        await self._opened().amend(tenant, splice, payload)

    async def record(self, hits: Sequence[HitRecord], turns: Sequence[TurnRecord]) -> Sequence[int]:
        """See `store.AuditLog`."""
        return await self._opened().record(hits, turns)

    async def hits(self, query: HitQuery) -> Sequence[HitRecord]:
        """See `store.AuditLog`."""
        return await self._opened().hits(query)

    async def counts(self) -> Sequence[RuleCount]:
        """See `store.AuditLog`."""
        return await self._opened().counts()

    async def turns(self, limit: int) -> Sequence[TurnRecord]:
        """See `store.AuditLog`."""
        return await self._opened().turns(limit)

    async def ready(self) -> bool:
        """Tell whether it is open and would work now."""
        try:
            return await self._opened().ready()
        except StoreUnavailable:
            return False

    async def secret(self) -> bytes:
        """See `store.Store`."""
        return await self._opened().secret()

    async def purge(self, before: float) -> int:
        """See `store.Store`."""
        return await self._opened().purge(before)

    async def close(self) -> None:
        """Close what was opened."""
        if self._store is not None:
            await self._store.close()

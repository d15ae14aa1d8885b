"""A store that may be down when the proxy starts: opened when it can be, asked for until then."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

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

_PAUSE = 1.0  # seconds between two tries


class ReopeningStore:
    """Any backend behind `open`, which raises `StoreUnavailable` while it cannot serve."""

    def __init__(self, open_store: Callable[[], Awaitable[Store]]) -> None:
        self._open = open_store
        self._store: Store | None = None
        self._opening = anyio.Lock()
        self._retry_at = float("-inf")
        self._problem = ""

    async def opened(self) -> Store:
        """The backend; raises `StoreUnavailable` where it could not be opened."""
        if self._store is None:
            async with self._opening:
                await self._try()
        if self._store is None:
            raise StoreUnavailable(self._problem)
        return self._store

    async def _try(self) -> None:
        if self._store is not None or anyio.current_time() < self._retry_at:
            return
        try:
            self._store = await self._open()
        except StoreUnavailable as problem:
            self._problem = str(problem)
            self._retry_at = anyio.current_time() + _PAUSE

    async def find(self, tenant: str, keys: Sequence[str]) -> Sequence[StoredSplice]:
        """See `store.Ledger`."""
        return await (await self.opened()).find(tenant, keys)

    async def append(
        self, tenant: str, places: Sequence[SplicePlace], payload: bytes, now: float
    ) -> int:
        """See `store.Ledger`."""
        return await (await self.opened()).append(tenant, places, payload, now)

    async def amend(self, tenant: str, splice: int, payload: bytes) -> None:
        """See `store.Ledger`."""
        await (await self.opened()).amend(tenant, splice, payload)

    async def record(self, hits: Sequence[HitRecord], turns: Sequence[TurnRecord]) -> Sequence[int]:
        """See `store.AuditLog`."""
        return await (await self.opened()).record(hits, turns)

    async def hits(self, query: HitQuery) -> Sequence[HitRecord]:
        """See `store.AuditLog`."""
        return await (await self.opened()).hits(query)

    async def counts(self) -> Sequence[RuleCount]:
        """See `store.AuditLog`."""
        return await (await self.opened()).counts()

    async def turns(self, limit: int) -> Sequence[TurnRecord]:
        """See `store.AuditLog`."""
        return await (await self.opened()).turns(limit)

    async def ready(self) -> bool:
        """Tell whether it is open and would work now."""
        try:
            return await (await self.opened()).ready()
        except StoreUnavailable:
            return False

    async def secret(self) -> bytes:
        """See `store.Store`."""
        return await (await self.opened()).secret()

    async def purge(self, before: float) -> int:
        """See `store.Store`."""
        return await (await self.opened()).purge(before)

    async def close(self) -> None:
        """Close what was opened."""
        if self._store is not None:
            await self._store.close()

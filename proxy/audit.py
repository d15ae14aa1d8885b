"""Records hits and turns without ever delaying a turn: queued, written in batches, told to
listeners at once. Owns what is not yet written; knows nothing of HTTP.
"""  # noqa: D205 - the module's one sentence needs two lines

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import anyio

from proxy import masking
from proxy.store import AuditLog, HitQuery, HitRecord, RuleCount, StoreUnavailable, TurnRecord
from rules_engine.decisions import Action, Hit

log = logging.getLogger(__name__)


# Characters that the engine puts in front of the match in a hit's excerpt, where there are so many.
LEAD = 200


@dataclass(frozen=True, slots=True)
class AuditLimits:
    """Bounds of the queue in rows, of waiting in seconds.

    `gather`: how long rows are collected for one batch. `retry_first`, `retry_most`: pauses
    while the store is down. `patience`: longest wait of a reader, and of the flush at close.
    """

    rows: int = 10_000
    batch: int = 500
    gather: float = 0.25
    retry_first: float = 0.25
    retry_most: float = 10.0
    patience: float = 2.0


@dataclass(frozen=True, slots=True)
class HitPage:
    """Hits newest first; `next` is the cursor of the page behind, None at the end."""

    hits: tuple[HitRecord, ...]
    next: int | None


@dataclass(frozen=True, slots=True)
class Tally:
    """Totals by rule and action. `stored` False: the store is down, only unwritten rows count."""

    counts: tuple[RuleCount, ...]
    stored: bool


@dataclass(frozen=True, slots=True)
class TurnLabel:
    """Whose hit it is: what all rows of one turn share."""

    conversation: str
    turn: str
    agent: str
    model: str


Listener = Callable[[Sequence[HitRecord]], None]
Row = HitRecord | TurnRecord


def hit_record(
    hit: Hit,
    turn: TurnLabel,
    *,
    time: float,
    attempt: int,
    action: Action,
    outcome: str,
    limit: int = 160,
) -> HitRecord:
    """Make the row of a hit; `limit` is the longest excerpt in characters, `time` Unix time."""
    at = min(hit.start, LEAD)
    return HitRecord(
        time=time,
        conversation=turn.conversation,
        turn=turn.turn,
        attempt=attempt,
        agent=turn.agent,
        model=turn.model,
        rule=hit.rule.name,
        rule_path=hit.rule.path,
        surface=hit.surface.value,
        tool=hit.tool,
        target_path=hit.path,
        action=action.value,
        excerpt=masking.excerpt(hit.excerpt, limit, at, at + hit.end - hit.start),
        offset=hit.start,
        leaked=hit.leaked,
        outcome=outcome,
    )


class Audit:
    """The audit of one process. `run` must be running for rows to reach the store.

    `listeners` are told of hits inside `record`, so they must neither wait nor raise.
    """

    def __init__(
        self,
        store: AuditLog,
        *,
        listeners: Iterable[Listener] = (),
        limits: AuditLimits | None = None,
    ) -> None:
        self._store = store
        self._listeners = tuple(listeners)
        self._limits = limits or AuditLimits()
        self._rows: deque[Row] = deque()
        self._writing: tuple[Row, ...] = ()
        self._lock = anyio.Lock()
        self._wake = anyio.Event()
        self._settled = anyio.Event()
        self._running: anyio.CancelScope | None = None
        self._urgent = self._closing = self._down = False
        self._failures = 0
        self._lost = 0

    @property
    def lost(self) -> int:
        """Rows that were given up because the store was down or refused them."""
        return self._lost

    @property
    def unwritten(self) -> int:
        """Rows that are not in the store yet."""
        return len(self._writing) + len(self._rows)

    def record(self, hits: Sequence[HitRecord] = (), turn: TurnRecord | None = None) -> None:
        """Queue rows and tell the listeners. Never waits, never raises; for the loop's thread."""
        try:
            waiting = bool(self._rows)
            clean = tuple(_clean_hit(hit) for hit in hits)
            self._rows.extend(clean)
            if turn is not None:
                self._rows.append(_clean_turn(turn))
            self._trim()
            # The writer sleeps until there is a row, and then until the batch is due.
            if not waiting or self._due():
                self._wake.set()
            if clean:
                for listener in self._listeners:
                    listener(clean)
        except Exception as error:  # noqa: BLE001 - a fault of the audit must not end a turn
            log.error("audit: rows could not be recorded: %s", type(error).__name__)  # noqa: TRY400 - a traceback may quote what the rows held

    async def run(self) -> None:
        """Write batches until `close`. Start it once, in the server's task group."""
        with anyio.CancelScope() as scope:
            self._running = scope
            try:
                while not (self._closing and not self._rows):
                    await self._gather()
                    if not await self._write() and self._closing:
                        break
            finally:
                self._running = None
                self._settle()

    async def flush(self) -> bool:
        """Wait, but not long, until what was recorded is written; False: some of it is not."""
        if self._running is None:
            return not self.unwritten
        failures = self._failures
        with anyio.move_on_after(self._limits.patience):
            while self.unwritten and self._failures == failures and self._running is not None:
                self._urgent = True
                self._wake.set()
                await self._settled.wait()
        return not self.unwritten

    async def close(self) -> None:
        """Write what is queued within the bound, then stop `run`. Rows left over are counted."""
        self._closing = True
        self._wake.set()
        with anyio.move_on_after(self._limits.patience):
            while self._running is not None:
                await self._settled.wait()
        if self._running is not None:
            self._running.cancel()
        if self.unwritten:
            log.warning("audit: %d rows were not written before the end", self.unwritten)

    async def hits(self, query: HitQuery) -> HitPage:
        """One page. Raises `StoreUnavailable` where the store is down or slow."""
        await self.flush()
        with _patience(self._limits.patience):
            found = await self._store.hits(replace(query, limit=query.limit + 1))
        page = tuple(found[: query.limit])
        return HitPage(page, page[-1].id if page and len(found) > query.limit else None)

    async def turns(self, limit: int) -> tuple[TurnRecord, ...]:
        """Newest first. Raises `StoreUnavailable` where the store is down or slow."""
        await self.flush()
        with _patience(self._limits.patience):
            return tuple(await self._store.turns(limit))

    async def counts(self) -> Tally:
        """Totals, unwritten rows included: a row counts once, before and after it is written."""
        try:
            with _patience(self._limits.patience):
                # Under the lock no batch is half here and half in the store.
                async with self._lock:
                    return self._tally(await self._store.counts(), stored=True)
        except StoreUnavailable:
            return self._tally((), stored=False)

    def _tally(self, stored_counts: Iterable[RuleCount], *, stored: bool) -> Tally:
        total: Counter[tuple[str, str]] = Counter()
        for count in stored_counts:
            total[count.rule, count.action] += count.count
        for row in (*self._writing, *self._rows):
            if isinstance(row, HitRecord):
                total[row.rule, row.action] += 1
        return Tally(tuple(RuleCount(*key, n) for key, n in sorted(total.items())), stored)

    async def _gather(self) -> None:
        """Return when there is a batch to write: something waits, and it has waited enough."""
        await self._wait(lambda: bool(self._rows) or self._closing, None)
        pause = self._limits.gather
        if self._failures:
            doubled = self._limits.retry_first * 2.0 ** min(self._failures - 1, 30)
            pause = min(doubled, self._limits.retry_most)
        await self._wait(self._due, pause)

    def _due(self) -> bool:
        full = len(self._rows) >= self._limits.batch and not self._failures
        return full or self._urgent or self._closing

    async def _wait(self, ready: Callable[[], bool], seconds: float | None) -> None:
        with anyio.move_on_after(seconds):
            while not ready():
                self._wake = anyio.Event()
                await self._wake.wait()

    async def _write(self) -> bool:
        """Write one batch; False: the store is down and the rows are queued again."""
        self._urgent = False
        if not self._rows:
            return True
        async with self._lock:
            taken = min(len(self._rows), self._limits.batch)
            self._writing = tuple(self._rows.popleft() for _ in range(taken))
            try:
                await self._store.record(
                    [row for row in self._writing if isinstance(row, HitRecord)],
                    [row for row in self._writing if isinstance(row, TurnRecord)],
                )
            except StoreUnavailable as error:
                self._keep(error)
            except Exception as error:  # noqa: BLE001 - one bad batch must not end the writer
                self._give_up(error)
            except BaseException:
                # Ended in mid-write: nobody knows whether these rows are stored.
                self._rows.extendleft(reversed(self._writing))
                raise
            else:
                self._failures = 0
            finally:
                self._writing = ()
                self._settle()
        self._report_recovery()
        return not self._failures

    def _settle(self) -> None:
        self._settled.set()
        self._settled = anyio.Event()

    def _keep(self, error: StoreUnavailable) -> None:
        self._failures += 1
        self._rows.extendleft(reversed(self._writing))
        self._trim()
        if not self._down:
            self._down = True
            log.warning("audit: the store is down, rows are kept in memory: %s", error)

    def _give_up(self, error: Exception) -> None:
        self._failures = 0
        self._lost += len(self._writing)
        log.error(
            "audit: the store refused %d rows (%s); they are lost",
            len(self._writing),
            type(error).__name__,
        )

    def _trim(self) -> None:
        """Drop the oldest rows beyond the bound; said once, counted always."""
        while len(self._rows) > self._limits.rows:
            self._rows.popleft()
            if not self._lost:
                log.warning("audit: the queue is full, the oldest rows are dropped and counted")
            self._lost += 1

    def _report_recovery(self) -> None:
        if self._down and not self._failures:
            self._down = False
            log.warning("audit: the store answers again; %d rows were lost so far", self._lost)


@contextmanager
def _patience(seconds: float) -> Iterator[None]:
    """Bound a wait for the store; its end is the store's fault."""
    try:
        with anyio.fail_after(seconds):
            yield
    except TimeoutError:
        raise StoreUnavailable(f"the store did not answer within {seconds:g} s") from None


def _clean_hit(hit: HitRecord) -> HitRecord:
    """Bring what a model or client wrote onto one line, bounded, without credentials."""
    return replace(
        hit,
        conversation=masking.single_line(hit.conversation),
        turn=masking.single_line(hit.turn),
        agent=masking.label(hit.agent),
        model=masking.label(hit.model),
        rule=masking.single_line(hit.rule),
        rule_path=masking.single_line(hit.rule_path),
        tool=None if hit.tool is None else masking.label(hit.tool),
        target_path=None if hit.target_path is None else masking.label(hit.target_path, 1024),
        excerpt=masking.single_line(hit.excerpt),
    )


def _clean_turn(turn: TurnRecord) -> TurnRecord:
    conversation, name = masking.single_line(turn.conversation), masking.single_line(turn.turn)
    agent, model = masking.label(turn.agent), masking.label(turn.model)
    workspace = masking.label(turn.workspace, 1024)
    given = (turn.conversation, turn.turn, turn.agent, turn.model, turn.workspace)
    if given == (conversation, name, agent, model, workspace):
        return turn
    return replace(
        turn, conversation=conversation, turn=name, agent=agent, model=model, workspace=workspace
    )

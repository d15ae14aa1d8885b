"""The relay's bench: proxies side by side, all up at once, driven one at a time in each round."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench import under_rules
from bench.findings import Section
from bench.native import NotCompiledError, Programs, compiled
from bench.peers import Peer, collected
from bench.processes import NotStartedError
from bench.relay_tables import findings, tables
from bench.rig import FaultyRunError, Load, Result, Rig, Target, rig
from bench.samples import Samples

_LONGEST_REASON = 400  # characters of why a peer was left out: its last words
# Paced streams that took longer than this share of their time, and what starting them takes.
_BEHIND = 1.2
_BEGINNING = 0.5


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured: how many rounds, and the load of each scenario.

    `paced`: events 10 ms apart. `burst`: as fast as it goes. `first`: one short stream at a time.
    `text`: as `paced`, with the stamps beside the text, which then is what rules see. `closes`
    and `interrupts`: every stream breaks a rule. `idle`: many streams, hardly an event.
    """

    rounds: int
    warm_up: Load
    paced: Load
    burst: Load
    first: Load
    text: Load
    closes: Load
    interrupts: Load
    idle: Load


FULL = Plan(
    rounds=5,
    warm_up=Load(seconds=2, events=50, limit=60),
    paced=Load(streams=20, events=300, delay=10),
    burst=Load(seconds=2, events=500),
    first=Load(at_once=1, streams=50, events=5),
    text=Load(streams=20, events=300, delay=10, place=1),
    closes=Load(at_once=2, streams=100, events=15, delay=10, violate=5),
    interrupts=Load(seconds=2, events=20, violate=5),
    idle=Load(at_once=1000, streams=1000, events=100, delay=5000, limit=150),
)
# Enough to see that everything runs; its figures mean nothing.
QUICK = Plan(
    rounds=1,
    warm_up=Load(at_once=2, streams=2, events=5),
    paced=Load(at_once=2, streams=2, events=5, delay=10),
    burst=Load(at_once=2, streams=4, events=10),
    first=Load(at_once=1, streams=2, events=2),
    text=Load(at_once=2, streams=2, events=5, delay=10, place=1),
    closes=Load(at_once=2, streams=2, events=50, delay=10, violate=2),
    interrupts=Load(at_once=2, streams=2, events=5, violate=2),
    idle=Load(at_once=10, streams=10, events=100, delay=100),
)


@dataclass(slots=True)
class Measured:
    """What came of it.

    `left_out`: peers that were not measured, or not to the end, and why. `no_idle`: those that
    did not get through the idle streams, and were measured otherwise. `behind`: those that took
    longer for the paced streams than the upstream did, so that their delays are those of a queue.
    `repeated`: those of which a round was faulty and the next one was not. `fewer`: those whose
    memory was taken of fewer idle streams.
    """

    samples: Samples = field(default_factory=Samples)
    left_out: dict[str, str] = field(default_factory=dict)
    no_idle: dict[str, str] = field(default_factory=dict)
    behind: dict[str, str] = field(default_factory=dict)
    repeated: dict[str, str] = field(default_factory=dict)
    fewer: dict[str, str] = field(default_factory=dict)

    def add(self, target: Target, values: Mapping[str, float]) -> None:
        """The values of a whole round, or of what is measured once."""
        for what, value in values.items():
            self.samples.add(f"{target.name}/{what}", value)


def section(
    plan: Plan,
    peers: Sequence[str] | None,
    say: Callable[[str], None],
    programs: Programs | None = None,
) -> Section:
    """Measure everything; `peers` are the names of those to measure, None means what is there."""
    title = "Relaying"
    measured = Measured()
    asked = list(_asked(peers, measured))
    try:
        programs = programs or compiled()
    except NotCompiledError as problem:
        return Section(title, [f"Not measured: {problem}."], findings(Samples()), [str(problem)])
    ours = [variant.peer() for variant in under_rules.variants()]
    driven = [*asked, *ours]
    with (
        tempfile.TemporaryDirectory(prefix="ttsr-bench-") as place,
        rig(programs, Path(place)) as running,
    ):
        try:
            _Bench(running, plan, measured, say).rounds(driven)
        except FaultyRunError as problem:
            why = f"the rig itself is at fault: {problem}"
            return Section(title, [f"Not measured: {why}."], findings(Samples()), [why])
    names = [n for n in ("direct", *(p.name for p in driven)) if f"{n}/p50" in measured.samples]
    reasons = (*measured.left_out.items(), *measured.no_idle.items())
    faults = [f"{name}: {why}" for name, why in reasons if name in {peer.name for peer in ours}]
    shown = tables(measured.samples, names, [p.name for p in ours])
    lines = [*shown, *_remarks(measured), *_left_out(measured)]
    return Section(title, lines, findings(measured.samples), faults)


def refuse_unknown(names: Sequence[str]) -> None:
    """Leave, naming those of the peers that there are not."""
    known = {peer.name for peer in collected()}
    unknown = set(names) - known
    if unknown:
        raise SystemExit(f"no such peers: {sorted(unknown)}; there are {sorted(known)}")


def _asked(names: Sequence[str] | None, measured: Measured) -> Iterator[Peer]:
    """Which peers there are to measure; of the others, say why not."""
    for name, peer in ((peer.name, peer) for peer in collected()):
        missing = peer.missing()
        if names is not None and name not in names:
            measured.left_out[name] = "not asked for"
        elif missing is not None:
            measured.left_out[name] = missing
        else:
            yield peer


def _remarks(measured: Measured) -> Iterator[str]:
    told = (
        ("Too slow for the paced events; their delays are those of a queue:", measured.behind),
        ("A round was faulty, and repeated:", measured.repeated),
        ("Memory of an idle stream by fewer streams than of the others:", measured.fewer),
    )
    for above, rows in told:
        if rows:
            yield from ("", above, "", *(f"- {name}: {why}" for name, why in sorted(rows.items())))


def _left_out(measured: Measured) -> list[str]:
    if not measured.left_out and not measured.no_idle:
        return []
    rows = [f"- {name}: {reason}" for name, reason in sorted(measured.left_out.items())]
    rows += [f"- {name}, idle: {reason}" for name, reason in sorted(measured.no_idle.items())]
    return ["", "Not measured, or not in every round:", "", *rows]


@dataclass(frozen=True, slots=True)
class _Bench:
    """Drives the rig through the plan."""

    rig: Rig
    plan: Plan
    measured: Measured
    say: Callable[[str], None]

    def rounds(self, peers: Sequence[Peer]) -> None:
        """All proxies up, and every scenario on one after the other, round by round."""
        with ExitStack() as stack:
            started = [self._started(peer, stack) for peer in peers]
            targets = [self.rig.direct(), *(target for target in started if target)]
            for number in range(self.plan.rounds):
                self.say(f"round {number + 1} of {self.plan.rounds}, {len(targets)} proxies")
                for target in targets:
                    self._guarded_round(target)

    def _started(self, peer: Peer, stack: ExitStack) -> Target | None:
        self.say(f"starting {peer.name}")
        began = time.monotonic()
        try:
            target = stack.enter_context(self.rig.proxy(peer))
        except (NotStartedError, OSError) as problem:
            self._leave_out(peer, f"does not start: {problem}")
            return None
        try:
            self._relays(target)
        except FaultyRunError as problem:
            self._leave_out(peer, str(problem))
            return None
        try:
            self._idle(target)
        except FaultyRunError as problem:
            self.measured.no_idle[peer.name] = str(problem)
        self.rig.warm_up(target, self.plan.warm_up)
        self.say(f"  started, with idle streams, in {time.monotonic() - began:.0f} s")
        return target

    def _leave_out(self, peer: Peer, why: str) -> None:
        in_a_line = " ".join(why.split())[-_LONGEST_REASON:]
        told = f"{in_a_line}{peer.remark and f' ({peer.remark})'}"
        self.measured.left_out[peer.name] = told
        self.say(f"  left out: {told}")

    def _relays(self, target: Target) -> None:
        """Play a few streams, one at a time: none of what follows is for a proxy that fails them.

        What the first requests cost is another question; some lose events meanwhile.
        """
        short = replace(self.plan.warm_up, at_once=1, events=5, limit=30)
        self.rig.warm_up(target, short)
        self.rig.run(target, replace(short, seconds=0, streams=3))

    def _guarded_round(self, target: Target) -> None:
        if target.name in self.measured.left_out:
            return
        try:
            self._tried_round(target)
        except FaultyRunError as problem:
            if target.peer is None:
                raise
            # What it did in earlier rounds stays; it has no later ones.
            self._leave_out(target.peer, str(problem))

    def _tried_round(self, target: Target) -> None:
        """One round, or another if that was faulty, which the report tells; raises if both are."""
        try:
            self._round(target)
        except FaultyRunError as problem:
            self.say(f"  {target.name}, once more: {problem}")
            self.measured.repeated[target.name] = str(problem)
            self._round(target)

    def _round(self, target: Target) -> None:
        """One round of one proxy; values are added only when the whole round was sound."""
        before = time.monotonic()
        paced = self.rig.run(target, self.plan.paced)
        self._note_pace(target, paced)
        burst = self.rig.run(target, self.plan.burst)
        first = self.rig.run(target, self.plan.first)
        values = self._common(target, paced, burst, first)
        if target.name in {under_rules.CUT.name, under_rules.SAFE.name}:
            values |= self._under_rules(target)
        self.measured.add(target, values)
        self.say(f"  {target.name}: {time.monotonic() - before:.0f} s")

    def _note_pace(self, target: Target, paced: Result) -> None:
        took = self.plan.paced.events * self.plan.paced.delay / 1e3
        if paced.wall > took * _BEHIND + _BEGINNING:
            self.measured.behind[target.name] = f"{paced.wall:.1f} s for {took:.1f} s of events"

    def _common(
        self, target: Target, paced: Result, burst: Result, first: Result
    ) -> dict[str, float]:
        values = {
            "p50": paced.latency_us_p50,
            "p99": paced.latency_us_p99,
            "jitter p99": paced.jitter_us_p99,
            "cpu paced": paced.cpu / paced.events * 1e6,
            "cpu burst": burst.cpu / burst.events * 1e6,
            "events/s": burst.events / burst.wall,
            "first": first.first_us_p50,
            "cpu request": first.cpu / first.streams * 1e6,
        }
        for what in ("p50", "p99", "jitter p99"):
            direct = values[what]
            if target.peer is not None:
                direct = self.measured.samples.values[f"direct/{what}"][-1]
            values[f"added {what}"] = values[what] - direct
        return values

    def _under_rules(self, target: Target) -> dict[str, float]:
        """What only a proxy with rules does."""
        text = self.rig.run(target, self.plan.text)
        self.rig.closes()
        self.rig.run(target, self.plan.closes)
        closes = self.rig.closes()
        interrupts = self.rig.run(target, self.plan.interrupts)
        again = self.rig.closes().second_attempts
        if again != interrupts.streams or closes.count != self.plan.closes.streams:
            raise FaultyRunError(
                f"of {interrupts.streams} violations {again} were interrupted, "
                f"of {self.plan.closes.streams} {closes.count} closed"
            )
        return {
            "text cpu": text.cpu / text.events * 1e6,
            "lag p50": text.lag_p50,
            "lag p99": text.lag_p99,
            "held p50": text.held_p50,
            "held p99": text.held_p99,
            "text p50": text.latency_us_p50,
            "text jitter p99": text.jitter_us_p99,
            "close p50": closes.p50_us,
            "close p99": closes.p99_us,
            "interrupts/s": interrupts.streams / interrupts.wall,
            "cpu interrupt": interrupts.cpu / interrupts.streams * 1e6,
        }

    def _idle(self, target: Target) -> None:
        """Memory of many idle streams, in a proxy that has just been started."""
        assert target.server is not None
        assert target.peer is not None
        count = min(target.peer.idle_streams, self.plan.idle.streams)
        if not count:
            raise FaultyRunError(f"not tried: {target.peer.remark}")
        load = replace(self.plan.idle, at_once=count, streams=count)
        before = target.server.resident()
        with self.rig.loading(target, load) as client:
            assert client.stdout is not None
            if client.stdout.readline().strip() != "open":
                raise FaultyRunError("not all streams had their first event")
            per_stream = (target.server.resident() - before) / count
        if count < self.plan.idle.streams:
            self.measured.fewer[target.name] = f"{count:,}"
        self.measured.add(target, {"idle": per_stream / 1000})

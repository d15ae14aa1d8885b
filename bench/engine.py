"""What matching costs: microseconds a delta, growth, hold positions, hostile rules.

`python -m bench.engine [rounds]` prints Markdown. Everything that is compared is
measured in turns within each round, and what is judged are ratios: a noisy machine moves both
sides. Times are processor time of the thread, but for the medians of single calls.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from random import Random
from time import perf_counter, thread_time

from bench.findings import Finding, Section, at_most, main
from bench.findings import table as table_lines
from bench.samples import Samples
from rules_engine.dialect import compile_pattern
from rules_engine.matcher import Matcher
from rules_engine.policy import ReleaseMode
from rules_engine.rule import ContextMode, InterruptMode, Origin, RepeatMode, Rule
from rules_engine.ruleset import LiveRule
from rules_engine.triggers.pattern import PatternTrigger
from rules_engine.windows import Watch, Window

MEAN_DELTA = 18
# A search of 50 KB may take 15 ms, and 10 more until that is noticed.
STALL_MS = 25
SYLLABLES = ("ka", "lo", "min", "ter", "su", "pre", "on", "fig", "dat", "er", "al", "ex", "im")
SHAPES = (
    r"\b{a}\s*\(",
    r"(?i)\b{a}\s+{b}\b",
    r":\s*{a}\b",
    r"{a}\.{b}\(",
    r"{a}\({b}\)",
    r"import\s+{a}\s+from",
    r"(?<!\.)\b{a}\b(?!\()",
    r"<{a}[^>]*{b}=",
    r"//\s*{a}:?\s{b}",
    r"{a}(?:{b})?_{b}\b",
    r"as\s+{a}\[",
    r"{a}\(\d+\)[^;]*{b};",
)
SENTENCE = (
    "the value of this is a list and that would not fail in for with function return const "
    "let name string number of items we can then use it here import export class type"
)


@dataclass(frozen=True, slots=True)
class Rules:
    """A rule set of one size, with the scanners that serve it."""

    live: tuple[LiveRule, ...]
    literals: Matcher
    compiled: Matcher
    words: tuple[str, ...]

    def matcher(self, name: str) -> Matcher:
        """The matcher that a column of the table stands for."""
        return self.compiled if name == "hyperscan" else self.literals


def word(rng: Random) -> str:
    return "".join(rng.choices(SYLLABLES, k=rng.randint(3, 5)))


def live_rule(name: str, source: str) -> LiveRule:
    rule = Rule(name, f"{name}.md", "bench", "", Origin.PROJECT, conditions=(source,))
    trigger = PatternTrigger(compile_pattern(source))
    return LiveRule(rule, InterruptMode.ALWAYS, ContextMode.KEEP, RepeatMode.ONCE, 10, (trigger,))


def rules(count: int, seed: int = 5) -> Rules:
    rng = Random(seed)
    live: list[LiveRule] = []
    words: list[str] = []
    for number in range(count):
        a, b = word(rng), word(rng)
        words += (a, b)
        source = SHAPES[number % len(SHAPES)].format(a=a, b=b)
        live.append(live_rule(f"rule-{number}", source))
    return Rules(tuple(live), *_matchers(live), tuple(words))


def _matchers(live: Sequence[LiveRule]) -> tuple[Matcher, Matcher]:
    patterns = [trigger.pattern for each in live for trigger in each.patterns]
    literals, compiled = Matcher(patterns), Matcher(patterns)
    compiled.adopt(compiled.compile())
    literals.bunch()
    compiled.bunches = literals.bunches
    return literals, compiled


def clean(size: int, words: Sequence[str], seed: int = 6, lines: bool = True) -> str:  # noqa: FBT001, FBT002 - a script's own
    """Text in which no rule hits, with near misses: beginnings of their words, cut short."""
    rng = Random(seed)
    prose = SENTENCE.split()
    parts: list[str] = []
    length = 0
    while length < size:
        near = rng.choice(words)
        part = near[: rng.randint(2, len(near) - 1)] if rng.random() < 0.15 else rng.choice(prose)
        part += "\n" if lines and rng.random() < 0.1 else rng.choice("  .,:(")
        parts.append(part)
        length += len(part)
    return "".join(parts)[:size]


def pieces(text: str, seed: int = 7) -> list[str]:
    rng = Random(seed)
    cut: list[str] = []
    at = 0
    while at < len(text):
        length = rng.randint(4, 2 * MEAN_DELTA - 4)
        cut.append(text[at : at + length])
        at += length
    return cut


def stream(window: Window, deltas: Sequence[str], *, hold: bool) -> float:
    """Feed everything; returns seconds of this thread."""
    start = thread_time()
    if hold:
        for delta in deltas:
            window.feed(delta)
            window.hold()
    else:
        for delta in deltas:
            window.feed(delta)
    return thread_time() - start


def window(ruleset: Rules, backend: str, *, holds: bool) -> Window:
    watches = (Watch(live, holds=holds) for live in ruleset.live)
    return Window(watches, ReleaseMode.SAFE, matcher=ruleset.matcher(backend))


def one_round(sets: dict[int, Rules], backends: Sequence[str], samples: Samples) -> None:
    """One round: each of the cells once, so that they share the machine's mood."""
    for backend in backends:
        for count, ruleset in sets.items():
            deltas = pieces(clean(200_000, ruleset.words[:40]))
            for holds in (False, True):
                seconds = stream(window(ruleset, backend, holds=holds), deltas, hold=holds)
                samples.add(f"{backend} {count} {holds}", seconds / len(deltas))
        _sizes(sets[60], backend, samples)
        _long_line(sets[60], backend, samples)
        _violations(sets[60], backend, samples)


def _sizes(ruleset: Rules, backend: str, samples: Samples) -> None:
    for size in (20_000, 200_000, 2_000_000):
        deltas = pieces(clean(size, ruleset.words))
        seconds = stream(window(ruleset, backend, holds=False), deltas, hold=False)
        samples.add(f"{backend} size {size}", seconds)
        samples.add(f"{backend} size {size} delta", seconds / len(deltas))


def _long_line(ruleset: Rules, backend: str, samples: Samples) -> None:
    deltas = pieces(clean(200_000, ruleset.words, lines=False))
    for holds in (False, True):
        under = window(ruleset, backend, holds=holds)
        first = stream(under, deltas[:500], hold=holds)
        stream(under, deltas[500:-500], hold=holds)
        last = stream(under, deltas[-500:], hold=holds)
        samples.add(f"{backend} line {holds} first", first / 500)
        samples.add(f"{backend} line {holds} last", last / 500)


def _violations(ruleset: Rules, backend: str, samples: Samples) -> None:
    rng = Random(8)
    words = ruleset.words
    full = [clean(2_000, words, seed) + _violation(rng, words) for seed in range(100)]
    deltas = pieces("".join(full))
    seconds = stream(window(ruleset, backend, holds=False), deltas, hold=False)
    samples.add(f"{backend} violations", seconds / len(deltas))


def _violation(rng: Random, words: Sequence[str]) -> str:
    at = rng.randrange(len(words) // 2) * 2
    a, b = words[at], words[at + 1]
    return rng.choice((f" {a}(", f" {a}  {b} ", f": {a} ", f"{a}.{b}(", f"import {a} from "))


def hold_times(ruleset: Rules, backend: str) -> tuple[float, float, list[int]]:
    """Median seconds of a feed without and with hold positions, and the characters held."""
    deltas = pieces(clean(200_000, ruleset.words))
    plain, holding = (window(ruleset, backend, holds=holds) for holds in (False, True))
    plain_times: list[float] = []
    times: list[float] = []
    held: list[int] = []
    for delta in deltas:
        start = perf_counter()
        plain.feed(delta)
        middle = perf_counter()
        holding.feed(delta)
        position = holding.hold()
        times.append(perf_counter() - middle)
        plain_times.append(middle - start)
        held.append(len(holding.text) - position)
    return statistics.median(plain_times), statistics.median(times), sorted(held)


HOSTILE = (
    (r"(a+)+$", "a" * 50_000 + "!"),
    (r"(?:a|aa)+[xy]", "a" * 50_000 + "!"),
    (r"(.*a){12}b", "a" * 50_000 + "!"),
    (r"^(\w+\s?)*$", "a" * 50_000 + "!"),
    (r"close\(\d+\)[\s\S]*?end(?=X)", "close(12) and end of it, then more text. " * 1_200),
)


def stalls(backend: str) -> Iterator[tuple[str, float, float, bool]]:
    """Of each hostile rule: its longest feed, its total, and whether it was set aside."""
    for source, text in HOSTILE:
        live = live_rule("hostile", source)
        literals, compiled = _matchers([live])
        matcher = compiled if backend == "hyperscan" else literals
        under = Window([Watch(live, holds=True)], ReleaseMode.SAFE, matcher=matcher)
        worst = total = 0.0
        for delta in [*pieces(text), None]:
            seconds = _timed(under.close if delta is None else partial(under.feed, delta))
            worst, total = max(worst, seconds), total + seconds
        yield source, worst, total, bool(under.quarantined)


def _timed(call: Callable[[], object]) -> float:
    start = thread_time()
    call()
    return thread_time() - start


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with a cell for each scanner, and what is held against a target."""

    backends: Sequence[str]
    samples: Samples
    rows: list[list[str]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def row(self, what: str, cells: Iterable[str]) -> None:
        """One line."""
        self.rows.append([what, *cells])

    def microseconds(self, what: str, key: str) -> None:
        """A line of times."""
        medians = (self.samples.median(f"{backend} {key}") for backend in self.backends)
        self.row(f"us a delta, {what}", [f"{median * 1e6:.2f}" for median in medians])

    def ratios(self, what: str, over: str, under: str) -> list[float]:
        """A line of ratios within rounds."""
        ratios = [self.samples.ratio(f"{b} {over}", f"{b} {under}") for b in self.backends]
        self.row(what, [f"{each:.1f}x" for each in ratios])
        return ratios

    def judge(
        self,
        named: tuple[str, str],
        limit: float,
        values: Iterable[float],
        unit: str,
        sides: Iterable[tuple[str, str]] = repeat(("", "")),
    ) -> None:
        """Hold a line against its target."""
        number, what = named
        for backend, value, told in zip(self.backends, values, sides):  # noqa: B905 - some have none
            name = f"{what} ({backend})"
            self.findings.append(at_most(number, name, limit, value, unit, sides=told))

    def judge_ratio(self, named: tuple[str, str], limit: float, over: str, under: str) -> None:
        """A line of ratios, held against its target with both sides in microseconds."""
        ratios = self.ratios(named[1], over, under)
        self.judge(named, limit, ratios, "x", [self._sides(b, over, under) for b in self.backends])

    def _sides(self, backend: str, *keys: str) -> tuple[str, str]:
        over, under = (self.samples.median(f"{backend} {key}") * 1e6 for key in keys)
        return f"{over:,.2f} us", f"{under:,.2f} us"


def report(sets: dict[int, Rules], table: Table) -> None:
    for count in sets:
        table.microseconds(f"200 KB, {count} reminding rules", f"{count} False")
        table.microseconds(f"200 KB, {count} interrupting rules, with hold", f"{count} True")
    for size in (20_000, 200_000, 2_000_000):
        table.microseconds(f"{size // 1000} KB, 60 reminding rules", f"size {size} delta")
    table.microseconds("text full of violations, 60 reminding rules", "violations")
    named = ("9", "2 MB against 200 KB in total")
    table.judge_ratio(named, 12, "size 2000000", "size 200000")
    for holds, kind in ((False, "reminding"), (True, "interrupting")):
        named = ("10", f"a line of 200 KB, last 500 deltas against first, {kind}")
        table.judge_ratio(named, 2, f"line {holds} last", f"line {holds} first")
    table.judge_ratio(("11", "1,000 rules against 10, reminding"), 2, "1000 False", "10 False")
    table.ratios("the same, interrupting, with hold", "1000 True", "10 True")
    _report_holds(sets[60], table)
    _report_stalls(table)


def _report_holds(ruleset: Rules, table: Table) -> None:
    told = [hold_times(ruleset, backend) for backend in table.backends]
    what = "feed and hold position, 60 interrupting rules, against a plain feed, medians"
    table.row(what, [f"{hold / plain:.1f}x ({hold * 1e6:.1f} us)" for plain, hold, _ in told])
    sides = [(f"{hold * 1e6:.2f} us", f"{plain * 1e6:.2f} us") for plain, hold, _ in told]
    table.judge(("13", what), 12, (hold / plain for plain, hold, _ in told), "x", sides)
    shares = [(_share(held, 0.5), _share(held, 0.99)) for _, _, held in told]
    what = "characters held on clean text"
    table.row(f"{what}, p50 / p99", [f"{half} / {most}" for half, most in shares])
    table.judge(("14", f"{what}, p50"), 1, (half for half, _ in shares), "")
    table.judge(("14", f"{what}, p99"), 80, (most for _, most in shares), "")


def _report_stalls(table: Table) -> None:
    hostile = [list(stalls(backend)) for backend in table.backends]
    for told in zip(*hostile, strict=True):
        source = told[0][0].replace("|", "\\|")
        what = f"`{source}` on 50 KB: longest stall"
        table.row(f"{what}, in total", [_stall(each) for each in told])
        table.judge(("16", what), STALL_MS, (worst * 1e3 for _, worst, _, _ in told), " ms")


def _share(values: Sequence[int], share: float) -> int:
    return values[min(int(len(values) * share), len(values) - 1)]


def _stall(told: tuple[str, float, float, bool]) -> str:
    _, worst, total, aside = told
    end = "set aside" if aside else "in force"
    return f"{worst * 1e3:.1f} ms, {total * 1e3:.0f} ms, {end}"


def section(rounds: int) -> Section:
    """Measure everything; the collector is off meanwhile."""
    sets = {count: rules(count) for count in (10, 60, 300, 1000)}
    known = all(each.compiled.compiled for each in sets.values())
    backends = ("hyperscan", "literals") if known else ("literals",)
    samples = Samples()
    gc.disable()
    for _ in range(rounds):
        one_round(sets, backends, samples)
        gc.collect()
    table = Table(backends, samples)
    report(sets, table)
    gc.enable()
    head = ("what", *backends)
    return Section("Matching", table_lines(head, table.rows), table.findings)


if __name__ == "__main__":
    main(section, 5)

"""What the relay's bench measured, as tables and against the targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bench.findings import Finding, at_least, at_most, table
from bench.samples import Samples
from bench.under_rules import CUT, OFF, REMINDING, SAFE

_PIPE = "pipe"
_LITELLM = "litellm"

_COLUMNS = (
    ("CPU us an event, paced", "cpu paced", 1),
    ("added p50 us", "added p50", 0),
    ("added p99 us", "added p99", 0),
    ("added to gaps, p99 us", "added jitter p99", 0),
    ("CPU us an event, no delay", "cpu burst", 1),
    ("events/s, no delay", "events/s", 0),
    ("first event us", "first", 0),
    ("CPU us a request", "cpu request", 0),
    ("KB an idle stream", "idle", 1),
)
_RATIOS = (
    ("CPU paced / pipe", "cpu paced", _PIPE),
    ("added p50 / pipe", "added p50", _PIPE),
    ("CPU paced / LiteLLM", "cpu paced", _LITELLM),
    ("CPU no delay / LiteLLM", "cpu burst", _LITELLM),
    ("events/s / LiteLLM", "events/s", _LITELLM),
    ("first event / LiteLLM", "first", _LITELLM),
)
_OURS = (
    ("CPU us an event", "text cpu", 1),
    ("p50 us", "text p50", 0),
    ("lag in events p50", "lag p50", 0),
    ("p99", "lag p99", 0),
    ("characters held on the wire p50", "held p50", 0),
    ("p99", "held p99", 0),
    ("violation to close p50 us", "close p50", 0),
    ("p99 us", "close p99", 0),
    ("interrupts/s", "interrupts/s", 0),
    ("CPU us an interrupt", "cpu interrupt", 0),
)


def tables(samples: Samples, names: Sequence[str], ours: Sequence[str]) -> list[str]:
    """Every proxy, the ratios within rounds, and what only a proxy with rules does."""
    head = ["proxy", *(column[0] for column in _COLUMNS)]
    rows = [[name, *(_cell(samples, name, *c[1:]) for c in _COLUMNS)] for name in names]
    lines = ["Each alone on its core; medians (least-greatest) of the rounds.", ""]
    lines += table(head, rows)
    lines += ["", "Ratios within rounds.", "", *_ratio_table(samples, names[1:])]
    lines += ["", "With 60 rules that interrupt.", "", *_own_table(samples, ours)]
    return lines


def _cell(samples: Samples, name: str, what: str, digits: int) -> str:
    key = f"{name}/{what}"
    return samples.spread(key).text(digits) if key in samples else "-"


def _ratio_table(samples: Samples, names: Sequence[str]) -> list[str]:
    shown = [ratio for ratio in _RATIOS if f"{ratio[2]}/cpu paced" in samples]
    head = ["proxy", *(ratio[0] for ratio in shown)]
    return table(head, [[name, *_ratio_cells(samples, name, shown)] for name in names])


def _ratio_cells(samples: Samples, name: str, shown: Sequence[tuple[str, str, str]]) -> list[str]:
    keys = [(f"{name}/{what}", f"{under}/{what}") for _, what, under in shown]
    return [samples.ratios(over, under).text(3) for over, under in keys]


def _own_table(samples: Samples, ours: Sequence[str]) -> list[str]:
    shown = [name for name in ours if f"{name}/text cpu" in samples]
    head = ["release", *(column[0] for column in _OURS)]
    return table(head, [[n, *(_cell(samples, n, *c[1:]) for c in _OURS)] for n in shown])


@dataclass(frozen=True, slots=True)
class _Judge:
    """Holds what was measured against targets."""

    samples: Samples

    def against(
        self,
        judged: Callable[..., Finding],
        named: tuple[str, str],
        limit: float,
        figure: _Figure,
        unit: str = "",
    ) -> Finding:
        """A ratio, with its two sides; not measured where one of them was not."""
        keys = (f"{figure.ours}/{figure.what}", f"{figure.reference}/{figure.what}")
        sides = (self._side(keys[0], figure), self._side(keys[1], figure))
        there = all(key in self.samples for key in keys)
        value = self.samples.ratio(*keys) if there else None
        return judged(*named, limit, value, unit, sides=sides)

    def _side(self, key: str, figure: _Figure) -> str:
        if key not in self.samples:
            return f"no {key.partition('/')[0]}"
        return f"{self.samples.median(key):,.{figure.digits}f} {figure.unit}".strip()

    def median(self, name: str, what: str) -> float | None:
        """A figure that is judged by itself."""
        key = f"{name}/{what}"
        return self.samples.median(key) if key in self.samples else None


@dataclass(frozen=True, slots=True)
class _Figure:
    """What is compared: two proxies by one of their figures, told in `unit` with `digits`."""

    ours: str
    reference: str
    what: str
    unit: str = "us"
    digits: int = 0


def findings(samples: Samples) -> list[Finding]:
    """Targets 1 to 8 and 15, and those for `safe`."""
    judge = _Judge(samples)
    return [
        *(each for name in (CUT.name, REMINDING.name) for each in _of_events(judge, name)),
        *_of_memory(judge),
        *_of_safe(judge),
        *_of_closes(judge),
    ]


def _of_events(judge: _Judge, ours: str) -> Iterator[Finding]:
    """What holds where no rule keeps anything back: under `cut`, and for rules that remind."""

    def against(number: str, what: str, limit: float, figure: _Figure, unit: str = "") -> Finding:
        judged = at_least if number == "3" else at_most
        return judge.against(judged, (number, f"{what} ({ours})"), limit, figure, unit)

    paced = "CPU of an event, paced"
    yield against(
        "1", f"{paced}, against LiteLLM", 0.15, _Figure(ours, _LITELLM, "cpu paced", digits=1)
    )
    yield against("2", "the same, no delay", 0.015, _Figure(ours, _LITELLM, "cpu burst", digits=1))
    yield against(
        "3", "events a second, against LiteLLM", 80, _Figure(ours, _LITELLM, "events/s", "/s"), "x"
    )
    yield against(
        "4", "added median delay, against the pipe", 2.5, _Figure(ours, _PIPE, "added p50"), "x"
    )
    yield against(
        "5", f"{paced}, against the pipe", 2.5, _Figure(ours, _PIPE, "cpu paced", digits=1), "x"
    )
    yield against("6", "first event, against LiteLLM", 0.05, _Figure(ours, _LITELLM, "first"))
    yield against(
        "7",
        f"{paced}, rules on against off",
        1.2,
        _Figure(ours, OFF.name, "cpu paced", digits=1),
        "x",
    )


def _of_memory(judge: _Judge) -> Iterator[Finding]:
    name = f"memory of an idle stream ({CUT.name})"
    yield at_most("8", name, 32, judge.median(CUT.name, "idle"), " KB")
    figure = _Figure(CUT.name, _LITELLM, "idle", "KB", 1)
    yield judge.against(at_most, ("8", "the same, against LiteLLM"), 0.25, figure)


def _of_safe(judge: _Judge) -> Iterator[Finding]:
    yield at_most("safe", "median lag in events", 1, judge.median(SAFE.name, "lag p50"))
    yield at_most("safe", "p99 of the lag", 5, judge.median(SAFE.name, "lag p99"))
    figure = _Figure(SAFE.name, CUT.name, "text cpu", digits=1)
    yield judge.against(at_most, ("safe", "CPU of an event against `cut`"), 1.5, figure, "x")


def _of_closes(judge: _Judge) -> Iterator[Finding]:
    for name in (CUT.name, SAFE.name):
        close = judge.median(name, "close p50")
        what = f"violating byte's arrival to the upstream's close, p50 ({name})"
        yield at_most("15", what, 1, close and close / 1e3, " ms")

"""What the relay's bench measured, as tables and against the targets."""

from __future__ import annotations

from collections.abc import Sequence

from bench.findings import Finding, at_least, at_most, table
from bench.samples import Samples
from bench.under_rules import CUT, OFF, SAFE

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
    ("CPU paced / pipe", "cpu paced", "pipe"),
    ("added p50 / pipe", "added p50", "pipe"),
    ("CPU paced / LiteLLM", "cpu paced", "litellm"),
    ("CPU no delay / LiteLLM", "cpu burst", "litellm"),
    ("events/s / LiteLLM", "events/s", "litellm"),
    ("first event / LiteLLM", "first", "litellm"),
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


def findings(samples: Samples) -> list[Finding]:
    """Targets 1 to 8 and 15, and those for `safe`."""
    cut, off, safe = CUT.name, OFF.name, SAFE.name

    def ratio(what: str, under: str, over: str = cut) -> float | None:
        keys = (f"{over}/{what}", f"{under}/{what}")
        return samples.ratio(*keys) if all(key in samples for key in keys) else None

    def value(name: str, what: str) -> float | None:
        key = f"{name}/{what}"
        return samples.median(key) if key in samples else None

    close = value(safe, "close p50")
    return [
        at_most("1", "CPU an event, paced, against LiteLLM", 0.15, ratio("cpu paced", "litellm")),
        at_most("2", "the same, no delay", 0.015, ratio("cpu burst", "litellm")),
        at_least("3", "events a second, against LiteLLM", 80, ratio("events/s", "litellm"), "x"),
        at_most("4", "added median delay, against the pipe", 2.5, ratio("added p50", "pipe"), "x"),
        at_most("5", "CPU an event, paced, against the pipe", 2.5, ratio("cpu paced", "pipe"), "x"),
        at_most("6", "first event, against LiteLLM", 0.05, ratio("first", "litellm")),
        at_most(
            "7", "rules on against off, paced: CPU an event", 1.2, ratio("cpu paced", off), "x"
        ),
        at_most("8", "memory of an idle stream", 32, value(cut, "idle"), " KB"),
        at_most("8", "the same, against LiteLLM", 0.25, ratio("idle", "litellm")),
        at_most("safe", "median lag in events", 1, value(safe, "lag p50")),
        at_most("safe", "p99 of the lag", 5, value(safe, "lag p99")),
        at_most("safe", "CPU an event against `cut`", 1.5, ratio("text cpu", cut, safe), "x"),
        at_most(
            "15",
            "violating byte's arrival to the upstream's close, p50",
            1,
            close and close / 1e3,
            " ms",
        ),
    ]

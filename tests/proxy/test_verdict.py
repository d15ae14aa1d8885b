from __future__ import annotations

from proxy.inventory import Entry
from proxy.trial import Output
from proxy.verdict import Gate, GateName, Held, Match, Report, Verdict, fields, shown
from rules_engine.rule import Bucket, InterruptMode, Origin, Rule
from rules_engine.scope import Surface

PASSED = Gate(GateName.SCOPE, passed=True, says="`text` admits text")
STOPPED = Gate(GateName.TRIGGER, passed=False, says="no match for `a`")
MATCH = Match("condition", "a", 1, 2, 1, 2, "a")


def entry(name: str, origin: Origin = Origin.PROJECT) -> Entry:
    rule = Rule(name, f"{name}.md", "native", "x", origin=origin)
    return Entry(name, rule.path, Bucket.TTSR, None, rule, InterruptMode.ALWAYS, ())


def verdict(name: str, *, triggered: bool, evaluated: bool = True) -> Verdict:
    return Verdict(
        entry(name),
        (PASSED,) if triggered else (PASSED, STOPPED),
        evaluated,
        triggered,
        (MATCH,) if triggered else (),
        "interrupt" if triggered else None,
        2 if triggered else None,
        Held(1, 1, "cut"),
    )


def test_report_as_json_names_rules_by_what_became_of_them() -> None:
    """Those that were not evaluated are in the detail alone."""
    report = Report(
        Output("ba", Surface.TEXT),
        (
            verdict("hit", triggered=True),
            verdict("miss", triggered=False),
            verdict("off", triggered=False, evaluated=False),
        ),
        ("slow",),
    )
    told = fields(report, "main", "since it is so")
    assert told["evaluated"] == ["hit", "miss"]
    assert (told["triggered"], told["not_triggered"]) == (["hit"], ["miss"])
    assert [rule["name"] for rule in told["rules"]] == ["hit", "miss", "off"]
    assert (told["quarantined"], told["inferred"]) == (["slow"], "since it is so")
    assert (told["surface"], told["tool"], told["bytes"]) == ("text", None, 2)


def test_verdict_as_json_has_all_of_it() -> None:
    """Gates in order, spans, what a turn would do, what is held."""
    report = Report(Output("ba", Surface.TEXT), (verdict("hit", triggered=True),), ())
    assert report.triggered == report.verdicts
    (told,) = fields(report, "main", None)["rules"]
    assert told == {
        "name": "hit",
        "path": "hit.md",
        "triggered": True,
        "action": "interrupt",
        "interruptMode": "always",
        "question": None,
        "stopped_by": None,
        "gates": [{"gate": "scope", "passed": True, "says": "`text` admits text"}],
        "matches": [
            {
                "field": "condition",
                "source": "a",
                "start": 1,
                "end": 2,
                "line": 1,
                "column": 2,
                "text": "a",
            }
        ],
        "decided": 2,
        "held": {"released": 1, "characters": 1, "says": "cut"},
    }


def test_first_closed_gate_is_the_one_that_stopped() -> None:
    """None where the rule hit."""
    assert verdict("miss", triggered=False).stopped_by == STOPPED
    assert verdict("hit", triggered=True).stopped_by is None


def test_bundled_rules_are_told_apart() -> None:
    """They came with the proxy, so their author does not sit here."""
    bundled = Verdict(entry("a", Origin.BUILTIN), (), evaluated=True, triggered=False)
    assert bundled.bundled
    assert not verdict("b", triggered=False).bundled


def test_shown_text_is_short_and_on_one_line() -> None:
    """Controls are drawn, so nothing is done to a terminal."""
    assert "\n" not in shown("a\nb")
    assert "\x1b" not in shown("a\x1b[2J")
    assert shown("x" * 500) == "x" * 80 + "…"

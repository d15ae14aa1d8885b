"""Values against targets, and what a report says of them."""

from __future__ import annotations

import pytest

from bench.findings import Finding, Section, at_least, at_most, verdicts
from bench.samples import Samples


@pytest.mark.parametrize(
    ("finding", "measured", "verdict"),
    [
        (at_most("1", "cost", 2.5, 2.5, "x"), "2.5x", "met"),
        (at_most("1", "cost", 2.5, 2.6, "x"), "2.6x", "**missed**"),
        (at_most("1", "cost", 2.5, float("nan"), "x"), "nanx", "**missed**"),
        (at_most("1", "cost", 2.5, None, "x"), "not measured", "-"),
        (at_least("3", "speed", 80, 79.9), "79.9", "**missed**"),
        (at_least("3", "speed", 80, 80), "80", "met"),
    ],
)
def test_a_value_is_held_against_its_target(finding: Finding, measured: str, verdict: str) -> None:
    """At the limit it is met; what was not measured is neither met nor missed."""
    assert (finding.measured, finding.verdict) == (measured, verdict)


def test_a_ratio_is_told_with_both_sides() -> None:
    """What was compared stands beside what came of it, and behind a target that was missed too."""
    finding = at_most("7", "cost", 1.2, 1.5, "x", sides=("15 us", "10 us"))
    (row,) = verdicts([finding])[2:]
    assert row == "| 7 | cost | 15 us | 10 us | 1.5x | <= 1.2x | **missed** |"


def test_a_section_comes_back_from_json() -> None:
    """What a process of its own measured is what the report shows."""
    section = Section("Title", ["a line"], [at_most("1", "cost", 2, 1)], ["a fault"])
    again = Section.from_json(section.as_json())
    assert again == section
    assert verdicts(again.findings)[-1] in again.markdown()


def test_ratios_are_of_the_same_round() -> None:
    """The median of the ratios, not the ratio of the medians."""
    samples = Samples()
    for over, under in ((2, 1), (30, 10), (400, 100)):
        samples.add("over", over)
        samples.add("under", under)
    assert samples.ratio("over", "under") == 3
    assert samples.ratios("over", "under").text(0) == "3 (2-4)"


def test_a_proxy_that_failed_later_keeps_its_rounds() -> None:
    """What it has no later rounds of is compared by the first ones."""
    samples = Samples()
    for value in (2, 6, 100):
        samples.add("ours", value)
    samples.add("failed later", 1)
    assert samples.ratio("ours", "failed later") == 2


def test_a_round_without_a_divisor_has_no_ratio() -> None:
    """An added delay of nothing divides nothing."""
    samples = Samples()
    for over, under in ((2, 0), (6, 2)):
        samples.add("over", over)
        samples.add("under", under)
    assert samples.ratio("over", "under") == 3

"""The report: rules with state and counts, and figures that add up."""

from __future__ import annotations

import pytest

from proxy.audit import Tally
from proxy.dashboard.report import distribution, problem_rows, rule_rows, statistics
from proxy.store import RuleCount
from rules_engine.decisions import Action
from tests.support.audit_rows import a_turn
from tests.support.rule_sets import a_rule_set


def tally(**counts: int) -> Tally:
    """Make counts out of `rule__action` names."""
    rows = []
    for key, count in counts.items():
        rule, _, action = key.partition("__")
        rows.append(RuleCount(rule.replace("_", "-"), action, count))
    return Tally(tuple(rows), stored=True)


def test_rule_rows_show_state_reason_settings_and_counts() -> None:
    """Every discovered rule has a row; what is in force shows the settings that hold."""
    rows = rule_rows(a_rule_set(), tally(no_any__interrupt=2, no_any__observed=5))
    shadowed, no_any, asked, always, off = rows
    assert (no_any["state"], no_any["reason"], no_any["bucket"]) == ("in_force", None, "ttsr")
    assert (no_any["interrupt_mode"], no_any["repeat_mode"]) == ("always", "once")
    assert no_any["scope"] == ["text", "tool:edit(*.ts)"]
    assert no_any["triggers"] == ["condition"]
    assert (no_any["deliveries"], no_any["counts"]["interrupt"]) == (2, 2)
    assert (no_any["counts"]["observed"], no_any["counts"]["refuse"]) == (5, 0)
    assert (shadowed["state"], shadowed["reason"], shadowed["deliveries"]) == ("off", "shadowed", 0)
    assert asked["triggers"] == ["question"]
    assert (always["state"], always["interrupt_mode"]) == ("in_force", None)
    assert off["reason"] == "disabled"


def test_every_action_has_its_count_in_every_row() -> None:
    """Readers need not guess which keys are there."""
    for row in rule_rows(a_rule_set(), tally()):
        assert list(row["counts"]) == [action.value for action in Action]


@pytest.mark.case(147)
def test_case_147_a_refused_call_counts_as_a_delivery() -> None:
    """A refusal spends nothing, but it is counted."""
    report = statistics(a_rule_set(), tally(no_any__refuse=1), ())
    assert report["rules"]["delivered_here"] == 1
    assert report["by_rule"]["no-any"]["refuse"] == 1


@pytest.mark.case(148)
def test_case_148_other_workspaces_names_are_delivered_elsewhere_only() -> None:
    """Counts of names that this workspace does not know are kept apart."""
    report = statistics(a_rule_set(), tally(no_any__interrupt=3, foreign__warning=4), ())
    assert report["rules"]["delivered_here"] == 3
    assert report["rules"]["delivered_elsewhere"] == 4
    assert report["by_rule"]["foreign"]["warning"] == 4


@pytest.mark.case(149)
def test_case_149_rules_fall_into_five_bands() -> None:
    """Bands count rules, and empty ones stay."""
    assert distribution([1, 1, 1, 1, 2, 3, 5, 9]) == {
        "never": 0,
        "once": 4,
        "twice": 1,
        "three": 1,
        "four_or_more": 2,
    }


def test_figures_add_up() -> None:
    """Discovered are those in force and those switched off; what only observes delivers nothing."""
    report = statistics(a_rule_set(), tally(no_any__observed=9), ())
    assert report["rules"] == {
        "discovered": 5,
        "in_force": 3,
        "switched_off": 2,
        "delivered_here": 0,
        "delivered_elsewhere": 0,
        "never_delivered": 2,
    }
    assert sum(report["distribution"].values()) == 4
    assert report["by_action"]["observed"] == 9
    assert report["composition"] == {
        "sources": {"builtin-defaults": 1, "native": 4},
        "states": {"shadowed": 1, "in_force": 3, "disabled": 1},
        "triggers": {"condition": 3, "question": 1},
    }


def test_turn_figures_count_cures_and_what_abandoned_attempts_cost() -> None:
    """Tokens of the accepted attempt are no loss; an attempt without usage is said to lack it."""
    turns = [
        a_turn("t1", usage=({"total_tokens": 5}, {"total_tokens": 9}), cured=True),
        a_turn("t2", usage=({"input_tokens": 1, "output_tokens": 2}, None, None), cured=False),
        a_turn("t3", attempts=1, usage=(None,), cured=None, withheld_characters=0, unledgered=True),
    ]
    assert statistics(None, tally(), turns)["turns"] == {
        "turns": 3,
        "reissued": 2,
        "cured": 1,
        "not_cured": 1,
        "withheld_characters": 24,
        "abandoned_tokens": 8,
        "abandoned_attempts_without_usage": 1,
        "unledgered": 1,
    }


def test_problem_rows_carry_code_place_and_sentence() -> None:
    """A rule file that could not be read is shown with what to do."""
    (row,) = problem_rows(a_rule_set().problems)
    assert (row["code"], row["severity"]) == ("bad-yaml", "warning")
    assert (row["file"], row["line"]) == (".omp/rules/bad.md", 2)
    assert "Next step" in row["message"]

"""Query parameters: what is read, and what a refusal names."""

from __future__ import annotations

import pytest

from proxy.dashboard.query import BadParameter, hit_query, no_parameters, turn_limit
from proxy.store import HitQuery


def test_hit_query_reads_every_filter() -> None:
    """All seven parameters have their place."""
    assert hit_query(
        [
            ("rule", "no-any"),
            ("surface", "tool"),
            ("action", "tool_reminder"),
            ("conversation", "c1"),
            ("since", "12.5"),
            ("limit", "7"),
            ("cursor", "42"),
        ]
    ) == HitQuery("no-any", "tool", "tool_reminder", "c1", 12.5, 7, 42)


def test_hit_query_takes_empty_values_as_absent() -> None:
    """A form with empty fields filters nothing."""
    names = ("rule", "surface", "action", "conversation", "since", "limit", "cursor")
    assert hit_query([(name, "") for name in names]) == HitQuery()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:01:00Z", 60.0),
        ("1970-01-01T00:01:00", 60.0),
        ("1970-01-01T01:01:00+01:00", 60.0),
        ("1970-01-01T01:01:00 01:00", 60.0),
        ("1970-01-02", 86400.0),
        ("0", 0.0),
    ],
)
def test_since_reads_unix_and_iso_times(text: str, seconds: float) -> None:
    """A time without a zone is UTC; a plus sign that became a space is understood."""
    assert hit_query([("since", text)]).since == seconds


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("surface", "txt", "text, thinking, tool"),
        ("action", "interupt", "interrupt, refuse, tool_reminder"),
        ("since", "yesterday", "Unix time in seconds, or an ISO 8601 time"),
        ("since", "nan", "Unix time"),
        ("since", "inf", "Unix time"),
        ("limit", "0", "a whole number from 1 to 1000"),
        ("limit", "1001", "from 1 to 1000"),
        ("limit", "-1", "from 1 to 1000"),
        ("limit", "1.5", "from 1 to 1000"),
        ("limit", "²", "from 1 to 1000"),
        ("cursor", "abc", "the `next` of an earlier answer"),
        ("cursor", "99999999999999999999", "the `next` of an earlier answer"),
        ("rules", "x", "one of the parameters rule, surface, action"),
    ],
)
def test_a_bad_parameter_is_named_with_its_value_and_what_is_allowed(
    name: str, value: str, allowed: str
) -> None:
    """A refusal says what to change."""
    with pytest.raises(BadParameter) as refused:
        hit_query([(name, value)])
    assert (refused.value.name, refused.value.value) == (name, value)
    assert allowed in refused.value.allowed
    assert f"`{name}` is {value!r}" in str(refused.value)


def test_a_parameter_given_twice_is_refused() -> None:
    """Which of two filters holds is not guessed."""
    with pytest.raises(BadParameter, match="at most one value"):
        hit_query([("rule", "a"), ("rule", "b")])


def test_turn_limit_reads_its_only_parameter() -> None:
    """Turns can be counted, not filtered."""
    assert turn_limit([]) == 100
    assert turn_limit([("limit", "3")]) == 3
    with pytest.raises(BadParameter):
        turn_limit([("rule", "x")])


def test_no_parameters_refuses_any() -> None:
    """Routes without parameters say so."""
    no_parameters([])
    with pytest.raises(BadParameter, match="allowed: no parameters"):
        no_parameters([("rule", "x")])

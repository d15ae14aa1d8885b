"""Case folding."""

# ruff: noqa: RUF001 - letters that look alike are the point

from __future__ import annotations

import pytest

from rules_engine.dialect.charset import chars, charset, contains, single
from rules_engine.dialect.folding import canonical, case_classes, fold


@pytest.mark.parametrize(
    ("char", "expected"),
    [
        ("a", "aA"),
        ("k", "kK"),
        ("s", "sS"),
        ("ſ", "ſ"),
        ("\u212a", "\u212a"),
        ("ß", "ß"),
        ("é", "éÉ"),
        ("µ", "µΜμ"),
        ("ι", "ιΙ\u0345\u1fbe"),
        ("İ", "İ"),
        ("ı", "ı"),
        ("1", "1"),
        ("_", "_"),
    ],
)
def test_fold_adds_what_javascript_takes_as_equal(char: str, expected: str) -> None:
    """Folding goes through single capitals and never from outside ASCII into it."""
    assert fold(chars(char)) == chars(expected)


def test_fold_of_a_class_adds_to_every_member() -> None:
    """A range gets the other case of all that is in it."""
    assert fold(((ord("a"), ord("c")),)) == charset(((ord("A"), ord("C")), (ord("a"), ord("c"))))


def test_canonical_knows_capitals_that_python_may_not() -> None:
    """Letters with a capital from a newer Unicode than Python's fold all the same."""
    assert canonical(0x019B) == 0xA7DC
    assert contains(fold(single(0xA7DC)), 0x019B)


def test_case_classes_are_disjoint() -> None:
    """Being equal without regard to case is an equivalence."""
    members = [code for kin in case_classes() for low, high in kin for code in range(low, high + 1)]
    assert len(members) == len(set(members))

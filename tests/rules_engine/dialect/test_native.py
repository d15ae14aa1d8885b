"""Patterns in the engine's own syntax."""

from __future__ import annotations

import pytest

from rules_engine.dialect.errors import MAX_NESTING, DialectError
from rules_engine.dialect.native import compile_native

_REJECTED = DialectError("no such thing", 3)


def test_compile_native_takes_the_engines_syntax_with_its_flags() -> None:
    """What the engine accepts is compiled as it stands."""
    assert compile_native("(a)(?(1)b|c)", "i", _REJECTED).search("AB") is not None


@pytest.mark.parametrize(
    "source",
    [
        "(",
        "a**",
        "(?<x>",
        "(?(9)a)",
        "(" * (MAX_NESTING + 1),
        "(?(1)a)" + "(a)+" * 9,
        "(a)(?(1)b){99999}",
    ],
)
def test_compile_native_keeps_the_first_error(source: str) -> None:
    """If the engine takes it neither, the error is the dialect's."""
    with pytest.raises(DialectError) as caught:
        compile_native(source, "", _REJECTED)
    assert caught.value is _REJECTED

"""Leading runs that change no hit."""

from __future__ import annotations

import pytest

from rules_engine.dialect.parse import Flags, parse
from rules_engine.dialect.trim import trim


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (".*foo", "foo"),
        ("[^]*?foo", "foo"),
        ("\\s*a*foo", "foo"),
        ("\\w+foo", "\\wfoo"),
        ("\\w{2,5}foo", "\\w{2}foo"),
        (".*a|b.*", "a|b.*"),
        ("(?:.*a|b)c", "(?:a|b)c"),
    ],
)
def test_trim_cuts_the_leading_run(source: str, expected: str) -> None:
    """What a first repeat must take stays, the rest goes."""
    assert trim(parse(source, Flags())) == parse(expected, Flags())


@pytest.mark.parametrize(
    "source", ["foo", "^.*foo", "(.*)foo\\1", "(?:ab)*foo", "\\b.*x", "a{2}", "a|b"]
)
def test_trim_leaves_the_rest_alone(source: str) -> None:
    """Anything else in front may change a hit, or is not worth it."""
    tree = parse(source, Flags())
    assert trim(tree) == tree

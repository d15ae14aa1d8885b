"""Every numbered behaviour is shown by a test, or overruled by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.cases import IN_FORCE, OVERRULED

TESTS = Path(__file__).parent
# Files, scopes, globs, discovery, buckets; matching, delivery; commands and bundled rules.
NUMBERS = {*range(1, 73), *range(86, 133), *range(169, 183)}


def cases_in(tree: ast.Module) -> Iterator[int]:
    """Numbers of the `pytest.mark.case(n)` that stand on tests of a file."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.case":
                yield from (int(ast.literal_eval(each)) for each in mark.args)


@cache
def shown() -> frozenset[int]:
    files = sorted(TESTS.rglob("test_*.py"))
    trees = [ast.parse(path.read_text(encoding="utf-8"), str(path)) for path in files]
    return frozenset(number for tree in trees for number in cases_in(tree))


def test_cases_of_a_file_are_found() -> None:
    """Marks are read off functions, asynchronous ones too, whatever else stands on them."""
    source = (
        "@pytest.mark.case(1)\n@pytest.mark.case(2)\ndef test_a(): ...\n"
        "@other\n@pytest.mark.case(3)\nasync def test_b(): ...\n"
        "@pytest.mark.other(4)\ndef test_c(): ...\n"
    )
    assert list(cases_in(ast.parse(source))) == [1, 2, 3]


def test_each_number_is_in_force_or_overruled() -> None:
    """No number is left out or stands twice."""
    assert {*IN_FORCE, *OVERRULED} == NUMBERS
    assert not IN_FORCE.keys() & OVERRULED.keys()


def test_each_behaviour_in_force_is_shown() -> None:
    """A behaviour without a test is no promise."""
    missing = {number: IN_FORCE[number] for number in sorted(IN_FORCE.keys() - shown())}
    assert not missing

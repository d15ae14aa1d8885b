"""What the tree promises: imports, purity, size, and a test file for every module."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("proxy", "rules_engine")
LONGEST_FILE = 500
LONGEST_FUNCTION = 60
PURITY = "the pure rings do no I/O and know no clock"

# Calls that reach outside, and methods that split where no wire format does.
IMPURE_CALLS = frozenset({"open", "print", "input", "exec", "eval", "__import__"})
BANNED_METHODS = frozenset({"splitlines", "aiter_lines", "iter_lines"})
MUTATORS = frozenset(
    {
        "add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem",
        "popleft", "remove", "setdefault", "update",
    }
)  # fmt: skip
Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources() -> list[Path]:
    return sorted(chain.from_iterable((ROOT / package).rglob("*.py") for package in PACKAGES))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def pure_sources() -> list[Path]:
    """Every file of the rings whose imports the purity contract checks."""
    contracts = settings()["tool"]["importlinter"]["contracts"]
    pure = next(c["source_modules"] for c in contracts if c["name"] == PURITY)
    return [
        path
        for path in sources()
        if any(f"{module_of(path)}.".startswith(f"{ring}.") for ring in pure)
    ]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def is_promise(tree: ast.Module, wanted: ast.AST) -> bool:
    protocols = [
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases)
    ]
    return any(wanted in protocol.body for protocol in protocols)


def has_behaviour(path: Path) -> bool:
    """Whether a module does anything: values and promises alone have nothing to test."""
    tree = tree_of(path)
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    return any(not is_promise(tree, function) for function in functions)


def test_the_imports_keep_their_contracts() -> None:
    """Layers, purity, independence and ownership, as `pyproject.toml` states them.

    In a process of its own, as import-linter sets up logging and silences every logger there is.
    """
    program = Path(sys.executable).with_name("lint-imports")
    checked = subprocess.run(
        [program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("path", sources(), ids=name)
def test_a_file_is_of_one_thing(path: Path) -> None:
    """At most 500 lines, functions of at most 60, and a docstring that says what it owns."""
    assert len(path.read_bytes().split(b"\n")) - 1 <= LONGEST_FILE
    assert ast.get_docstring(tree_of(path))
    functions = [node for node in ast.walk(tree_of(path)) if isinstance(node, Function)]
    lengths = {f.name: (f.end_lineno or f.lineno) - f.lineno + 1 for f in functions}
    assert not {f: lines for f, lines in lengths.items() if lines > LONGEST_FUNCTION}


@pytest.mark.parametrize("path", [path for path in sources() if has_behaviour(path)], ids=name)
def test_a_file_has_its_test_file(path: Path) -> None:
    """`proxy/x/y.py` is tested in `tests/proxy/x/test_y.py`, a package in its own folder."""
    folder = ROOT / "tests" / path.relative_to(ROOT).parent
    stems = {"init", path.parent.name} if path.stem == "__init__" else {path.stem}
    candidates = [folder / f"test_{stem}.py" for stem in stems]
    assert any(candidate.is_file() for candidate in candidates), f"none of {candidates}"


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("test_*.py")), ids=name)
def test_a_test_has_a_sentence(path: Path) -> None:
    """Each test states the fact that it shows."""
    tests = [
        node
        for node in ast.walk(tree_of(path))
        if isinstance(node, Function) and node.name.startswith("test_")
    ]
    assert not [test.name for test in tests if not ast.get_docstring(test)]


@pytest.mark.parametrize("path", pure_sources(), ids=name)
def test_pure_code_is_pure(path: Path) -> None:
    """What imports cannot show: no files or terminal, nothing awaited, no state in the module."""
    assert not list(_impurities(tree_of(path)))


def _impurities(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.AsyncFunctionDef() | ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                if not is_promise(tree, node):
                    yield f"line {node.lineno}: something is awaited"
            case ast.Call(func=ast.Name(id=called)) if called in IMPURE_CALLS:
                yield f"line {node.lineno}: calls {called}"
            case ast.Attribute(attr=method) if method in BANNED_METHODS:
                yield f"line {node.lineno}: uses {method}"
            case ast.Global():
                yield f"line {node.lineno}: binds a module's name from within"
    yield from _changed_state(tree)


def _changed_state(tree: ast.Module) -> Iterator[str]:
    """Changes, made inside functions, to values that a module binds."""
    bound = {target.id for node in tree.body for target in _targets(node)}
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    for function in functions:
        free = bound - _locals(function)
        for node in ast.walk(function):
            changed = _changed(node)
            if changed in free:
                yield f"line {function.lineno}: {function.name} changes {changed}"


def _targets(node: ast.stmt) -> list[ast.Name]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return [target for target in targets if isinstance(target, ast.Name)]


def _locals(function: Function) -> set[str]:
    arguments = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    stored = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return arguments | stored


def _changed(node: ast.AST) -> str | None:
    match node:
        case ast.Subscript(value=ast.Name(id=changed), ctx=ast.Store() | ast.Del()):
            return changed
        case ast.Call(func=ast.Attribute(value=ast.Name(id=changed), attr=method)) if (
            method in MUTATORS
        ):
            return changed
        case _:
            return None


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("async def f(): ...", 1),
        ("def f(): open('x')", 1),
        ("def f(x): return x.splitlines()", 1),
        ("n = 0\ndef f():\n    global n\n    n = 1", 1),
        ("seen = []\ndef f(): seen.append(1)", 1),
        ("seen = {}\ndef f(): seen[1] = 2", 1),
        ("seen = {}\ndef f():\n    seen = {}\n    seen[1] = 2", 0),
        ("TABLE = {1: 2}\ndef f(): return TABLE[1]", 0),
        ("class P(Protocol):\n    async def f(self): ...", 0),
    ],
)
def test_impurities_are_seen(code: str, count: int) -> None:
    """The check itself tells state from constants, and promises from deeds."""
    assert len(list(_impurities(ast.parse(code)))) == count

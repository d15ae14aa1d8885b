"""Documents that cannot rot: what they show and list is compared with the code."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from proxy.config import json_schema
from proxy.dashboard.feed import DROPPED, TRIGGERED
from proxy.errors import Fault
from proxy.store import HitRecord, TurnRecord
from rules_engine.decisions import Action
from rules_engine.frontmatter import parse_rule
from rules_engine.ruleset import Reason, RuleSetOptions, build
from rules_engine.scope import Surface
from tests.support.command_docs import commands_page

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")


def document(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def table(text: str) -> Iterator[list[str]]:
    """Cells of every row of every table, header rows included."""
    for line in text.split("\n"):
        if line.startswith("| ") and not line.startswith("| ---"):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def named(text: str) -> set[str]:
    """Everything that stands in code spans in the first cell of a row."""
    return {name for row in table(text) for name in re.findall(r"`([^`]+)`", row[0])}


# ---- the README


def test_readme_shows_what_the_demo_prints(tmp_path: Path) -> None:
    """Byte for byte, so the first thing that a reader tries comes out as promised."""
    code = "from proxy.cli import main; main()"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        (sys.executable, "-c", code, "demo"),
        cwd=tmp_path,
        env=env,
        capture_output=True,
        timeout=100,
        check=True,
    )
    shown = re.search(r"```text\n(.*?)```\n", document("README.md"), re.DOTALL)
    assert shown is not None
    assert shown[1] == ran.stdout.decode()


def test_readme_names_the_two_commands_first() -> None:
    """One sentence, then `make demo` and `make test`, which are there."""
    opening, block, _ = document("README.md").split("```", 2)
    assert opening.count(".") == 1
    assert re.findall(r"^make \w+", block, re.MULTILINE) == ["make demo", "make test"]
    assert {"demo:", "test:"} <= set(document("Makefile").split())


def test_readmes_rule_is_a_good_rule() -> None:
    """The example parses, compiles, and has no problem."""
    shown = re.search(r"```markdown\n(.*?)```\n", document("README.md"), re.DOTALL)
    assert shown is not None
    rule, problems = parse_rule(shown[1], "no-any", ".omp/rules/no-any.md", "native")
    assert rule is not None
    built = build([rule], RuleSetOptions(), problems)
    assert not built.problems
    assert [live.rule.name for live in built.live] == ["no-any"]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_of_a_document_lead_somewhere(path: Path) -> None:
    """Every relative link names a file that is there."""
    links = LINK.findall(path.read_text(encoding="utf-8"))
    relative = [link for link in links if "://" not in link]
    assert not [link for link in relative if not (path.parent / link).exists()]


# ---- settings

KINDS = {
    ("integer", "string"): "size",
    ("number", "string"): "duration",
    "array": "list",
    "object": "mapping",
}
UNITS = {"duration": [(86400, "d"), (60, "m"), (1, "s")], "size": [(2**20, "MiB"), (1, "B")]}
# What the code finds out only when it starts.
FOUND = {"db": "`$XDG_STATE_HOME/ttsr-proxy/ttsr.db`"}


def settings(schema: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str, str]]:
    """Every key as its row begins: key, type, default."""
    for name, field in schema["properties"].items():
        meant = resolved(field)
        if "properties" in meant:
            yield from settings(meant, f"{above}{name}.")
            continue
        key, kind = f"{above}{name}", kind_of(meant)
        yield f"`{key}`", kind, FOUND.get(key) or shown_default(kind, field["default"])


def resolved(field: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in field:
        return field
    found: Mapping[str, Any] = json_schema()["$defs"][field["$ref"].rpartition("/")[2]]
    return found


def kind_of(field: Mapping[str, Any]) -> str:
    if "anyOf" in field:
        (field,) = (kind for kind in field["anyOf"] if kind.get("type") != "null")
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    kind = field["type"]
    return KINDS.get(tuple(kind) if isinstance(kind, list) else kind) or str(kind)


def shown_default(kind: str, value: object) -> str:
    if value is None:
        return "none"
    if value == "":
        return "empty"
    if kind in UNITS and isinstance(value, int | float):
        step, unit = next((step, unit) for step, unit in UNITS[kind] if value % step == 0)
        return f"`{value / step:g}{unit}`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def test_each_setting_is_documented() -> None:
    """Key, type and default as the code has them, in its order, and a meaning for each."""
    text = document("docs/configuration.md").partition("## All settings")[2]
    rows = [row for row in table(text.partition("\n## ")[0]) if row[0] != "key"]
    assert [tuple(row[:3]) for row in rows] == list(settings(json_schema()))
    assert all(len(row) == 4 and row[3] for row in rows)


# ---- the audit


def test_each_action_of_the_audit_is_documented() -> None:
    """Actions, surfaces, and the reasons why a rule is off."""
    text = document("docs/audit.md")
    assert set(Action) <= named(text)
    assert not [word for word in (*Surface, *Reason) if f"`{word}`" not in text]


@pytest.mark.parametrize("record", [HitRecord, TurnRecord])
def test_each_field_of_the_audit_is_documented(record: type) -> None:
    """A field has a row in the table of its record."""
    heading = {HitRecord: "\n## A hit\n", TurnRecord: "\n## A turn\n"}[record]
    section = document("docs/audit.md").partition(heading)[2].partition("\n## ")[0]
    fields = {field.name for field in dataclasses.fields(record)}
    assert named(section) == fields


def test_each_event_and_route_of_the_audit_is_documented() -> None:
    """Names of live events, and paths."""
    text = document("docs/audit.md")
    routes = re.findall(r'@routes\.get\("([^"]+)"', document("proxy/dashboard/routes.py"))
    assert len(routes) >= 4
    paths = [path.replace("{rest:path}", "…") for path in routes]
    wanted = [f"`{name}`" for name in (TRIGGERED, DROPPED)] + [f"`GET {path}`" for path in paths]
    assert not [word for word in wanted if word not in text]


# ---- the command line, faults, modules


def test_each_command_is_documented() -> None:
    """`docs/commands.md` is what `make docs` writes."""
    assert document("docs/commands.md") == commands_page()


def test_each_end_of_a_turn_is_documented() -> None:
    """Codes of faults that can end a turn have a place in the table of ends, or in the audit's."""
    text = document("docs/flow.md") + document("docs/audit.md")
    codes = {fault.code for fault in leaves(Fault) if fault.status >= 500}
    # Refused before there is a turn; and a limit behind which a turn goes on without rules.
    apart = {"too_many_turns", "upstream_event_too_large"}
    assert not [code for code in codes - apart if f"`{code}`" not in text]


def leaves(kind: type[Fault]) -> Iterator[type[Fault]]:
    below = kind.__subclasses__()
    if not below:
        yield kind
    for each in below:
        yield from leaves(each)


@pytest.mark.parametrize("package", ["proxy", "rules_engine"])
def test_each_module_has_its_job(package: str) -> None:
    """`docs/architecture.md` names every module of the top level, and none that is gone."""
    text = document("docs/architecture.md")
    section = text.partition(f"\n## `{package}`\n")[2].partition("\n## ")[0]
    found = {
        path.stem for path in (ROOT / package).iterdir() if path.suffix == ".py" or path.is_dir()
    }
    assert named(section) == found - {"__init__", "__pycache__"}

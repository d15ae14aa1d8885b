from __future__ import annotations

from pathlib import Path

import pytest

from proxy.config import Settings
from proxy.errors import CannotRun
from proxy.inventory import REASONS, Entry, Inventory, Wanted, alone, fields, scope_word, take, why
from rules_engine.frontmatter import LARGEST
from rules_engine.rule import Bucket
from rules_engine.ruleset import Reason
from rules_engine.scope import parse_scope
from tests.support.rules import rule_text


def put(workspace: Path, **rules: str | bytes) -> None:
    folder = workspace / ".omp" / "rules"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in rules.items():
        (folder / f"{name}.md").write_bytes(text.encode() if isinstance(text, str) else text)


def taken(workspace: Path, agent: str = "main", /, **settings: object) -> Inventory:
    given = {
        "workspace": str(workspace),
        "userRulesDir": str(workspace / "none"),
        "ttsr": {"builtinRules": False},
    }
    return take(Settings.model_validate(given | settings), agent, home=workspace / "none")


def reasons(inventory: Inventory) -> dict[str, str | None]:
    return {
        entry.name: entry.reason
        for entry in inventory.entries
        if entry.reason != Reason.BUILTINS_OFF
    }


def test_reasons_are_those_of_the_rule_set(tmp_path: Path) -> None:
    """Every discovered rule has its entry, in the order of precedence."""
    put(tmp_path, a=rule_text("x", condition="a"), b="Just text.", c=rule_text("x", condition="a("))
    found = taken(tmp_path, ttsr={"builtinRules": False, "disabledRules": ["a"]})
    assert reasons(found) == {"a": "disabled", "b": "no-trigger", "c": "invalid"}


def test_problems_are_told_by_whoever_asked(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The log is quiet: what a command shows would stand on the terminal twice."""
    put(tmp_path, broken=rule_text("x", condition="a("))
    assert taken(tmp_path).problems
    assert not caplog.records


def test_rule_whose_globs_match_nothing_is_off_and_says_why(tmp_path: Path) -> None:
    """`--why` names the glob; a rule with one glob that can match is in force."""
    put(
        tmp_path,
        dead=rule_text("x", condition="a", globs=["{a", "!b"]),
        lives=rule_text("x", condition="a", globs=["{a", "*.ts"]),
    )
    found = taken(tmp_path)
    assert reasons(found) == {"dead": "invalid", "lives": None}
    (entry,) = found.named("dead")
    assert "invalid" in why(entry)
    assert why(entry).count("the glob is malformed and matches nothing") == 2


def test_files_that_are_no_rules_have_entries_too(tmp_path: Path) -> None:
    """Off, with what is wrong; one that is switched off by itself says so."""
    put(
        tmp_path,
        empty="---\ncondition: a\n---\n",
        binary=b"a\0b",
        large=b"x" * (LARGEST + 1),
        off=rule_text("x", condition="a", enabled=False),
    )
    found = taken(tmp_path)
    assert reasons(found) == {
        "binary": "invalid",
        "empty": "invalid",
        "large": "invalid",
        "off": "disabled",
    }
    for name in ("binary", "empty", "large", "off"):
        (entry,) = found.named(name)
        assert entry.problems
        assert entry.state == "off"
        assert fields(entry)["convention"] is None


def test_rules_that_something_else_keeps_off_are_compiled_all_the_same(tmp_path: Path) -> None:
    """Every problem of every file is told, of a disabled one and another agent's too."""
    put(
        tmp_path,
        a=rule_text("x", condition="a("),
        b=rule_text("x", condition="b(", agents="sub"),
    )
    found = taken(tmp_path, ttsr={"builtinRules": False, "disabledRules": ["a"]})
    assert reasons(found) == {"a": "disabled", "b": "agent-filter"}
    assert [(problem.file, problem.found) for problem in found.problems] == [
        (".omp/rules/a.md", "a("),
        (".omp/rules/b.md", "b("),
    ]


def test_problems_are_told_once_by_file_and_line(tmp_path: Path) -> None:
    """Whoever reads them goes through one file after the other."""
    put(
        tmp_path,
        b=rule_text("x", scop="a", condition="b(", interruptMode="x"),
        a=rule_text("x", condition="a("),
    )
    places = [(problem.file[-4:], problem.line) for problem in taken(tmp_path).problems]
    assert places == [("a.md", 2), ("b.md", 2), ("b.md", 3), ("b.md", 4)]


def test_agent_decides_what_is_in_force(tmp_path: Path) -> None:
    """As in the server, where a request tells its role."""
    put(tmp_path, a=rule_text("x", condition="a", agents="sub"))
    assert reasons(taken(tmp_path)) == {"a": "agent-filter"}
    assert reasons(taken(tmp_path, "sub")) == {"a": None}


def test_mode_is_the_one_in_force(tmp_path: Path) -> None:
    """An override wins over the file."""
    put(tmp_path, a=rule_text("x", condition="a", interruptMode="always"))
    found = taken(tmp_path, ttsr={"builtinRules": False, "modeOverrides": ["a=never"]})
    assert fields(found.named("a")[0])["interruptMode"] == "never"


def test_bundled_rules_are_found(tmp_path: Path) -> None:
    """All 27 of them."""
    found = taken(tmp_path, ttsr={"builtinRules": True})
    assert len(found.entries) == len(found.ruleset.live) == 27
    assert not found.problems


def test_every_reason_has_its_next_step() -> None:
    """A code alone repairs nothing."""
    assert set(REASONS) == set(Reason)


def test_wanted_entries_fulfil_every_wish() -> None:
    """One that is not a rule is of no convention."""
    entry = Entry("a", "a.md", Bucket.INACTIVE, "invalid", None, None, ())
    assert Wanted().admits(entry)
    assert Wanted(state="off", reason="invalid", bucket="inactive").admits(entry)
    assert not Wanted(state="in-force").admits(entry)
    assert not Wanted(convention="native").admits(entry)


def test_unknown_reason_is_shown_as_it_is() -> None:
    """So that nothing is lost that a newer rule set says."""
    entry = Entry("a", "a.md", Bucket.INACTIVE, "novel", None, None, ())
    assert why(entry) == "a (a.md): off; novel: novel."


@pytest.mark.parametrize(
    "written", ["text", "thinking", "tool", "tool:edit", "tool:edit(*.ts)", "tool(*.ts)"]
)
def test_scope_is_written_as_it_was(written: str) -> None:
    """In the spelling that names the surface."""
    (token,), _ = parse_scope(written, file="a.md")
    assert scope_word(token) == written


def test_rule_alone_takes_no_heed_of_settings(tmp_path: Path) -> None:
    """Nor of its own switch."""
    put(tmp_path, a=rule_text("x", condition="a", enabled=False))
    found = alone(tmp_path / ".omp" / "rules" / "a.md", "main")
    assert [live.rule.name for live in found.ruleset.live] == ["a"]


def test_rule_alone_that_is_none_is_an_error(tmp_path: Path) -> None:
    """A directory is no rule file either."""
    with pytest.raises(CannotRun, match="cannot be read"):
        alone(tmp_path, "main")

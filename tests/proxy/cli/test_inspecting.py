from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.command import Project
from tests.support.rules import rule_text

BROKEN = Path(__file__).parents[2] / "fixtures" / "broken"

# By file: line, code, field, and what else whoever sees only this output needs to repair it.
FAULTS = {
    "bad-pattern": (3, "bad-pattern", "condition", ("found `foo(", "add ) or write")),
    "bad-yaml": (3, "bad-yaml", None, (r'found `condition: "\d+"', "single quotes for a pattern")),
    "unclosed": (1, "unclosed-frontmatter", None, ("close it with a line `---`",)),
    "misspelt-key": (3, "unknown-key", "conditon", ("did you mean condition?",)),
    "misspelt-mode": (
        3, "bad-interrupt-mode", "interruptMode",
        ("found `alwyas", "allowed: never, prose-only, tool-only, always"),
    ),
    "bad-scope": (3, "bad-scope", "scope", ("found `tool:edit(*.ts", "`tool:name(glob)`")),
    "globs-on-prose": (4, "globs-without-tool", "globs", ("found `*.ts", "add `tool` to `scope`")),
    "empty-body": (None, "empty-body", None, ("write the advice",)),
    "matches-empty": (2, "matches-empty", "condition", ("found `a*", "one character at least")),
    "wrong-type": (2, "wrong-type", "condition", ("allowed: text or a list of texts",)),
    "bad-glob": (3, "bad-glob", "globs", ("found `src/{a,b", "balance its brackets")),
    "bad-structure": (2, "bad-pattern", "astCondition", ("found `foo(", "does not parse")),
    "twice": (3, "duplicate-key", "condition", ("remove one of them",)),
}  # fmt: skip

FOO = rule_text("Say it kindly.", description="No foo", condition="foo", scope="text")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.at(tmp_path)


@pytest.fixture
def broken(project: Project) -> Project:
    shutil.copytree(BROKEN, project.root / ".omp" / "rules")
    return project


# ---- list


@pytest.mark.case(175)
def test_list_of_no_rules_is_an_empty_array(project: Project) -> None:
    """Having no rules is no failure."""
    ran = project.run("list", "--convention", "native", "--json")
    assert (ran.status, ran.json) == (0, [])
    assert project.run("list", "--convention", "native").out == "No rule matches.\n"


def test_list_gives_every_rule_with_its_fields(project: Project) -> None:
    """Those of oh-my-pi's list, and what became of the rule."""
    project.rules(foo=FOO)
    (entry,) = project.run("list", "--convention", "native", "--json").json
    assert entry == {
        "name": "foo",
        "path": ".omp/rules/foo.md",
        "provider": "native",
        "convention": "native",
        "origin": "project",
        "bucket": "ttsr",
        "state": "in-force",
        "reason": None,
        "interruptMode": "always",
        "description": "No foo",
        "alwaysApply": False,
        "condition": ["foo"],
        "astCondition": [],
        "question": None,
        "scope": ["text"],
        "globs": [],
        "agents": [],
        "problems": [],
    }


@pytest.mark.case(69)
def test_list_shows_a_rule_that_asks_for_nothing_as_off(project: Project) -> None:
    """No trigger, not always, no description: off, and the reason says so."""
    project.rules(idle="Just text.", foo=FOO)
    out = project.run("list").out
    assert [line.split()[:3] for line in out.split("\n")[1:3]] == [
        ["foo", "in-force", "always"],
        ["idle", "off", "no-trigger"],
    ]


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        (["--state", "off", "--reason", "no-trigger"], ["idle"]),
        (["--state", "in-force"], ["foo", "law"]),
        (["--reason", "no-trigger"], ["idle"]),
        (["--bucket", "always"], ["law"]),
        (["--convention", "cursor"], ["law"]),
        (["--convention", "native", "--state", "off"], ["idle"]),
    ],
)
def test_list_is_narrowed(project: Project, flags: list[str], names: list[str]) -> None:
    """By state, reason, use and convention, all of which must hold."""
    project.rules(idle="Just text.", foo=FOO)
    project.write({".cursor/rules/law.mdc": rule_text("The law.", alwaysApply=True)})
    assert sorted(entry["name"] for entry in project.run("list", *flags, "--json").json) == names


def test_list_asks_for_known_words(project: Project) -> None:
    """A state that does not exist is an error that names those that do."""
    ran = project.run("list", "--state", "on")
    assert ran.status == 2
    assert "in-force" in ran.err


def test_list_counts_what_is_wrong(broken: Project) -> None:
    """Whoever looks at the list alone learns that there is something to repair."""
    assert broken.run("list").err == "10 errors and 4 warnings in rule files: ttsr lint\n"


@pytest.mark.parametrize("name", FAULTS)
def test_list_why_is_enough_to_repair_a_rule(broken: Project, name: str) -> None:
    """File, line, field, what was found, what is allowed and the next step stand there."""
    ran = broken.run("list", "--why", name)
    assert ran.status == 0
    assert_repairable(ran.out, name)


def test_list_why_says_how_a_rule_is_in_force(project: Project) -> None:
    """A good rule has a reason too."""
    project.rules(foo=FOO, law=rule_text("The law.", alwaysApply=True))
    assert project.run("list", "--why", "foo").out == (
        "foo (.omp/rules/foo.md): in-force, as a trigger (interruptMode always).\n"
    )
    assert "text that always stands in the prompt" in project.run("list", "--why", "law").out


def test_list_why_tells_of_every_file_of_a_name(project: Project) -> None:
    """The one that counts first; the shadowed one is compiled all the same, to be told about."""
    project.rules(foo=FOO)
    project.write({".dsh/rules/foo.md": rule_text("Other.", condition="foo(")})
    counts, shadowed, problem, _ = project.run("list", "--why", "foo").out.split("\n")
    assert "in-force" in counts
    assert shadowed.startswith("foo (.dsh/rules/foo.md): off; shadowed: another file")
    assert problem.startswith("  .dsh/rules/foo.md:2: error[bad-pattern]")


def test_list_why_is_for_one_agent(project: Project) -> None:
    """A rule for other agents says so, and is in force for them."""
    project.rules(foo=rule_text("No.", condition="foo", agents="sub"))
    assert "off; agent-filter: its `agents`" in project.run("list", "--why", "foo").out
    assert "in-force" in project.run("list", "--why", "foo", "--agent", "sub").out


# ---- show


@pytest.mark.case(86)
@pytest.mark.parametrize("command", [("show",), ("list", "--why")])
def test_unknown_rule_is_answered_with_those_there_are(
    project: Project, command: tuple[str, ...]
) -> None:
    """Or with none, where there are none."""
    assert "Available: none." in project.run(*command, "foo").err
    project.rules(b=FOO, a=FOO)
    ran = project.run(*command, "foo")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == "there is no rule 'foo' here. Available: a, b.\n"
    ran = project.run(*command, "foo", "--json")
    assert (ran.status, set(ran.json)) == (2, {"error"})


def test_show_gives_fields_and_text(project: Project) -> None:
    """What the file asks for, and what the model would be told."""
    project.rules(foo=FOO)
    out = project.run("show", "foo").out
    assert out.startswith("foo (.omp/rules/foo.md): in-force, as a trigger")
    assert "  condition: foo\n" in out
    assert "  scope: text\n" in out
    assert out.endswith("\n\nSay it kindly.\n")
    assert project.run("show", "foo", "--json").json["body"] == "Say it kindly."


# ---- lint


@pytest.mark.parametrize("name", FAULTS)
def test_lint_is_enough_to_repair_a_rule(broken: Project, name: str) -> None:
    """One line a problem tells all of it."""
    ran = broken.run("lint")
    assert ran.status == 1
    assert_repairable(ran.out, name)


@pytest.mark.parametrize("name", FAULTS)
def test_lint_as_json_has_the_same_facts(broken: Project, name: str) -> None:
    """Apart, for programs."""
    line, code, field, _ = FAULTS[name]
    problems = broken.run("lint", "--json").json["problems"]
    (problem,) = (
        each for each in problems if (each["file"], each["code"]) == (f".omp/rules/{name}.md", code)
    )
    assert (problem["line"], problem["field"]) == (line, field or problem["field"])
    assert problem["advice"]


def test_every_broken_fixture_has_its_expectation() -> None:
    """A new broken file needs to be said what is wrong with it."""
    assert {path.stem for path in BROKEN.iterdir()} == set(FAULTS)


def test_lint_of_good_rules_is_quiet(project: Project) -> None:
    """Status 0, noughts, and how many files were read: none of them looks just as good."""
    project.rules(foo=FOO)
    ran = project.run("lint")
    assert (ran.status, ran.out) == (
        0,
        "0 errors, 0 warnings, 0 notes in 1 rule file\n",
    )
    assert project.run("lint", "--json").json["summary"] == {
        "errors": 0,
        "warnings": 0,
        "notes": 0,
    }


def test_lint_fails_on_warnings_where_asked(project: Project) -> None:
    """A misspelt key alone is a warning."""
    project.rules(foo=rule_text("No.", condition="foo", scop="text"))
    assert project.run("lint").status == 0
    assert project.run("lint", "--strict").status == 1


# ---- prompt and config


def test_prompt_is_what_the_model_gets(project: Project) -> None:
    """Always-apply rules whole, then the rulebook; the latter not without tools."""
    project.rules(
        law=rule_text("The law.", alwaysApply=True), book=rule_text("A book.", description="Books")
    )
    out = project.run("prompt").out
    assert out.index('<rule name="law">') < out.index("- book: Books [.omp/rules/book.md]")
    assert "domain-rules" not in project.run("prompt", "--no-tools").out
    ran = project.run("prompt", "--json")
    assert (ran.json["always"], ran.json["rulebook"]) == (["law"], ["book"])
    assert ran.json["text"] == out.rstrip("\n")


def test_prompt_of_no_layers_is_empty(project: Project) -> None:
    """And says so where a person looks."""
    ran = project.run("prompt")
    assert (ran.status, ran.out) == (0, "")
    assert "adds anything" in ran.err


def test_config_prints_what_is_in_force(project: Project) -> None:
    """With the file that it comes from; as JSON nested as in the file."""
    out = project.run("config").out
    assert f"# from {project.root.parent / 'ttsr.yaml'}" in out
    assert "ttsr.builtinRules: false\n" in out
    assert project.run("config", "--json").json["ttsr"]["builtinRules"] is False


def test_config_masks_secrets(project: Project) -> None:
    """Neither the token nor a URL's credentials are shown."""
    (project.root / "ttsr.yaml").write_text(
        "listen: {token: hunter2}\nupstream: {url: 'http://me:hunter2@127.0.0.1/v1'}\n"
    )
    for flags in ((), ("--json",)):
        assert "hunter2" not in project.run("config", *flags).out


def test_config_gives_the_schema(project: Project) -> None:
    """Of the settings file, for editors."""
    schema = json.loads(project.run("config", "--schema").out)
    assert "ttsr" in schema["properties"]


def assert_repairable(out: str, name: str) -> None:
    line, code, field, words = FAULTS[name]
    place = f".omp/rules/{name}.md" + (f":{line}" if line else "")
    (told,) = (each for each in out.split("\n") if f"{place}: " in each and f"[{code}]" in each)
    assert field is None or f"`{field}`: " in told
    assert "Next step: " in told
    assert not [word for word in words if word not in told]

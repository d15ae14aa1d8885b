from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.discovery import (
    MOST_FILES,
    Kind,
    Provider,
    Roots,
    Tree,
    TreeEntry,
    Unread,
    ancestors,
    collect,
    discover,
    rules_in,
    up_to_repository,
)
from rules_engine.problems import Code
from rules_engine.rule import Bucket, Origin
from rules_engine.ruleset import Reason, RuleSetOptions, build
from tests.support.trees import DictTree

ROOTS = Roots(
    home="/home/u",
    workspace="/home/u/w",
    user_rules_dir="/home/u/.omp/agent",
    dsh_home="/home/u/.dsh",
    plugin_roots=("/opt/p",),
    copilot_dirs=("/opt/c",),
    builtins="/lib/builtin",
)
PLACES = (
    "/home/u/w/.omp/rules/a.md",
    "/home/u/w/.dsh/rules/a.md",
    "/home/u/.omp/agent/rules/a.md",
    "/home/u/.dsh/rules/a.md",
    "/home/u/.omp/agent/RULES.md",
    "/home/u/w/.omp/RULES.md",
    "/opt/p/rules/a.mdc",
    "/home/u/w/.agent/rules/a.md",
    "/home/u/w/.agents/rules/a.md",
    "/home/u/.agents/rules/a.md",
    "/home/u/w/.claude/rules/a.md",
    "/home/u/.claude/rules/a.md",
    "/home/u/w/.cursor/rules/a.mdc",
    "/home/u/.cursor/rules/a.mdc",
    "/home/u/w/.windsurf/rules/a.md",
    "/home/u/.codeium/windsurf/memories/global_rules.md",
    "/home/u/w/.clinerules/a.md",
    "/home/u/w/.github/instructions/a.instructions.md",
    "/opt/c/.github/instructions/a.instructions.md",
    "/lib/builtin/a.md",
)


def test_collect_orders_conventions_by_priority() -> None:
    """Bundled rules come last of all, equals by name."""
    assert [(provider.name, provider.priority) for provider in collect()] == [
        ("native", 100),
        ("omp-plugins", 90),
        ("agents", 70),
        ("claude", 60),
        ("cursor", 50),
        ("windsurf", 50),
        ("cline", 40),
        ("github", 30),
        ("builtin-defaults", 1),
    ]


def test_discover_reads_every_place_in_precedence_order() -> None:
    """Project before user for every convention, shadowed files included, paths as shown."""
    rules, problems = discover(DictTree({place: f"Body of {place}" for place in PLACES}), ROOTS)
    assert [rule.body.removeprefix("Body of ") for rule in rules] == list(PLACES)
    assert [problem.code for problem in problems] == [Code.MISSING_APPLY_TO] * 2
    assert not any("/home/" in rule.path for rule in rules)
    assert rules[0].path == ".omp/rules/a.md"
    assert rules[2].path == "~/.omp/agent/rules/a.md"
    assert rules[-1].path == "builtin-defaults:a.md"
    assert {rule.origin for rule in rules} == set(Origin)


@pytest.mark.case(5)
def test_discover_leaves_out_what_is_switched_off_by_its_file() -> None:
    """Such a file claims no name, so the next of that name is used."""
    tree = DictTree(
        {
            "/home/u/w/.omp/rules/a.md": "---\nenabled: false\n---\nproject",
            "/home/u/.omp/agent/rules/a.md": "user",
        }
    )
    rules, problems = discover(tree, ROOTS)
    assert [rule.body for rule in rules] == ["user"]
    assert [problem.code for problem in problems] == [Code.SWITCHED_OFF]


@pytest.mark.case(50)
def test_discover_lists_shadowed_rules_behind_the_winner() -> None:
    """Native wins over cursor, and the other is marked as shadowed."""
    tree = DictTree(
        {"/home/u/w/.cursor/rules/a.mdc": "cursor", "/home/u/w/.omp/rules/a.md": "native"}
    )
    rules, _ = discover(tree, ROOTS)
    listed = build(rules, RuleSetOptions()).listed
    assert [(each.rule.body, each.reason) for each in listed] == [
        ("native", Reason.NO_TRIGGER),
        ("cursor", Reason.SHADOWED),
    ]
    assert {each.bucket for each in listed} == {Bucket.INACTIVE}


@pytest.mark.case(51)
def test_discover_puts_project_rules_before_bundled_ones() -> None:
    """A project rule of a bundled name comes first."""
    tree = DictTree({"/lib/builtin/a.md": "bundled", "/home/u/w/.clinerules/a.md": "project"})
    rules, _ = discover(tree, ROOTS)
    assert [rule.body for rule in rules] == ["project", "bundled"]


@pytest.mark.case(61)
def test_discover_goes_on_past_an_unreadable_file() -> None:
    """It is a problem at its shown path, others load, and its name stays free."""
    path = "/home/u/w/.omp/rules/a.md"
    tree = DictTree(
        {
            path: Unread(Code.UNREADABLE, path, "Permission denied"),
            "/home/u/w/.omp/rules/b.md": "b",
            "/home/u/.omp/agent/rules/a.md": "user's",
        }
    )
    rules, problems = discover(tree, ROOTS)
    assert [rule.body for rule in rules] == ["b", "user's"]
    assert [(problem.code, problem.file) for problem in problems] == [
        (Code.UNREADABLE, ".omp/rules/a.md")
    ]


@pytest.mark.case(62)
def test_discover_lets_an_empty_body_claim_no_name() -> None:
    """A good rule is not hidden by a file without text."""
    tree = DictTree(
        {
            "/home/u/w/.omp/rules/a.md": "---\ncondition: x\n---\n",
            "/home/u/.omp/agent/rules/a.md": "good",
        }
    )
    rules, problems = discover(tree, ROOTS)
    assert [rule.body for rule in rules] == ["good"]
    assert [problem.code for problem in problems] == [Code.EMPTY_BODY]


@pytest.mark.case(60)
@pytest.mark.parametrize(
    "path",
    [
        "/home/u/w/.omp/rules/sub/x.md",
        "/home/u/w/.claude/rules/sub/x.md",
        "/home/u/w/.cursor/rules/sub/x.md",
        "/home/u/w/.omp/rules/.hidden.md",
        "/home/u/w/.omp/rules/x.txt",
        "/home/u/w/.omp/rules/x.MD",
    ],
)
def test_discover_does_not_recurse(path: str) -> None:
    """Only GitHub's instructions are read at any depth; hidden and other files never."""
    assert discover(DictTree({path: "x"}), ROOTS) == ((), ())


@pytest.mark.case(63)
def test_discover_finds_nothing_in_nothing() -> None:
    """No directories, no rules, no problems; nor without any root at all."""
    assert discover(DictTree({}), ROOTS) == ((), ())
    assert discover(DictTree(dict.fromkeys(PLACES, "x")), Roots()) == ((), ())


def test_discover_takes_given_conventions_alone() -> None:
    """The caller may choose."""
    tree = DictTree(dict.fromkeys(PLACES, "x"))
    assert discover(tree, ROOTS, providers=()) == ((), ())


def test_rules_in_reports_what_concerns_rules() -> None:
    """A bad link is a problem where it is named like a rule, or is the directory itself."""

    class Linked(DictTree):
        def list(self, directory: str) -> tuple[tuple[TreeEntry, ...], tuple[Unread, ...]]:
            paths = (f"{directory}/x.md", f"{directory}/notes.txt", directory)
            return (), tuple(Unread(Code.BAD_LINK, path) for path in paths)

    found = list(rules_in(Linked({}), "/r", Origin.USER))
    assert found == [Unread(Code.BAD_LINK, "/r/x.md"), Unread(Code.BAD_LINK, "/r")]


def test_rules_in_has_a_limit() -> None:
    """A directory of too many files is a problem, and the first by name are read."""
    tree = DictTree({f"/r/{number:05}.md": "x" for number in range(MOST_FILES + 1)})
    found = list(rules_in(tree, "/r", Origin.USER))
    assert isinstance(found[0], Unread)
    assert found[0].code is Code.TOO_MANY
    assert len(found) == MOST_FILES + 1


def test_up_to_repository_stops_at_its_root() -> None:
    """Outside a repository only the workspace itself is looked at."""
    tree = DictTree({"/r/.git/HEAD": "", "/x/y/z": ""})
    assert up_to_repository(tree, "/r/a/b") == ("/r/a/b", "/r/a", "/r")
    assert up_to_repository(tree, "/x/y") == ("/x/y",)
    assert list(ancestors("/a/b")) == ["/a/b", "/a", "/"]


def test_shown_paths_are_never_absolute_home_paths() -> None:
    """Relative to the workspace, else to home."""
    assert ROOTS.shown("/home/u/w/a.md") == "a.md"
    assert ROOTS.shown("/home/u/x/a.md") == "~/x/a.md"
    assert ROOTS.shown("/opt/p/a.md") == "/opt/p/a.md"
    assert Roots(home="/").shown("/etc/a.md") == "/etc/a.md"


_CONTENT = st.one_of(
    st.sampled_from(["", "x", "---\nenabled: false\n---\nx", "---\napplyTo: '**'\n---\nx"]),
    st.binary(max_size=12),
    st.just(Unread(Code.UNREADABLE, "/gone")),
)
_PATHS = st.one_of(
    st.sampled_from([*PLACES, "/home/u/w/.clinerules", "/home/u/.git/x", "/home/u/w/.omp"]),
    st.lists(
        st.sampled_from(["home", "u", "w", ".omp", "rules", ".github", "instructions", "a.md"]),
        min_size=1,
        max_size=6,
    ).map(lambda parts: "/" + "/".join(parts)),
)


@pytest.mark.parametrize("provider", collect(), ids=lambda provider: provider.name)
@given(files=st.dictionaries(_PATHS, _CONTENT, max_size=8))
def test_convention_never_raises_and_gives_sound_rules(
    provider: Provider, files: dict[str, str | bytes | Unread]
) -> None:
    """On any tree a convention gives rules with a name, a body and a shown path."""
    tree: Tree = DictTree(files)
    rules, problems = discover(tree, ROOTS, [provider])
    for rule in rules:
        assert rule.name
        assert rule.body
        assert rule.convention == provider.name
        assert not rule.path.startswith("/home/u")
    assert all(problem.render() for problem in problems)
    assert discover(tree, ROOTS, [provider]) == (rules, problems)


def test_dict_tree_knows_kinds() -> None:
    """The support tree answers as a disk would."""
    tree = DictTree({"/a/b": "x"})
    assert (tree.kind("/a"), tree.kind("/a/b"), tree.kind("/c")) == (
        Kind.DIRECTORY,
        Kind.FILE,
        None,
    )

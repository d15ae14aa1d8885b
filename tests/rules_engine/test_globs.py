from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.globs import Glob, parse_globs, path_candidates, split_commas
from rules_engine.problems import Code


def fits(pattern: str, path: str, workspace: str | None = None) -> bool:
    return Glob(pattern).matches(path_candidates(path, workspace))


@pytest.mark.case(42)
def test_glob_without_slash_matches_by_base_name() -> None:
    """A pattern without a slash is tried on the base name of a deep path."""
    assert fits("*.ts", "src/deep/a.ts")


@pytest.mark.case(43)
def test_glob_star_stays_within_a_segment() -> None:
    """`src/*.ts` does not reach into a directory below."""
    assert not fits("src/*.ts", "src/deep/a.ts")
    assert fits("src/*.ts", "src/a.ts")


@pytest.mark.case(44)
def test_glob_is_case_sensitive() -> None:
    """`*.TS` is not `a.ts`."""
    assert not fits("*.TS", "a.ts")


@pytest.mark.case(45)
def test_glob_reads_ranges() -> None:
    """`[ab]`, `[!a]` and `[a-c]` are character ranges."""
    assert fits("[ab].ts", "a.ts")
    assert not fits("[!a].ts", "a.ts")
    assert fits("[a-c].ts", "b.ts")


@pytest.mark.case(46)
def test_glob_matches_the_relative_form_of_an_absolute_path() -> None:
    """An absolute path inside the workspace is tried relative to it."""
    assert fits("src/**", "/w/p/src/x/a.ts", "/w/p")
    assert not fits("src/**", "/w/other/src/a.ts", "/w/p")


@pytest.mark.case(47)
def test_glob_matches_windows_paths() -> None:
    """Backslashes of a path are separators."""
    assert fits("src/**/*.ts", "src\\deep\\a.ts")
    assert fits("src/*.ts", "C:\\w\\p\\src\\a.ts", "c:\\w\\p")


@pytest.mark.case(48)
@pytest.mark.parametrize(
    "pattern",
    [
        "{a,b",
        "a}",
        "[ab",
        "a]",
        "a\\",
        "!a.ts",
        "[z-a]",
        "[]",
        "[a/b]",
        "{a,b}" * 20,
        "{" * 9,
        "a" * 1025,
        "{,}",
    ],
)
def test_glob_malformed_matches_nothing(pattern: str) -> None:
    """A malformed glob matches nothing, is a problem at load, and raises nothing."""
    globs, problems = parse_globs([pattern], file="r.md", field="globs", line=2)
    assert globs == (Glob(pattern),)
    assert [problem.code for problem in problems] == [Code.BAD_GLOB]
    assert not any(fits(pattern, path) for path in ("a", "b", "a.ts", "ab", pattern))


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("**/x.ts", "x.ts", True),
        ("**/x.ts", "a/b/x.ts", True),
        ("**/x.ts", "myx.ts", False),
        ("foo/**/bar", "foo/bar", True),
        ("foo/**/bar", "foo/a/b/bar", True),
        ("foo/**/bar", "foo/xbar", False),
        ("src/**", "src/a", True),
        ("src/**", "src", False),
        ("**", ".hidden/x", True),
        ("*", ".env", True),
        (".github/*", ".github/x.yml", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("{a,{b,c}}/**/*.{ts,tsx}", "c/x/y.tsx", True),
        ("*.{ts}", "a.ts", True),
        ("{1..3}.ts", "2.ts", True),
        ("./src/*.ts", "src/a.ts", True),
        ("src\\lib\\*.ts", "src/lib/a.ts", True),
        ("\\{a\\}", "{a}", True),
        ("a\\*b", "a*b", True),
        ("a\\*b", "axb", False),
        ("**/*.ts", "../a.ts", True),
        ("a//b", "a/b", True),
        ("a/**/**/b", "a/x/b", True),
        ("**", "a" * 5000, False),
        ("*.ts", "a.ts\n", True),
        ("é*", "école", True),
    ],
)
def test_glob_meaning(pattern: str, path: str, matches: bool) -> None:  # noqa: FBT001 - a table
    """Whole segments for `**`, dot files included, braces nested, escapes taken literally."""
    assert fits(pattern, path) is matches


def test_glob_with_many_stars_stays_quick() -> None:
    """No pattern and path make matching explode: only the last `**` is gone back to."""
    assert not fits("**/a*/" * 40 + "b", "a/" * 400 + "c")
    assert not fits("*a" * 60 + "b", "a" * 400)


@given(st.text(alphabet="ab*?[]{},!/\\.-é", max_size=12), st.text("ab/.\\é", max_size=12))
def test_glob_never_raises(pattern: str, path: str) -> None:
    """Any pattern is either read or malformed."""
    fits(pattern, path, "/w")


@given(st.lists(st.sampled_from(["a", "b", "a.ts", ".x"]), min_size=1, max_size=6))
def test_glob_double_star_takes_any_path(segments: list[str]) -> None:
    """`**/*` and `**` match every relative path."""
    path = "/".join(segments)
    assert fits("**", path)
    assert fits("**/*", path)
    assert fits(f"**/{segments[-1]}", path)


@pytest.mark.parametrize(
    ("path", "workspace", "candidates"),
    [
        ("./src/a.ts", None, ("./src/a.ts", "src/a.ts")),
        ("src/../a.ts", "/w", ("src/../a.ts", "a.ts", "/w/a.ts")),
        ("/w/p/a.ts", "/w/p/", ("/w/p/a.ts", "a.ts")),
        ("/w/pq/a.ts", "/w/p", ("/w/pq/a.ts",)),
        ("../x.ts", "/w/p", ("../x.ts", "/w/x.ts")),
        ("C:\\w\\a.ts", "c:/w", ("C:/w/a.ts", "a.ts")),
        ("a.ts", "label", ("a.ts",)),
        ("  ", "/w", ()),
    ],
)
def test_path_candidates(path: str, workspace: str | None, candidates: tuple[str, ...]) -> None:
    """As written, plain, absolute, and relative to the workspace if inside."""
    assert path_candidates(path, workspace) == candidates


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a.ts, b.ts", ("a.ts", "b.ts")),
        ("{a,b}.ts, c.ts", ("{a,b}.ts", "c.ts")),
        ("[a,b].ts,,", ("[a,b].ts",)),
        ("\"text\",'thinking'", ("text", "thinking")),
        ("it's/*.ts, b", ("it's/*.ts", "b")),
        ("tool(a,b), text", ("tool(a,b)", "text")),
        ("'a,b', c", ("a,b", "c")),
        ("", ()),
    ],
)
def test_split_commas(text: str, parts: tuple[str, ...]) -> None:
    """Commas inside brackets, braces and quotes split nothing."""
    assert split_commas(text) == parts

"""The bundled rules against their pages of snippets, and what all of them have in common."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest

from rules_engine.rule import InterruptMode
from rules_engine.scope import Surface
from tests.support.literate import PAGES, Snippet, bundled, matched, snippets

ALL = [snippet for page in sorted(PAGES.glob("*.md")) for snippet in snippets(page)]
HITS = [snippet for snippet in ALL if snippet.hits]
NAMES = sorted(live.rule.name for live in bundled().live)
FEWEST = 6


@pytest.mark.case(177)
@pytest.mark.parametrize("snippet", HITS, ids=str)
def test_a_hit_is_of_its_rule_and_of_those_that_the_page_names(snippet: Snippet) -> None:
    """The rule is among the matches, whichever tool writes, and no unnamed one is."""
    expected = {snippet.rule} | snippet.also
    assert matched(snippet.file, snippet.text) == expected
    assert matched(snippet.file, snippet.text, "edit") == expected


@pytest.mark.case(178)
@pytest.mark.parametrize("snippet", [each for each in ALL if not each.hits], ids=str)
def test_a_near_miss_is_no_hit(snippet: Snippet) -> None:
    """The rule is not among the matches."""
    assert snippet.rule not in matched(snippet.file, snippet.text)


@pytest.mark.case(179)
@pytest.mark.parametrize("snippet", HITS, ids=str)
@pytest.mark.parametrize("extension", [".txt", ".md", ".py", ""])
def test_a_hit_in_a_file_of_another_extension_is_none(snippet: Snippet, extension: str) -> None:
    """The same text in other files concerns no bundled rule."""
    assert not matched(str(PurePosixPath(snippet.file).with_suffix(extension)), snippet.text)


def test_bundled_rules_watch_edits_and_writes_alone() -> None:
    """A shell command or a question that holds the code is no hit."""
    assert not {name for each in HITS for name in matched(each.file, each.text, "bash")}
    assert not any(
        live.rule.may_watch(surface)
        for live in bundled().live
        for surface in (Surface.TEXT, Surface.THINKING)
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_bundled_rule_has_a_page_with_enough_on_both_sides(name: str) -> None:
    """Six snippets that hit and six that do not, at least."""
    page = snippets(PAGES / f"{name}.md")
    assert sum(each.hits for each in page) >= FEWEST
    assert sum(not each.hits for each in page) >= FEWEST


def test_a_page_is_of_a_bundled_rule() -> None:
    """No page outlives its rule."""
    assert sorted({snippet.rule for snippet in ALL}) == NAMES


@pytest.mark.case(180)
def test_a_bundled_pattern_with_line_anchors_is_multiline() -> None:
    """A bare `^` or `$` without the flag would mean the whole text."""
    patterns = [pattern for live in bundled().live for pattern in live.rule.conditions]
    anchored = [each for each in patterns if re.search(r"[\^$]", _without_classes(each))]
    assert anchored
    assert all(pattern.startswith("(?m)") for pattern in anchored)


def _without_classes(pattern: str) -> str:
    return re.sub(r"\[(?:\\.|[^\]\\])*\]", "", re.sub(r"\\[^\[\]]", "", pattern))


@pytest.mark.case(181)
def test_the_bundled_set_is_complete_and_quiet() -> None:
    """27 rules, 22 by pattern and 5 by structure, described, never interrupting, no problems."""
    live = bundled().live
    assert len(live) == 27
    assert sum(bool(each.patterns) and not each.structures for each in live) == 22
    assert sum(bool(each.structures) and not each.patterns for each in live) == 5
    assert all(each.rule.description and not each.rule.globs for each in live)
    assert {each.mode for each in live} == {InterruptMode.NEVER}
    assert bundled().problems == ()


@pytest.mark.case(181)
def test_a_bundled_rule_has_an_edit_and_a_write_for_each_glob() -> None:
    """Its scope is these two tools, restricted to the same files."""
    for live in bundled().live:
        tokens = {(token.tool, token.glob) for token in live.rule.scope}
        globs = {glob for _, glob in tokens}
        assert None not in globs
        assert tokens == {(tool, glob) for tool in ("edit", "write") for glob in globs}


@pytest.mark.case(182)
def test_the_second_version_of_math_rand_is_no_hit() -> None:
    """The quotes are part of the pattern, so a longer path is another package."""
    assert matched("dice.go", 'import "math/rand"\n') == {"go-rand-v2"}
    assert not matched("dice.go", 'import "math/rand/v2"\n')


@pytest.mark.parametrize("name", NAMES)
def test_a_bundled_body_shows_what_to_do(name: str) -> None:
    """Each says something in prose and in an example, and is short enough to be read."""
    body = next(live.rule.body for live in bundled().live if live.rule.name == name)
    assert body.count("```") == 2
    assert 200 < len(body) < 1600

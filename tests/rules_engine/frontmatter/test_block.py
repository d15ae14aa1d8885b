from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.frontmatter.block import Block, cut


@pytest.mark.case(1)
def test_cut_without_frontmatter_is_all_body() -> None:
    """The whole trimmed text is the body."""
    assert cut("\n  plain text \n") == Block(None, "plain text")


@pytest.mark.case(18)
def test_cut_finds_frontmatter_below_a_comment() -> None:
    """A comment in front, even one with a fence in it, does not hide the frontmatter."""
    block = cut("<!-- note\n---\n-->\n---\na: 1\n---\nbody")
    assert (block.yaml, block.body, block.line) == ("\na: 1", "body", 4)


@pytest.mark.case(19)
def test_cut_without_closer_is_all_body() -> None:
    """An opened block that is never closed is text, and that is said."""
    assert cut("---\na: 1\n") == Block(None, "---\na: 1", unclosed=True)


def test_cut_masks_comment_lines_in_the_block_alone() -> None:
    """A comment line in the block is blank there; the body keeps its comments."""
    block = cut("---\na: 1\n<!-- x\n---\n-->\nb: 2\n---\n<!-- kept -->\nbody")
    assert block.yaml is not None
    assert block.yaml.split() == ["a:", "1", "b:", "2"]
    assert block.body == "<!-- kept -->\nbody"


def test_cut_leaves_comments_inside_values() -> None:
    """A pattern about comments survives, whatever stands in the body."""
    block = cut("---\ncondition: '<!--'\nother: 'a <!-- b -->'\n---\nuse no --> here")
    assert block.yaml == "\ncondition: '<!--'\nother: 'a <!-- b -->'"


@pytest.mark.parametrize(
    ("text", "yaml", "body"),
    [
        ("---\n---\nb", "", "b"),
        ("---\na: 1\n--- rest\nb", "\na: 1", "rest\nb"),
        ("--- # c\na: 1\n---", " # c\na: 1", ""),
        ("----\nno\n---\n", None, "----\nno\n---"),
        ("\n\n---\na: 1\n---\nb", "\na: 1", "b"),
        ("---\na: 1\n ---\nb\n---\nc", "\na: 1\n ---\nb", "c"),
    ],
)
def test_cut_fences(text: str, yaml: str | None, body: str) -> None:
    """The first later line that begins with the dashes closes the block."""
    block = cut(text)
    assert (block.yaml, block.body) == (yaml, body)


@given(st.lists(st.sampled_from(["---", "\n", "<!--", "-->", "a: b", " ", "x"]), max_size=24))
def test_cut_loses_no_body(parts: list[str]) -> None:
    """The body is always the end of the file as written."""
    text = "".join(parts)
    assert text.strip().endswith(cut(text).body)

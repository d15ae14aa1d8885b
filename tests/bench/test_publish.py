"""Figures of one run, put into the document."""

from __future__ import annotations

from pathlib import Path

from bench.publish import PAGE, PLACE, publish
from tests.support.made_tables import names


def test_a_report_replaces_the_figures_of_the_last_one(tmp_path: Path) -> None:
    """All of them, a level below the document's headings; nothing else of the page changes."""
    page, report = tmp_path / "page.md", tmp_path / "report.md"
    page.write_text("# Page\n\n<!-- made: report -->\nold\n<!-- end -->\n\nWhy.\n", "utf-8")
    report.write_text("# Report\n\nOf today.\n\n## Targets\n\n| 1 | `a\\|b\\1` |\n", "utf-8")
    publish(report, page)
    made = "Of today.\n\n### Targets\n\n| 1 | `a\\|b\\1` |"
    wanted = f"# Page\n\n<!-- made: report -->\n\n{made}\n\n<!-- end -->\n\nWhy.\n"
    assert page.read_text("utf-8") == wanted


def test_the_document_has_a_place_for_them() -> None:
    """One, with figures in it."""
    text = PAGE.read_text(encoding="utf-8")
    assert names(text) == [PLACE]
    assert "| # | what | ours | reference | measured | target | verdict |" in text

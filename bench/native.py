"""The programs in C: the fast upstream and the load client, compiled where they are not yet."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent
_FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror")


class NotCompiledError(Exception):
    """The programs cannot be had here; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Programs:
    """Where the compiled programs are."""

    upstream: Path
    load: Path


def compiled(folder: Path = _HERE / "build") -> Programs:
    """Compile what is missing or older than its source; raises NotCompiledError."""
    return Programs(_compiled("upstream", folder), _compiled("load", folder))


def _compiled(name: str, folder: Path) -> Path:
    sources, program = _HERE / "native", folder / name
    source = sources / f"{name}.c"
    newest = max(path.stat().st_mtime for path in sources.iterdir())
    if program.exists() and program.stat().st_mtime >= newest:
        return program
    compiler = os.environ.get("CC", "cc")
    if shutil.which(compiler) is None:
        raise NotCompiledError(
            f"there is no C compiler ({compiler}), and upstream and load client are written in C; "
            "install one (Debian: apt-get install gcc libc6-dev) or name it with CC"
        )
    folder.mkdir(parents=True, exist_ok=True)
    # Whoever else compiles at the same time must not meet half a program.
    fresh = folder / f".{name}-{os.getpid()}"
    command = (compiler, *_FLAGS, "-o", str(fresh), str(source))
    ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own source
    if ran.returncode:
        raise NotCompiledError(f"{compiler} does not compile {source.name}:\n{ran.stderr}")
    return fresh.replace(program)

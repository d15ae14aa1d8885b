"""Lists of commands while they are read: the directory they are in, and what flows where."""

from __future__ import annotations

from dataclasses import dataclass, field

from rules_engine.globs import below
from rules_engine.shell.commands import Piece, Target
from rules_engine.shell.documents import Document
from rules_engine.shell.parts import Kind

NO_FILES = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")


@dataclass(slots=True, eq=False)
class Flow:
    """What commands print, and the files that it is written to."""

    pieces: list[Piece]
    targets: dict[str, bool] = field(default_factory=dict)  # path: appended to

    def write(self, target: Target, directory: str) -> None:
        """Write to one more file."""
        if target.path and target.path not in NO_FILES and not target.path.startswith("/dev/fd/"):
            path = below(directory, target.path)
            self.targets[path] = self.targets.get(path, False) or target.appends


@dataclass(slots=True, eq=False)
class Command:
    """A command while it is read.

    prints: what it prints, where it is a group. reads: what stands on its standard input, if it
    says so itself. redirect: the sign and the descriptor that the next word belongs to.
    lost: what it prints goes nowhere that is known.
    """

    words: list[str] = field(default_factory=list)
    prints: list[Piece] | None = None
    reads: list[Piece] | None = None
    target: Target | None = None
    lost: bool = False
    redirect: tuple[str, str] | None = None
    documents: list[Document] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Nothing of it was read."""
        return not (self.words or self.redirect or self.target or self.reads or self.lost) and (
            self.prints is None
        )


@dataclass(slots=True, eq=False)
class Frame:
    """A list of commands. `behind`: the sign in front of the pipeline that is being read.

    directory: where it is, below that of the tool. flows: those of the pipeline. piped: what the
    command before `|` prints. prints: what all of it prints.
    """

    kind: Kind
    directory: str
    command: Command = field(default_factory=Command)
    behind: str = ""
    flows: list[Flow] = field(default_factory=list)
    piped: Flow | None = None
    prints: list[Piece] = field(default_factory=list)
    left: list[str] = field(default_factory=list)  # directories, for `cd -` and `popd`
    function: bool = False  # a function's body comes next

    def go(self, directory: str) -> None:
        """Change the directory."""
        if directory == "-":
            self.directory = self.left.pop() if self.left else self.directory
            return
        self.left = [*self.left[-15:], self.directory]
        self.directory = below(self.directory, directory)

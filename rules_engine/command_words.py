"""Commands that a call gives word by word, as a list or as a name and its arguments."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field

from rules_engine.arguments import ArgumentPath
from rules_engine.families import Spec, ToolFamily, covers, parsed
from rules_engine.shell.commands import LOOKED_AT, script_follows, takes_patch


@dataclass(frozen=True, slots=True)
class Command:
    """A command as a line. `alone`: its only word, which is that line already."""

    family: ToolFamily
    line: str
    alone: bool = False


@dataclass(slots=True, eq=False)
class _Group:
    """The words of one command, by the arguments that hold them. `read`: one is a script."""

    words: dict[int, list[str]] = field(default_factory=dict)
    read: bool = False

    @property
    def short(self) -> bool:
        """Whether a script may follow: it stands near the beginning of a command."""
        return sum(map(len, self.words.values())) <= LOOKED_AT

    def flat(self) -> list[str]:
        return [word for at in sorted(self.words) for word in self.words[at]]


class _Shape:
    """Where a family has the words of its commands, and where a command ends."""

    def __init__(self, family: ToolFamily) -> None:
        self.family = family
        self.specs = tuple(map(parsed, family.words))
        # A lone word of an argument that is read as a command line is one.
        self.lines = {parsed(patch.argument) for patch in family.patches}
        self.around = _common(self.specs)
        self.groups: dict[ArgumentPath, _Group] = {}

    def place(self, path: ArgumentPath) -> int | None:
        return next((at for at, spec in enumerate(self.specs) if covers(spec, path)), None)

    def group(self, path: ArgumentPath) -> _Group:
        return self.groups.setdefault(path[: len(self.around)], _Group())


class CommandWords:
    """Follows the words of the commands that some families give so."""

    def __init__(self, families: Iterable[ToolFamily]) -> None:
        self._shapes = [_Shape(family) for family in families if family.words]

    def script(self, path: ArgumentPath) -> ToolFamily | None:
        """Give the family by which the word that begins at `path` is a script or a patch."""
        for shape in self._shapes:
            at = shape.place(path)
            if at is None:
                continue
            group = shape.group(path)
            follows = not isinstance(path[-1], int) or path[-1] == len(group.words.get(at, ()))
            words = group.flat() if follows and group.short and not group.read else []
            if script_follows(words) or takes_patch(words):
                group.read = True
                return shape.family
        return None

    def note(self, path: ArgumentPath, word: str) -> None:
        """Take a whole word."""
        for shape in self._shapes:
            at = shape.place(path)
            if at is not None:
                shape.group(path).words.setdefault(at, []).append(word)

    def ended(self, path: ArgumentPath) -> Command | None:
        """Give the command whose last word is behind it, unless it was read already."""
        for shape in self._shapes:
            group = shape.groups.pop(path, None) if covers(shape.around, path) else None
            if group is None or group.read:
                continue
            words = group.flat()
            if len(words) == 1 and shape.specs[0] not in shape.lines:
                return Command(shape.family, words[0], alone=True)
            if len(words) > 1:
                return Command(shape.family, shlex.join(words))
        return None


def _common(specs: tuple[Spec, ...]) -> Spec:
    """Give what several argument paths begin with alike; of a single list, the list."""
    if len(specs) == 1:
        return specs[0][:-1]
    length = 0
    while all(spec[length : length + 1] == specs[0][length : length + 1] for spec in specs):
        length += 1
    return specs[0][:length]

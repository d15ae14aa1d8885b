"""Rules on what shell commands write, for every shell tool of every agent, and in prose."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from proxy.agents import collect, tool_families
from rules_engine.decisions import Decision, Interrupt, Refuse
from rules_engine.events import (
    Finished,
    TextDelta,
    ToolArguments,
    ToolClosed,
    ToolNamed,
    ToolOpened,
)
from rules_engine.families import EditsInProse, PatchFormat, ProseFormat, ToolFamily, parsed
from rules_engine.policy import TurnOptions
from rules_engine.turn import Facts, Turn
from tests.support.family_calls import put
from tests.support.playbook import Wire, play
from tests.support.rules import rule_text, ruleset

AGENTS = collect()
WRITES = "tool:write(src/*.py), tool:edit(src/*.py)"
PATCH = "*** Begin Patch\n*** Update File: {path}\n@@\n SAME\n-{old}\n+{new}\n*** End Patch"
HITS = set[tuple[str, str | None]]


@dataclass(frozen=True, slots=True)
class Shell:
    """One way in which an agent's shell tool takes a command. `words`: one by one."""

    agent: str
    tool: str
    family: ToolFamily
    argument: str
    words: bool = False

    def __str__(self) -> str:
        return f"{self.agent}-{self.tool}-{self.argument}"

    def raw(
        self, command: str, more: Mapping[str, str] | None = None, *, turned: bool = False
    ) -> str:
        """The arguments of a call; `turned`: the others come in front of the command."""
        arguments: dict[str, Any] = {}
        if self.words:
            names = self.family.words
            words = ["bash", "-lc", command]
            for name in names:
                many = name.endswith("[]")
                for at, word in enumerate(words if many else words[:1]):
                    spec = parsed(name) if not many else (*parsed(name)[:-1], at)
                    put_words(arguments, spec, word)
                words = words if many else words[1:]
        else:
            put(arguments, parsed(self.argument), command, 0)
        told = dict(more or {})
        return json.dumps(told | arguments if turned else arguments | told)


def put_words(into: dict[str, Any], spec: tuple[str | int | None, ...], word: str) -> None:
    """Set a word where the last step is its position in a list."""
    place: Any = into
    steps = [0 if step is None else step for step in spec]
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        value: Any = word if following is None else [] if isinstance(following, int) else {}
        if isinstance(place, list):
            if len(place) <= int(step):
                place.append(value)
        else:
            place.setdefault(step, value)
        place = place[step]


def shells() -> Iterator[Shell]:
    for agent in AGENTS:
        for family in agent.families:
            for tool in family.tools:
                for patch in family.patches:
                    if patch.format is PatchFormat.SHELL:
                        yield Shell(agent.name, tool, family, patch.argument)
                if family.words:
                    yield Shell(agent.name, tool, family, family.words[-1], words=True)


SHELLS = list(shells())
each_shell = pytest.mark.parametrize("shell", SHELLS, ids=str)


def stopping(decisions: Iterable[Decision]) -> HITS:
    return {
        (hit.tool or "", hit.path)
        for decision in decisions
        if isinstance(decision, Interrupt | Refuse)
        for hit in decision.hits
    }


def hits(shell: Shell, raw: str, scope: str, piece: int = 0, condition: str = "BAD") -> HITS:
    """Tool and file of every hit that stops a message with this call."""
    rules = ruleset(foo=rule_text(condition=condition, scope=scope))
    facts = Facts(tools=(shell.tool,), families=tool_families(AGENTS, shell.agent))
    turn = Turn(rules, facts, TurnOptions(), {}, now=0.0)
    step = piece or len(raw)
    pieces = [raw[at : at + step] for at in range(0, len(raw), step)]
    wires: list[Wire] = [(ToolOpened(0, 0, "c"), ToolNamed(0, 0, shell.tool))]
    wires += [(ToolArguments(0, 0, each),) for each in pieces]
    return stopping(play(turn, [*wires, (ToolClosed(0, 0),), (Finished(),)]).decisions)


ADDED = {
    "document": "cat > src/a.py <<'E'\nBAD\nE\n",
    "tee": "tee src/a.py <<'E'\nBAD\nE\n",
    "echo": "echo 'so BAD' > src/a.py",
    "append": "printf '%s\\n' BAD >> src/a.py",
    "here-string": "cat > src/a.py <<< BAD",
    "pipe": "echo BAD | sudo tee -a src/a.py",
    "sed": "sed -i 's/good/BAD/' src/a.py",
    "sed of BSD": "sed -i '' -e '1i\\' -e BAD src/a.py",
    "patch": "apply_patch <<'E'\n" + PATCH.format(path="src/a.py", old="good", new="BAD") + "\nE",
    "after cd": "cd src && echo BAD > a.py",
    "script": "bash -c 'cd src; echo BAD > a.py'",
}
PASSED = {
    "removed by sed": "sed -i 's/BAD/good/; /BAD/d' src/a.py",
    "removed by a patch": "apply_patch <<'E'\n"
    + PATCH.format(path="src/a.py", old="BAD", new="good")
    + "\nE",
    "sibling": "echo BAD > src/a.md; echo good > src/a.py",
    "sibling of a patch": "apply_patch <<'E'\n"
    + PATCH.format(path="src/a.md", old="x", new="BAD")
    + "\nE",
    "elsewhere": "cd lib; echo BAD > src/a.py; echo BAD > a.py",
    "other command": "grep BAD src/a.py | sort > src/b.py; echo BAD",
    "comment": "echo good > src/a.py # BAD",
}


@each_shell
@pytest.mark.parametrize("command", ADDED.values(), ids=ADDED)
def test_construct_that_a_command_writes_is_a_hit(shell: Shell, command: str) -> None:
    """Under the file's path and whatever it does there, however the call is cut."""
    for piece in (0, 3):
        assert hits(shell, shell.raw(command), WRITES, piece) == {(shell.tool, "src/a.py")}


@each_shell
@pytest.mark.parametrize("command", PASSED.values(), ids=PASSED)
def test_construct_that_a_command_does_not_write_there_is_none(shell: Shell, command: str) -> None:
    """Removed, written to a sibling or in another directory, or no written text at all."""
    assert not hits(shell, shell.raw(command), WRITES)


@each_shell
@pytest.mark.parametrize("command", [*ADDED.values(), *PASSED.values(), "echo 'BAD"])
def test_command_is_matched_whole(shell: Shell, command: str) -> None:
    """As `bash` and as `shell`, also one that no shell could read."""
    for name in ("bash", "shell", shell.tool):
        assert (shell.tool, None) in hits(shell, shell.raw(command), f"tool:{name}")


@each_shell
def test_match_never_spans_two_writes(shell: Shell) -> None:
    """Two files, or two edits of one, are two texts."""
    for command in (
        "echo BAD > src/a.py; echo WORSE > src/b.py",
        "sed -i 's/x/BAD/;s/y/WORSE/' src/a.py",
    ):
        assert not hits(shell, shell.raw(command), WRITES, condition=r"BAD[\s\S]*WORSE")


IN_A_DIRECTORY = [
    (shell, name) for shell in SHELLS for name in shell.family.directory if "." not in name
]


@pytest.mark.parametrize(
    ("shell", "name"), IN_A_DIRECTORY, ids=[f"{s}-{n}" for s, n in IN_A_DIRECTORY]
)
@pytest.mark.parametrize("turned", [False, True], ids=["behind", "in front"])
def test_working_directory_is_applied(shell: Shell, name: str, *, turned: bool) -> None:
    """That of the call and that of the command, one below the other, wherever the former stands."""
    for command, directory, path in [
        ("echo BAD > a.py", "src", "src/a.py"),
        ("cd src; sed -i s/good/BAD/ a.py", ".", "src/a.py"),
        ("cat > a.py <<E\nBAD\nE", "lib/../src/", "src/a.py"),
        ("echo BAD > src/a.py", "lib", None),
        ("echo BAD > src/a.py", "", "src/a.py"),
    ]:
        raw = shell.raw(command, {name: directory}, turned=turned)
        # Zed's begin with the workspace's folder, which is `lib` then.
        rooted = "lib/src/a.py" if shell.family.rooted else None
        expected = {(shell.tool, path or rooted)} if path or rooted else set()
        for piece in (0, 3):
            assert hits(shell, raw, WRITES, piece) == expected


@pytest.mark.parametrize("shell", [s for s in SHELLS if s.words], ids=str)
def test_words_are_one_command(shell: Shell) -> None:
    """A command without a shell is read word by word, and matched as the line that it comes to."""
    words = shlex.split("sed -i 's/good/so BAD/' src/a.py")
    arguments: dict[str, Any] = {}
    for name in shell.family.words:
        many = name.endswith("[]")
        for at, word in enumerate(words if many else words[:1]):
            spec = (*parsed(name)[:-1], at) if many else parsed(name)
            put_words(arguments, spec, word)
        words = words if many else words[1:]
    raw = json.dumps(arguments)
    for piece in (0, 3):
        assert hits(shell, raw, WRITES, piece) == {(shell.tool, "src/a.py")}
        assert hits(shell, raw, "tool:bash", piece, r"sed -i 's/good/so BAD/' src")


PROSE = [
    ("```bash\n", "\n```"),
    ("```mswea_bash_command\n", "\n```"),
    ("<mswea_bash_command>\n", "\n</mswea_bash_command>"),
]


@pytest.mark.parametrize(("before", "behind"), PROSE)
@pytest.mark.parametrize("piece", [1, 4, 1_000])
def test_command_in_the_text_is_held_to_the_same(before: str, behind: str, piece: int) -> None:
    """What it writes counts as in a call."""
    rules = ruleset(foo=rule_text(condition="BAD", scope=WRITES))

    def found(command: str) -> HITS:
        text = f"I do it.\n{before}{command}{behind}\nDone."
        facts = Facts(edits=EditsInProse((ProseFormat.SHELL,)))
        turn = Turn(rules, facts, TurnOptions(), {}, now=0.0)
        wires: list[Wire] = [
            (TextDelta(0, text[at : at + piece]),) for at in range(0, len(text), piece)
        ]
        return stopping(play(turn, [*wires, (Finished(),)]).decisions)

    for command in ADDED.values():
        assert found(command) == {("bash", "src/a.py")}
    for command in PASSED.values():
        assert not found(command)

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proxy.config import Loaded, Settings, load
from proxy.foundry import FEW
from proxy.settings_file import SettingsFile
from proxy.workspace import (
    BUILTINS,
    MOST_LIVE,
    RulesNotReady,
    WorkspaceOptions,
    Workspaces,
)
from rules_engine.problems import Code
from rules_engine.rule import InterruptMode
from rules_engine.ruleset import Reason, RuleSet, RuleSetOptions

pytestmark = pytest.mark.anyio


class Clock:
    """Seconds that pass when a test says so. `stuck`: whoever asks waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class StuckClock(Clock):
    """A clock that keeps the threads that read it waiting, as a dead disk would."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.stuck = False

    def __call__(self) -> float:
        if self.stuck and threading.current_thread() is not threading.main_thread():
            self.go.wait(30)
        return self.now


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path.resolve() / "project"
    (place / ".omp" / "rules").mkdir(parents=True)
    (place / ".git").mkdir()
    return place


@pytest.fixture
def options(project: Path) -> WorkspaceOptions:
    home = project.parent / "home"
    home.mkdir()
    return WorkspaceOptions(
        workspace=project,
        home=home,
        user_rules_dir=home / ".omp" / "agent",
        dsh_home=home / ".dsh",
        builtins=None,
        loopback=False,
        poll=1.0,
    )


Made = Callable[..., Workspaces]


@pytest.fixture
def made() -> Iterator[Made]:
    """Makes workspaces that are closed behind the test, so that their threads end."""
    all_made: list[Workspaces] = []

    def make(*parts: Any, **more: Any) -> Workspaces:
        all_made.append(Workspaces(*parts, **more))
        return all_made[-1]

    yield make
    for each in all_made:
        each.close()


def write(place: Path, name: str = "a", text: str = "---\ncondition: bad\n---\nDo not.") -> Path:
    path = place / ".omp" / "rules" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def names(ruleset: RuleSet) -> list[str]:
    return [live.rule.name for live in ruleset.live]


async def test_ruleset_has_project_and_user_rules(
    project: Path, options: WorkspaceOptions, made: Made
) -> None:
    """Both are in force; paths are shown relative to the workspace or to home."""
    write(project)
    (options.home or project).joinpath(".cursor/rules").mkdir(parents=True)
    (options.home or project).joinpath(".cursor/rules/u.mdc").write_text(
        "---\ncondition: worse\n---\nNever."
    )
    ruleset = await made(options).ruleset()
    assert [live.rule.path for live in ruleset.live] == [
        ".omp/rules/a.md",
        "~/.cursor/rules/u.mdc",
    ]


@pytest.mark.case(63)
async def test_ruleset_of_an_empty_workspace_creates_nothing(
    options: WorkspaceOptions, made: Made
) -> None:
    """Discovery leaves the disk as it was."""
    before = sorted(options.workspace.parent.rglob("*"))
    ruleset = await made(options).ruleset()
    assert (ruleset.live, ruleset.problems) == ((), ())
    assert sorted(options.workspace.parent.rglob("*")) == before


@pytest.mark.case(64)
async def test_ruleset_follows_the_files(
    project: Path, options: WorkspaceOptions, made: Made
) -> None:
    """An edit, a new file and a removed one are in force once the files are looked at again."""
    clock = Clock()
    workspaces = made(options, clock)
    path = write(project)
    first = await workspaces.ruleset()
    path.write_text("---\ncondition: bad\n---\nOther advice.")
    assert await workspaces.ruleset() is first
    clock.now = 1
    second = await workspaces.ruleset()
    assert second.live[0].rule.body == "Other advice."
    assert first.live[0].rule.body == "Do not."
    write(project, "b")
    clock.now = 2
    assert names(await workspaces.ruleset()) == ["a", "b"]
    path.unlink()
    clock.now = 3
    assert names(await workspaces.ruleset()) == ["b"]


async def test_ruleset_is_the_same_while_nothing_changes(
    project: Path, options: WorkspaceOptions, made: Made
) -> None:
    """A touched file, or a stray one, does not compile anything anew."""
    clock = Clock()
    workspaces = made(options, clock)
    path = write(project)
    first = await workspaces.ruleset()
    clock.now = 1
    assert await workspaces.ruleset() is first
    path.touch()
    write(project, "notes").rename(path.parent / "notes.txt")
    clock.now = 2
    assert await workspaces.ruleset() is first


async def test_ruleset_reports_a_broken_file_and_keeps_the_others(
    project: Path, options: WorkspaceOptions, made: Made
) -> None:
    """Rule files never stop anything."""
    write(project)
    write(project, "b", "---\ncondition: '('\n---\nx")
    (project / ".omp/rules/c.md").symlink_to("/etc/passwd")
    ruleset = await made(options).ruleset()
    assert names(ruleset) == ["a"]
    assert [problem.code for problem in ruleset.problems] == [Code.BAD_LINK, Code.BAD_PATTERN]


async def test_faults_of_rule_files_are_logged_once(
    project: Path, options: WorkspaceOptions, caplog: pytest.LogCaptureFixture, made: Made
) -> None:
    """The log names the first and says where the others are, again only when they change."""
    clock = Clock()
    workspaces = made(options, clock)
    write(project, "b", "---\ncondition: '('\n---\nx")
    for clock.now in (0, 2):
        await workspaces.ruleset()
    (told,) = (record.getMessage() for record in caplog.records)
    assert "project have 1 error and 0 warnings" in told
    assert "error[bad-pattern]" in told
    write(project, "b")
    clock.now = 4
    await workspaces.ruleset()
    assert len(caplog.records) == 1


async def test_ruleset_depends_on_the_role(
    project: Path, options: WorkspaceOptions, made: Made
) -> None:
    """Each role has a set of its own."""
    write(project, "a", "---\ncondition: bad\nagents: sub\n---\nx")
    workspaces = made(options)
    assert names(await workspaces.ruleset()) == []
    assert names(await workspaces.ruleset(role="sub")) == ["a"]
    assert [(role, len(ruleset.live)) for _, role, ruleset in workspaces.live] == [
        ("main", 0),
        ("sub", 1),
    ]


async def test_ruleset_after_reconfiguring_obeys_the_new_settings(
    project: Path, options: WorkspaceOptions, made: Made
) -> None:
    """Settings are in force from the next turn on, without waiting for a look at the files."""
    write(project)
    workspaces = made(options, Clock())
    first = await workspaces.ruleset()
    workspaces.reconfigure(replace(options, rules=RuleSetOptions(disabled_rules=("a",))))
    assert names(await workspaces.ruleset()) == []
    assert names(first) == ["a"]


async def test_ruleset_asked_for_at_once_is_built_once(
    project: Path, options: WorkspaceOptions, made: Made
) -> None:
    """Concurrent first requests share one look at the disk."""
    write(project)
    workspaces = made(options)
    found = await asyncio.gather(*(workspaces.ruleset() for _ in range(8)))
    assert len({id(ruleset) for ruleset in found}) == 1


async def test_ruleset_that_takes_too_long_is_an_error_and_arrives_later(
    project: Path, options: WorkspaceOptions, made: Made
) -> None:
    """The first request waits for `rulesTimeout` at most; the look goes on meanwhile."""
    write(project)
    clock = StuckClock()
    clock.stuck = True
    workspaces = made(replace(options, rules_timeout=0.05), clock)
    with pytest.raises(RulesNotReady) as raised:
        await workspaces.ruleset()
    assert raised.value.status == 503
    assert str(project.parent) not in raised.value.message
    clock.go.set()
    workspaces.reconfigure(options)
    assert names(await workspaces.ruleset()) == ["a"]


async def test_ruleset_on_a_stuck_disk_is_the_last_good_one(
    project: Path, options: WorkspaceOptions, made: Made
) -> None:
    """A set that cannot be looked at again stays in force."""
    write(project)
    clock = StuckClock()
    workspaces = made(replace(options, rules_timeout=0.05), clock)
    workspaces.reconfigure(options)
    first = await workspaces.ruleset()
    workspaces.reconfigure(replace(options, rules_timeout=0.05))
    clock.stuck, clock.now = True, 9.0
    assert await workspaces.ruleset() is first
    clock.go.set()


async def test_ruleset_survives_a_defect_of_ours(
    project: Path, options: WorkspaceOptions, made: Made
) -> None:
    """A look that raises leaves the last good set in force; without one it is an error."""

    class BrokenClock(Clock):
        broken = False

        def __call__(self) -> float:
            if self.broken and threading.current_thread() is not threading.main_thread():
                raise RuntimeError("defect")
            return self.now

    write(project)
    clock = BrokenClock()
    workspaces = made(options, clock)
    first = await workspaces.ruleset()
    clock.broken, clock.now = True, 5.0
    assert await workspaces.ruleset() is first
    with pytest.raises(RulesNotReady):
        await workspaces.ruleset(role="sub")


async def test_ruleset_count_is_bounded(options: WorkspaceOptions, made: Made) -> None:
    """At most 32 are held; the one that was used last stays."""
    workspaces = made(options)
    for number in range(MOST_LIVE + 4):
        await workspaces.ruleset(role=f"r{number}")
        await workspaces.ruleset(role="r0")
    roles = [role for _, role, _ in workspaces.live]
    assert len(roles) == MOST_LIVE
    assert "r0" in roles
    assert "r1" not in roles


async def test_scanner_is_compiled_beside_the_turns(
    project: Path, options: WorkspaceOptions, made: Made
) -> None:
    """The first rule set is there without it; once it is, it serves, and other sets of them too."""
    pytest.importorskip("hyperscan")
    write(project)
    clock = Clock()
    workspaces = made(options, clock)
    first = (await workspaces.ruleset()).matcher
    assert first is not None
    await asyncio.gather(*workspaces._compiling)
    assert first.compiled
    clock.now += options.poll
    write(project, text="---\ncondition: bad\n---\nDo something else.")
    assert (await workspaces.ruleset()).matcher is first
    assert not workspaces._compiling
    workspaces.close()


async def test_close_ends_looking(options: WorkspaceOptions, made: Made) -> None:
    """Nothing new is begun after it."""
    workspaces = made(options)
    workspaces.close()
    with pytest.raises(RuntimeError):
        await workspaces.ruleset()


def test_directory_is_looked_up_again_after_a_while(
    project: Path, options: WorkspaceOptions, made: Made
) -> None:
    """A directory that appears later is found."""
    clock = Clock()
    workspaces = made(options, clock)
    late = str(project / "late")
    assert workspaces.directory(late) == str(project)
    Path(late).mkdir()
    clock.now = 1
    assert workspaces.directory(late) == late


async def test_user_links_reach_as_far_as_home_and_a_projects_no_further_than_itself(
    project: Path, options: WorkspaceOptions, made: Made
) -> None:
    """Dotfiles may be linked; a repository cannot reach into home."""
    home = options.home or project
    (home / "dotfiles").mkdir()
    (home / "dotfiles/u.md").write_text("---\ncondition: bad\n---\nuser")
    (home / ".omp/agent/rules").mkdir(parents=True)
    (home / ".omp/agent/rules/u.md").symlink_to(home / "dotfiles/u.md")
    (project / ".omp/rules/p.md").symlink_to(home / "dotfiles/u.md")
    ruleset = await made(options).ruleset()
    assert [live.rule.body for live in ruleset.live] == ["user"]
    assert [problem.file for problem in ruleset.problems] == [".omp/rules/p.md"]


def read_settings(project: Path) -> Loaded:
    flags = {"workspace": str(project / "deep")}
    return load(flags, environ={"HOME": str(project)}, need_upstream=False)


def followed(project: Path) -> SettingsFile:
    """Where a proxy in a directory of the project looks for its settings."""
    loaded = read_settings(project)
    return SettingsFile(loaded.places, loaded.settings, lambda: read_settings(project).settings)


async def test_ruleset_follows_the_settings_file(
    project: Path, options: WorkspaceOptions, made: Made
) -> None:
    """An edited `ttsr` block is in force from the next turn on; a bad one changes nothing."""
    write(project)
    file = project / "ttsr.yaml"
    file.write_text("ttsr: {}")
    clock = Clock()
    workspaces = made(options, clock, followed(project))
    assert names(await workspaces.ruleset()) == ["a"]
    for now, text, expected in (
        (1.0, "ttsr: {disabledRules: [a]}", []),
        (2.0, "ttsr: {interruptMode: loudly}", []),
        (3.0, "ttsr: {repeatGap: 3}", ["a"]),
        (4.0, "ttsr: {repeatGap: 3} # same", ["a"]),
    ):
        file.write_text(text)
        clock.now = now
        assert names(await workspaces.ruleset()) == expected


async def test_ruleset_follows_a_settings_file_that_appears_and_goes(
    project: Path, options: WorkspaceOptions, made: Made
) -> None:
    """Wherever one is looked for, the nearest counts; a bad one leaves all as it was."""
    write(project)
    (project / "deep").mkdir()
    near, far = project / "deep/ttsr.yaml", project / "ttsr.yaml"
    clock = Clock()
    workspaces = made(options, clock, followed(project))
    assert names(await workspaces.ruleset()) == ["a"]
    for file, text, expected in (
        (far, "ttsr: {disabledRules: [a]}", []),
        (near, "ttsr: {disabledRules: [", []),
        (near, "ttsr: {}", ["a"]),
        (near, None, []),
        (far, None, ["a"]),
    ):
        clock.now += 1
        file.write_text(text) if text is not None else file.unlink()
        assert names(await workspaces.ruleset()) == expected, (file, text)


async def test_what_needs_a_restart_is_logged_by_name(
    project: Path, options: WorkspaceOptions, caplog: pytest.LogCaptureFixture, made: Made
) -> None:
    """Without its value, which may be a secret; what the file says of rules counts at once."""
    write(project)
    clock = Clock()
    workspaces = made(options, clock, followed(project))
    await workspaces.ruleset()
    (project / "ttsr.yaml").write_text(
        "listen: {token: hunter2}\nrelease: cut\nttsr: {disabledRules: [a]}\n"
    )
    clock.now = 1
    assert names(await workspaces.ruleset()) == []
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert told == ["a restart is needed for what is new in listen.token, release"]
    assert "hunter2" not in caplog.text


async def test_change_outlives_the_client_that_noticed_it(
    project: Path, options: WorkspaceOptions, made: Made
) -> None:
    """A request that is cancelled while the file is read leaves the change to the next one."""
    write(project)
    reading, go = threading.Event(), threading.Event()

    def read() -> Settings:
        reading.set()
        go.wait(30)
        return read_settings(project).settings

    clock = Clock()
    workspaces = made(options, clock, replace(followed(project), read=read))
    assert names(await workspaces.ruleset()) == ["a"]
    (project / "ttsr.yaml").write_text("ttsr: {disabledRules: [a]}")
    clock.now = 1
    left = asyncio.ensure_future(workspaces.ruleset())
    await asyncio.to_thread(reading.wait, 30)
    left.cancel()
    await asyncio.wait([left])
    go.set()
    clock.now = 2
    assert names(await workspaces.ruleset()) == []


def test_options_come_from_the_settings(tmp_path: Path) -> None:
    """Every setting that concerns rules is taken."""
    flags = {
        "workspace": str(tmp_path),
        "ttsr.interruptMode": "tool-only",
        "ttsr.disabledRules": ["a"],
        "trust": "user-only",
        "rulesTimeout": 2,
    }
    settings = load(flags, environ={"HOME": str(tmp_path)}, need_upstream=False).settings
    options = WorkspaceOptions.of(settings, loopback=True, home=tmp_path)
    assert options.workspace == tmp_path
    assert options.dsh_home == tmp_path / ".dsh"
    assert options.rules_timeout == 2
    assert options.rules == RuleSetOptions(
        interrupt_mode=InterruptMode.TOOL_ONLY, disabled_rules=("a",), trust_user_only=True
    )


@pytest.fixture
def bundled(options: WorkspaceOptions) -> WorkspaceOptions:
    return replace(options, builtins=BUILTINS)


async def test_bundled_rules_are_in_force_behind_all_others(
    project: Path, bundled: WorkspaceOptions, made: Made
) -> None:
    """All 27, by name; a project's rule of the same name stands for a bundled one."""
    write(project, "ts-no-any")
    write(project, "zzz")
    ruleset = await made(bundled).ruleset()
    assert names(ruleset)[:2] == ["ts-no-any", "zzz"]
    assert len(ruleset.live) == 28
    assert ruleset.problems == ()
    shadowed = [listed for listed in ruleset.listed if listed.reason]
    assert [(listed.rule.path, listed.reason) for listed in shadowed] == [
        ("builtin-defaults:ts-no-any.md", Reason.SHADOWED)
    ]


async def test_bundled_rules_can_be_switched_off(bundled: WorkspaceOptions, made: Made) -> None:
    """All at once, or by name; they stay in the list with the reason."""
    off = replace(bundled, rules=RuleSetOptions(builtin_rules=False))
    ruleset = await made(off).ruleset()
    assert ruleset.live == ()
    assert {listed.reason for listed in ruleset.listed} == {Reason.BUILTINS_OFF}
    assert len(ruleset.listed) == 27
    one = replace(bundled, rules=RuleSetOptions(disabled_rules=("go-ioutil", "ts-set-map")))
    ruleset = await made(one).ruleset()
    assert len(ruleset.live) == 25
    switched = {listed.rule.name for listed in ruleset.listed if listed.reason == Reason.DISABLED}
    assert switched == {"go-ioutil", "ts-set-map"}


async def test_bundled_rules_take_the_mode_of_an_override(
    bundled: WorkspaceOptions, made: Made
) -> None:
    """They never interrupt unless the settings say otherwise."""
    options = RuleSetOptions(mode_overrides=("go-ioutil=always",))
    ruleset = await made(replace(bundled, rules=options)).ruleset()
    loud = [live.rule.name for live in ruleset.live if live.mode is not InterruptMode.NEVER]
    assert loud == ["go-ioutil"]


async def test_many_files_are_read_as_few_are(
    project: Path, options: WorkspaceOptions, made: Made
) -> None:
    """What is read in another process is in force with the rest, in the same order."""
    wanted = [f"r{number:03}" for number in range(2 * FEW)]
    for name in wanted:
        write(project, name, f"---\ncondition: 'bad{name}'\n---\nDo not {name}.")
    ruleset = await made(replace(options, rules_timeout=60)).ruleset()
    assert names(ruleset) == wanted
    assert all(live.patterns[0].final(f"a bad{live.rule.name}", 0) for live in ruleset.live)
    assert ruleset.problems == ()

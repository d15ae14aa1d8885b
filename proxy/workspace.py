"""One rule set per workspace and agent role: which directories may be read, caching, reloading.

Discovery and compiling run on threads of their own; state changes on the event loop alone.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import rules_engine
from proxy.config import Settings
from proxy.disk import DiskTree, Mark, has_changed
from proxy.errors import ConfigError, OurFault
from proxy.foundry import Foundry, settle
from proxy.places import Places, lies_in, real_path, repository
from proxy.quantities import how_many
from proxy.scanner_cache import ScannerCache, complete
from proxy.settings_file import SettingsFile
from rules_engine.discovery import Roots, discover
from rules_engine.matcher import Matcher
from rules_engine.problems import Problem, Severity
from rules_engine.rule import Rule
from rules_engine.ruleset import RuleSet, RuleSetOptions, build

MOST_LIVE = 32
MOST_LABELS = 256
RELOAD_WAIT = 1.0
BUILTINS = Path(rules_engine.__file__).parent / "builtin"

_log = logging.getLogger(__name__)


class RulesNotReady(OurFault):
    """The rules of a workspace could not be had within `rulesTimeout`."""

    status = 503
    code = "rules_not_ready"


@dataclass(frozen=True, slots=True)
class WorkspaceOptions:
    """Where rules come from and who may name a directory.

    `workspaces`: directories that a request may name, with what lies below them; on a loopback
    bind the user's own directories too. `rules_timeout` and `poll` in seconds: how long a
    request waits for its rules, and how often files are looked at for changes at most.
    `logs_problems`: False where whoever asks shows the problems of rule files himself.
    """

    workspace: Path
    workspaces: tuple[Path, ...] = ()
    rules: RuleSetOptions = field(default_factory=RuleSetOptions)
    loopback: bool = True
    home: Path | None = None
    user_rules_dir: Path | None = None
    dsh_home: Path | None = None
    plugin_roots: tuple[Path, ...] = ()
    copilot_dirs: tuple[Path, ...] = ()
    builtins: Path | None = BUILTINS
    rules_timeout: float = 5.0
    poll: float = 0.5
    logs_problems: bool = True

    @property
    def places(self) -> Places:
        """Which directories a request may name."""
        return Places(self.workspace, self.workspaces, self.loopback, self.home)

    @classmethod
    def of(
        cls, settings: Settings, *, loopback: bool, home: Path | None, dsh_home: Path | None = None
    ) -> WorkspaceOptions:
        """Take what concerns rules out of the settings."""
        return cls(
            workspace=settings.workspace,
            workspaces=settings.workspaces,
            rules=rule_options(settings),
            loopback=loopback,
            home=home,
            user_rules_dir=settings.user_rules_dir,
            dsh_home=dsh_home or (home / ".dsh" if home else None),
            plugin_roots=settings.plugin_roots,
            copilot_dirs=settings.copilot_instruction_dirs,
            rules_timeout=settings.rules_timeout,
        )


def rule_options(settings: Settings) -> RuleSetOptions:
    """Take the `ttsr` block, and whose rules are trusted, out of the settings."""
    block = settings.ttsr
    return RuleSetOptions(
        enabled=settings.enabled and block.enabled,
        interrupt_mode=block.interrupt_mode,
        context_mode=block.context_mode,
        repeat_mode=block.repeat_mode,
        repeat_gap=block.repeat_gap,
        builtin_rules=block.builtin_rules,
        disabled_rules=block.disabled_rules,
        mode_overrides=block.mode_overrides,
        trust_user_only=settings.trust == "user-only",
    )


@dataclass(frozen=True, slots=True)
class _Held:
    """A rule set with what it was made from. `checked`: when its files were last looked at."""

    ruleset: RuleSet
    rules: tuple[Rule, ...]
    problems: tuple[Problem, ...]
    options: WorkspaceOptions
    marks: Mapping[str, Mark]
    checked: float


_Key = tuple[str, str]


class Workspaces:
    """Rule sets by workspace and role, at most 32 of them; files are looked at again by need.

    A turn keeps the set that it was given. `clock`: seconds, monotonic. `cache`: where compiled
    scanners are kept for the next start.
    """

    def __init__(
        self,
        options: WorkspaceOptions,
        clock: Callable[[], float] = time.monotonic,
        settings: SettingsFile | None = None,
        cache: ScannerCache | None = None,
    ) -> None:
        self._options = options
        self._clock = clock
        self._cache = cache
        self._settings = settings
        self._settings_marks = settings.marks() if settings else ()
        self._settings_looked = clock()
        self._foundry = Foundry()
        self._places: dict[str, tuple[str, float]] = {}
        self._held: OrderedDict[_Key, _Held] = OrderedDict()
        self._pending: dict[_Key, asyncio.Future[_Held | None]] = {}
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="rules")
        self._compiler = ThreadPoolExecutor(max_workers=1, thread_name_prefix="scanner")
        self._compiling: set[asyncio.Future[None]] = set()
        self._closed = False

    def reconfigure(self, options: WorkspaceOptions) -> None:
        """Use other settings from the next turn on; sets are rebuilt when they are asked for."""
        self._options = options
        self._places.clear()
        self._pending.clear()

    def directory(self, label: str | None) -> str:
        """Give the directory whose rules govern a request that names `label`.

        The configured one, where the label is empty, unknown here, or not allowed; such a label
        still serves as the root that globs are relative to.
        """
        name, now = (label or "").strip(), self._clock()
        place, looked = self._places.get(name, ("", now))
        if not place or now - looked >= self._options.poll:
            place = self._options.places.directory(name)
            if len(self._places) >= MOST_LABELS:
                self._places.clear()
            self._places[name] = place, now
        return place

    @property
    def live(self) -> tuple[tuple[str, str, RuleSet], ...]:
        """Directory, role and rule set of each that is held, the newest last."""
        return tuple((*key, held.ruleset) for key, held in self._held.items())

    async def ruleset(self, label: str | None = None, role: str = "main") -> RuleSet:
        """Give the rule set in force; raises RulesNotReady where there is none in time."""
        await self._follow_settings()
        key = (self.directory(label), role)
        held = self._held.get(key)
        patience = self._options.rules_timeout
        if held and held.options == self._options:
            self._held.move_to_end(key)
            if self._clock() - held.checked < self._options.poll:
                return held.ruleset
            # A slow disk must not delay every turn while there is a set to go on with.
            patience = min(patience, RELOAD_WAIT)
        try:
            async with asyncio.timeout(patience):
                found = await asyncio.shield(self._refresh(key, held))
        except TimeoutError:
            found = None
        last = found or held
        if last is None:
            raise RulesNotReady(
                f"the rules of {_tail(key[0])} were not ready within "
                f"{self._options.rules_timeout:g} s; try again or raise rulesTimeout",
                retry_after=1,
            )
        return last.ruleset

    async def _follow_settings(self) -> None:
        """Take the `ttsr` block from its file again if that has changed; a bad one is ignored."""
        file, now = self._settings, self._clock()
        if file is None or now - self._settings_looked < self._options.poll:
            return
        self._settings_looked = now
        found = file.marks()
        if found == self._settings_marks:
            return
        loop = asyncio.get_running_loop()
        try:
            settings = await loop.run_in_executor(self._threads, file.read)
        except ConfigError as error:
            self._settings_marks = found
            _log.warning("the settings in force stay: %s", error)
            return
        # Only now: a client that leaves in between must not take the change with it.
        self._settings_marks = found
        if waiting := file.waiting(settings):
            _log.warning("a restart is needed for what is new in %s", ", ".join(waiting))
        rules = rule_options(settings)
        if rules != self._options.rules:
            self.reconfigure(replace(self._options, rules=rules))
            _log.info("the rules' settings have changed and are in force")

    def _refresh(self, key: _Key, held: _Held | None) -> asyncio.Future[_Held | None]:
        """Look at the files on another thread; whoever asks meanwhile waits for the same look."""
        pending = self._pending.get(key)
        if pending is None:
            look = _Look(key, held, self._options, self._clock, self._foundry)
            loop = asyncio.get_running_loop()
            pending = loop.run_in_executor(self._threads, look.run)
            self._pending[key] = pending
            pending.add_done_callback(lambda done: self._keep(key, done))
        return pending

    def _keep(self, key: _Key, done: asyncio.Future[_Held | None]) -> None:
        if self._pending.get(key) is done:
            del self._pending[key]
        found = None if done.cancelled() else done.result()
        if found is None or found.options != self._options:
            return
        before, problems = self._held.get(key), found.ruleset.problems
        new = before is None or before.ruleset.problems != problems
        if new and self._options.logs_problems:
            _tell(key[0], problems)
        self._held[key] = found
        self._held.move_to_end(key)
        while len(self._held) > MOST_LIVE:
            self._held.popitem(last=False)
        matcher = found.ruleset.matcher
        if matcher is not None and not self._closed and matcher.claim():
            self._compile(matcher)

    def _compile(self, matcher: Matcher) -> None:
        """Let a thread compile the scanner; turns that begin before it is there have another."""
        loop = asyncio.get_running_loop()
        compiling = loop.run_in_executor(self._compiler, self._complete, matcher)
        self._compiling.add(compiling)
        compiling.add_done_callback(self._compiling.discard)

    def _complete(self, matcher: Matcher) -> None:
        try:
            complete(matcher, self._cache)
            matcher.bunch(self._foundry.join)
        except Exception:  # noqa: BLE001 - whatever it is, what there was before goes on
            _log.exception("the scanner of a rule set could not be compiled; a slower one serves")

    def close(self) -> None:
        """Begin no further look at the disk."""
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._compiler.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class _Look:
    """One look at the disk for one workspace and role, on a thread."""

    key: _Key
    held: _Held | None
    options: WorkspaceOptions
    clock: Callable[[], float]
    foundry: Foundry

    def run(self) -> _Held | None:
        """Give the set in force after the look; None where it could not be built."""
        try:
            return self._found()
        except Exception:  # noqa: BLE001 - a defect of ours must leave the last good set in force
            _log.exception("the rules of %s could not be built", _tail(self.key[0]))
            return None

    def _found(self) -> _Held:
        now = self.clock()
        held = self.held
        same = held is not None and held.options == self.options
        if held and same and not has_changed(held.marks):
            return replace(held, checked=now)
        directory, role = self.key
        roots, tree = _roots(self.options, directory)
        rules, problems = self._discover(tree, roots)
        if held and same and (rules, problems) == (held.rules, held.problems):
            return replace(held, marks=tree.marks, checked=now)
        previous = held.ruleset if held else None
        compiled = self.foundry.compile(self._new_patterns(rules, previous))
        options = replace(self.options.rules, agent=role)
        ruleset = build(rules, options, problems, previous, compiled)
        if ruleset.matcher is not None:
            ruleset.matcher.prepare()
        if compiled:
            settle()
        return _Held(ruleset, rules, problems, self.options, tree.marks, now)

    def _discover(
        self, tree: DiskTree, roots: Roots
    ) -> tuple[tuple[Rule, ...], tuple[Problem, ...]]:
        """Discover once, and where files are left to be learned, again."""
        reading = self.foundry.reading()
        found = discover(tree, roots, parse=reading)
        if not reading.late:
            return found
        self.foundry.learn(reading.late)
        return discover(tree, roots, parse=self.foundry.reading(all_here=True))

    @staticmethod
    def _new_patterns(rules: Iterable[Rule], previous: RuleSet | None) -> Iterator[str]:
        live = previous.live if previous else ()
        known = {trigger.pattern.source for each in live for trigger in each.patterns}
        sources = (source for rule in rules for source in rule.conditions)
        yield from (source for source in sources if source not in known)


def _roots(options: WorkspaceOptions, directory: str) -> tuple[Roots, DiskTree]:
    home = _real(options.home)
    plugins = tuple(str(real_path(path)) for path in options.plugin_roots)
    copilot = tuple(str(real_path(path)) for path in options.copilot_dirs)
    roots = Roots(
        home=home,
        workspace=directory,
        user_rules_dir=_real(options.user_rules_dir),
        dsh_home=_real(options.dsh_home),
        plugin_roots=plugins,
        copilot_dirs=copilot,
        builtins=_real(options.builtins),
    )
    # What a user keeps below home may be linked to anywhere below home; a repository, a plugin
    # or a bundled file may not.
    own = [path for path in (roots.user_rules_dir, roots.dsh_home) if path]
    outside = [path for path in own if not (home and lies_in(path, home))]
    bounds = [home, repository(directory), roots.builtins, *plugins, *copilot, *outside]
    return roots, DiskTree(bound for bound in bounds if bound)


def _tell(directory: str, problems: Iterable[Problem]) -> None:
    """Say in the log that rule files have faults: nobody looks for what they do not suspect."""
    errors, warnings = (
        [problem for problem in problems if problem.severity is severity]
        for severity in (Severity.ERROR, Severity.WARNING)
    )
    if errors or warnings:
        _log.warning(
            "the rule files of %s have %s and %s, see `ttsr lint` or /audit; the first: %s",
            _tail(directory),
            how_many(len(errors), "error"),
            how_many(len(warnings), "warning"),
            (*errors, *warnings)[0].render(),
        )


def _real(path: Path | None) -> str | None:
    return None if path is None else str(real_path(path))


def _tail(directory: str) -> str:
    """Give a directory's own name, which tells enough in a message."""
    return Path(directory).name or "the root directory"

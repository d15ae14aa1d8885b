"""Settings to a running proxy: store, audit, rule sets, relay and routes, opened together.

The one place that knows every part; parts know each other only by what they are given here.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

import anyio
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from proxy import agents, quirks, searching
from proxy.app import create_app
from proxy.audit import Audit
from proxy.config import Settings, dsh_home
from proxy.dashboard.feed import Feed
from proxy.dashboard.routes import Facts, router
from proxy.drain import Drain
from proxy.errors import ConfigError, OurFault
from proxy.gate import trust_of
from proxy.logs import log_hits
from proxy.patience import Patience
from proxy.pulse import Pulse
from proxy.relay import Relay, Services
from proxy.routing import Target
from proxy.scanner_cache import ScannerCache
from proxy.settings_file import SettingsFile
from proxy.store import StoreUnavailable
from proxy.store.reopening import ReopeningStore
from proxy.store.sqlite import SqliteStore
from proxy.upstream import Upstream
from proxy.wire import WireApi
from proxy.wire.chat import ChatApi
from proxy.wire.completions import CompletionsApi
from proxy.workspace import WorkspaceOptions, Workspaces
from rules_engine.ruleset import RuleSet
from rules_engine.tools import ToolFamily

log = logging.getLogger(__name__)

_PURGE_EVERY = 3600.0
_MOST_MODELS = 256  # names of models of which it is remembered what their upstream needs
_wall = time.time  # noqa: TID251 - the clock that everyone else is handed


def assemble(
    settings: Settings,
    drain: Drain,
    *,
    home: Path | None = None,
    follow: SettingsFile | None = None,
    wire: WireApi | None = None,
    patience: Patience | None = None,
) -> FastAPI:
    """Build the whole app; raises ConfigError for settings that cannot be used.

    `home`: where the user's own rules are looked for, instead of the user's home directory.
    `follow`: the settings' file, whose `ttsr` block is read again when it changes.
    `wire`: reads and writes chat requests, instead of `ChatApi`. `patience`: other waits.
    """
    given = _Given(home or Path.home(), follow, wire or ChatApi(), patience or Patience())
    assembly = _Assembly(settings, drain, given)
    return create_app(
        settings,
        upstream=assembly.upstream,
        drain=drain,
        relay=assembly.relay,
        dashboard=router(
            assembly.audit,
            assembly.feed,
            Facts(version("ttsr-proxy"), settings.upstream_url, assembly.shown_rules),
        ),
        ready={"store": assembly.store.ready, "rules": assembly.rules_ready},
        resources=[assembly.running()],
    )


@dataclass(frozen=True, slots=True)
class _Given:
    home: Path
    follow: SettingsFile | None
    wire: WireApi
    patience: Patience


class _Assembly:
    def __init__(self, settings: Settings, drain: Drain, given: _Given) -> None:
        self.upstream = Upstream(settings)
        self.store = ReopeningStore(partial(SqliteStore.open, settings.db))
        self.feed = Feed()
        self.audit = Audit(self.store, listeners=(self.feed.publish, log_hits))
        self._settings = settings
        self._loopback = not trust_of(settings.listen).token_needed
        self._workspaces = Workspaces(
            WorkspaceOptions.of(
                settings,
                loopback=self._loopback,
                home=given.home,
                dsh_home=dsh_home(),
            ),
            settings=given.follow,
            cache=ScannerCache.beside(settings.db),
        )
        drain.at_stop(self.feed.end)
        services = self._services(drain, given.patience)
        self._relay = Relay(services, given.wire)
        self._completions = Relay(services, CompletionsApi())

    def _services(self, drain: Drain, patience: Patience) -> Services:
        settings = self._settings
        pulse = Pulse()
        drain.at_ending(pulse.end)
        host = urlsplit(settings.upstream_url).hostname or ""
        known = quirks.collect()
        _check_profile(settings.upstream.profile, known)
        return Services(
            settings=settings,
            upstream=self.upstream,
            store=self.store,
            audit=self.audit,
            rules=self._workspaces.ruleset,
            directory=partial(self._workspaces.directory, None),
            agents=known_agents(settings),
            quirks=lru_cache(_MOST_MODELS)(
                lambda model: quirks.profile_for(host, model, settings.upstream.profile, known)
            ),
            loopback=self._loopback,
            wall=_wall,
            pulse=pulse,
            patience=patience,
        )

    async def relay(self, request: Request, target: Target) -> Response:
        """Answer a request of one of the APIs that are read."""
        relay = self._completions if target.is_completions else self._relay
        return await relay(request, target)

    async def shown_rules(self) -> RuleSet | None:
        """The rule set of the configured workspace as its files are now, once there is one."""
        await self.rules_ready()
        own = self._workspaces.directory(None)
        sets = (rules for place, _, rules in reversed(self._workspaces.live) if place == own)
        return next(sets, None)

    async def rules_ready(self) -> bool:
        """Whether the first rule set is there; asks for it where it is not."""
        try:
            await self._workspaces.ruleset()
        except OurFault:
            return False
        return True

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Everything that runs beside the requests."""
        try:
            await self.store.open()
        except StoreUnavailable as problem:
            if self._settings.fail_mode == "closed":
                raise ConfigError(
                    f"the database {self._settings.db} cannot be used and failMode is closed: "
                    f"{problem}"
                ) from None
            log.error("the proxy starts without its store: %s", problem)  # noqa: TRY400 - a state
        async with searching.searching(), anyio.create_task_group() as group:
            group.start_soon(self.store.run)
            group.start_soon(self.audit.run)
            group.start_soon(self._purge)
            group.start_soon(self._get_ready)
            yield
            self.feed.end()
            await self.audit.close()
            group.cancel_scope.cancel()
        self._workspaces.close()
        await self.store.close()

    async def _get_ready(self) -> None:
        """Have the rules, and what they will want, ahead of the first request."""
        rules = await self.shown_rules()
        if rules is not None and any(live.structures for live in rules.live):
            await searching.warm()

    async def _purge(self) -> None:
        while True:
            try:
                gone = await self.store.purge(_wall() - self._settings.retention)
            except StoreUnavailable as problem:
                log.warning("old rows could not be deleted: %s", problem)
            else:
                if gone:
                    log.info("%d rows older than the retention were deleted", gone)
            await anyio.sleep(_PURGE_EVERY)


def _check_profile(setting: str | None, known: Sequence[quirks.Quirk]) -> None:
    try:
        quirks.explicit_profile(setting or "", known)
    except ValueError as problem:
        raise ConfigError(f"upstream.profile cannot be used: {problem}.") from None


def known_agents(settings: Settings) -> tuple[agents.Agent, ...]:
    """Give every agent whose tools are known, those of the settings last."""
    return (*agents.collect(), *_own_tools(settings))


def _own_tools(settings: Settings) -> tuple[agents.Agent, ...]:
    """Families of the settings, as those of an agent that nothing is recognised by."""
    families = tuple(
        ToolFamily(
            tools=(name.lower(),),
            canonical=(tool.family,),
            paths=tool.paths,
            added=tool.source,
        )
        for name, tool in settings.tools.items()
    )
    return (replace(agents.ANY_AGENT, name="settings", families=families),) if families else ()

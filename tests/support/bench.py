"""Real proxies in front of one scripted upstream, on which trials are played many at a time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from proxy.assembly import assemble
from proxy.patience import Patience
from proxy.quirks import Profile
from tests.support.corpus import case
from tests.support.proxy import RunningProxy, running_proxy, settings_for
from tests.support.rules import rule_text
from tests.support.trials import SURFACES, Trial, trial_of
from tests.support.upstream import Exchange, Reply, Request, ScriptedUpstream
from tests.support.wire import Answer, call

AT_ONCE = 16
# Trials run many at a time, so that what comes late must not be taken for what never comes.
PATIENT = Patience(ledger_read=20, ledger_write=20, end_mark=1.5)
_PATIENCE = 20.0  # seconds for one trial
_NOTICE = 1.0  # seconds in which a closed connection is noticed
_TOOLS = ["edit_file", "read_file", "get_time", "run_patch", "write", "bash"]


@dataclass(slots=True)
class Outcome:
    """What became of one trial. `seconds`: from the request to the answer's end."""

    model: str
    answer: Answer
    exchanges: list[Exchange]
    seconds: float


@dataclass(slots=True)
class Bench:
    """Plays trials. A rule set is named by the folder of `root` in which its rule lies."""

    upstream: ScriptedUpstream
    root: Path
    proxies: dict[Profile, RunningProxy]
    _replies: dict[str, list[Reply]] = field(default_factory=dict)
    _room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def play(self, trial: Trial, rules: str, *more: Reply) -> Outcome:
        """Send one request; the upstream answers with the trial, then with `more`."""
        async with self._room:
            model = f"{trial.name} {rules} {len(self._replies)}"
            self._replies[model] = [trial.reply, *more]
            target = f"/w/{quote(str(self.root / rules), safe='')}/v1/chat/completions"
            port = self.proxies[trial.profile].port
            began = asyncio.get_running_loop().time()
            body = json.dumps(_request(model, trial.request)).encode()
            named = json.dumps(model).encode()
            try:
                async with asyncio.timeout(_PATIENCE):
                    answer = await call(port, "POST", target, (_JSON,), body)
            except TimeoutError:
                answer = Answer(0, (), b"no answer in time", "broken")
            seconds = asyncio.get_running_loop().time() - began
            seen = [e for e in self.upstream.exchanges if named in e.request.body]
            for exchange in seen:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(exchange.finished.wait(), _NOTICE)
            return Outcome(model, answer, seen, seconds)

    def answer(self, request: Request) -> Reply:
        """Choose the upstream's reply; a request too many gets an error."""
        left = self._replies[request.json["model"]]
        return left.pop(0) if left else Reply(b"a request too many", 418, (_JSON,))

    async def hits(self) -> dict[str, list[dict[str, Any]]]:
        """Read the audit of all proxies, by model."""
        found: dict[str, list[dict[str, Any]]] = {}
        for proxy in self.proxies.values():
            cursor: str | None = ""
            while cursor is not None:
                target = f"/audit/hits?limit=1000&cursor={cursor}"
                page = json.loads((await call(proxy.port, "GET", target)).body)
                for row in page["hits"]:
                    found.setdefault(row["model"], []).append(row)
                cursor = page["next"]
        return found


_JSON = ("content-type", "application/json")


@contextlib.asynccontextmanager
async def benched(upstream: ScriptedUpstream, root: Path, pattern: str) -> AsyncIterator[Bench]:
    """Run a proxy for each profile, with a folder for each rule set.

    `none`: no rule; `quiet`: one on all surfaces that only reminds; `text`, `thinking`, `tool`:
    one on that surface that interrupts.
    """
    _write(root / "none")
    _write(root / "quiet", pattern, interruptMode="never", scope=list(SURFACES))
    for surface in SURFACES:
        _write(root / surface, pattern, scope=[surface])
    bench = Bench(upstream, root, {})
    upstream.answer = bench.answer
    async with contextlib.AsyncExitStack() as stack:
        for profile in (Profile(), *_PROFILES.values()):
            names = ",".join(name for name, one in _PROFILES.items() if one == profile)
            settings = settings_for(
                upstream,
                upstream={"profile": names},
                workspace=str(root / "none"),
                workspaces=[str(root)],
                db=str(root / f"audit-{names}.db"),
                ttsr={"builtinRules": False},
                user_rules_dir=str(root / "no-user"),
            )
            bench.proxies[profile] = await stack.enter_async_context(
                running_proxy(settings, partial(assemble, patience=PATIENT))
            )
        yield bench


def in_other_reads(trial: Trial, count: int = 1) -> Iterable[Trial]:
    """Give the trial as it is, and `count` times in random reads, the same ones each time."""
    yield trial
    size = len(trial.body)
    for number in range(count if size > 1 else 0):
        source = random.Random(f"{trial.name} {number}")
        cuts = source.sample(range(1, size), source.randint(1, min(40, size - 1)))
        yield trial.cut_at(tuple(sorted(cuts)))


def better_answer() -> Reply:
    """The upstream's second answer: plain text that no rule minds."""
    return trial_of(case("baseline_text")).reply


_PROFILES = {
    "inline_think": Profile(inline_think=True),
    "start_in_think": Profile(start_in_think=True),
    "cumulative": Profile(cumulative=True),
}


def _request(model: str, more: Mapping[str, Any]) -> dict[str, Any]:
    tools = [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
        for name in _TOOLS
    ]
    return {
        "model": model,
        "stream": True,
        "messages": [{"role": "user", "content": f"Please do {model}."}],
        "tools": tools,
        **more,
    }


def _write(workspace: Path, pattern: str = "", **fields: object) -> None:
    folder = workspace / ".omp" / "rules"
    folder.mkdir(parents=True)
    if pattern:
        (folder / "plain.md").write_text(rule_text("Say it plainly.", condition=pattern, **fields))

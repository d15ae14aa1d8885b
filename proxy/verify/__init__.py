"""`ttsr verify`: a real model breaks a rule twice, once loud and once under `never`.

Everything happens in a scratch directory: no rule file of the user's is touched or applies.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx

from proxy.assembly import assemble
from proxy.config import Settings
from proxy.drain import Drain
from proxy.errors import CannotRun
from proxy.masking import label
from proxy.server import serving
from proxy.sse import SseReader
from rules_engine.rule import InterruptMode

FIXTURE = Path(__file__).parent / "fixture"
RULE, PROMPT = "loud.md", "prompt.md"

_PATIENCE = 300.0
_STOPS = frozenset({"interrupt", "refuse"})
_TELLS = frozenset({"prose_reminder", "tool_reminder"})

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Verify:
    """What to ask of whom. `fixture`: a directory with `loud.md` and `prompt.md`."""

    upstream: str
    model: str
    fixture: Path = FIXTURE
    api_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Transcript:
    """One run: what was asked, what the rule did, in how many attempts, what the client got."""

    mode: InterruptMode
    prompt: str
    hits: tuple[JsonObject, ...]
    attempts: int
    answer: str

    @property
    def actions(self) -> tuple[str, ...]:
        """What was done about each hit."""
        return tuple(str(hit.get("action")) for hit in self.hits)

    @property
    def lines(self) -> Sequence[str]:
        """The run as a person reads it."""
        hits = (
            f"{hit.get('action')} by {hit.get('rule')}: {hit.get('excerpt')}" for hit in self.hits
        )
        return (
            f"user: {self.prompt}",
            *(hits if self.hits else ("no rule acted",)),
            f"attempts: {self.attempts}",
            f"client got: {self.answer}",
        )


@dataclass(frozen=True, slots=True)
class Verification:
    """Both runs, and what did not come out as it should."""

    loud: Transcript
    quiet: Transcript
    complaints: tuple[str, ...]


def verify(asked: Verify) -> Verification:
    """Run the prompt twice. Raises CannotRun where a file is missing or the upstream fails."""
    rule, prompt = (_read(asked.fixture / name) for name in (RULE, PROMPT))
    with tempfile.TemporaryDirectory(prefix="ttsr-verify-") as scratch:
        loud, quiet = (
            anyio.run(_run, asked, Path(scratch) / mode, mode, rule, prompt.strip())
            for mode in (InterruptMode.ALWAYS, InterruptMode.NEVER)
        )
    return Verification(loud, quiet, tuple(_complaints(loud, quiet)))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as problem:
        raise CannotRun(
            f"{path} cannot be read: {problem}; a fixture is a directory with {RULE} (a rule) "
            f"and {PROMPT} (what makes a model break it)."
        ) from None


async def _run(
    asked: Verify, scratch: Path, mode: InterruptMode, rule: str, prompt: str
) -> Transcript:
    rules = scratch / ".omp" / "rules"
    rules.mkdir(parents=True)
    (rules / RULE).write_text(rule, encoding="utf-8")
    settings = _settings(asked, scratch, mode)
    drain = Drain(settings.limits.turns, grace=0)
    app = assemble(settings, drain, home=scratch / "none")
    timeout = httpx.Timeout(_PATIENCE, connect=5.0)
    async with (
        serving(app, drain) as proxy,
        httpx.AsyncClient(base_url=proxy, timeout=timeout, trust_env=False) as http,
    ):
        while (await http.get("/readyz")).is_error:  # noqa: ASYNC110 - a server's state, asked over HTTP
            await anyio.sleep(0.05)
        answer = await _ask(http, asked, prompt)
        hits = (await http.get("/audit/hits")).json()["hits"]
        turns = (await http.get("/audit/turns")).json()["turns"]
    # A task group would wrap what is raised inside the server's own.
    if answer.failure:
        raise CannotRun(answer.failure)
    attempts = int(turns[0]["attempts"]) if turns else 0
    return Transcript(mode, prompt, tuple(reversed(hits)), attempts, answer.text)


def _settings(asked: Verify, scratch: Path, mode: InterruptMode) -> Settings:
    return Settings.model_validate(
        {
            "upstream": {"url": asked.upstream},
            "workspace": str(scratch),
            "userRulesDir": str(scratch / "none"),
            "db": str(scratch / "ttsr.db"),
            "ttsr": {"builtinRules": False, "modeOverrides": [f"{Path(RULE).stem}={mode}"]},
        }
    )


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came through the proxy, or why nothing did."""

    text: str = ""
    failure: str = ""


async def _ask(http: httpx.AsyncClient, asked: Verify, prompt: str) -> _Answer:
    headers = {"authorization": f"Bearer {asked.api_key}"} if asked.api_key else {}
    messages = [{"role": "user", "content": prompt}]
    body = {"model": asked.model, "stream": True, "messages": messages}
    try:
        answer = await http.post("/v1/chat/completions", json=body, headers=headers)
    except httpx.HTTPError as problem:
        return _Answer(failure=f"no answer came through the proxy: {problem!r}.")
    if answer.is_error:
        host = httpx.URL(asked.upstream).host
        said = label(answer.text)
        return _Answer(
            failure=f"the upstream {host} answered {answer.status_code}: {said}; check --upstream, "
            "--model and the API key."
        )
    return _read_stream(answer.content)


def _read_stream(stream: bytes) -> _Answer:
    pieces: list[str] = []
    for event in SseReader().feed(stream):
        chunk = event.document()
        if "error" in chunk:
            told = label(json.dumps(chunk["error"]))
            return _Answer(failure=f"the answer broke off: {told}.")
        choices = chunk.get("choices") or ()
        pieces += ((choice.get("delta") or {}).get("content") or "" for choice in choices)
    return _Answer("".join(pieces))


def _complaints(loud: Transcript, quiet: Transcript) -> Iterable[str]:
    if not loud.hits or not quiet.hits:
        yield "the model did not break the rule in each run; choose a prompt that makes it"
        return
    if not _STOPS & set(loud.actions) or loud.attempts < 2:  # noqa: PLR2004 - the cut one and the next
        yield "the loud rule did not stop the model"
    if _STOPS & set(quiet.actions) or quiet.attempts != 1:
        yield "the rule under never stopped the model"
    if not _TELLS & set(quiet.actions):
        yield "the rule under never left no reminder"


def fields(verification: Verification) -> JsonObject:
    """Both runs as JSON."""
    return {
        "passed": not verification.complaints,
        "complaints": list(verification.complaints),
        "loud": _transcript_fields(verification.loud),
        "quiet": _transcript_fields(verification.quiet),
    }


def _transcript_fields(transcript: Transcript) -> JsonObject:
    return {
        "mode": transcript.mode,
        "prompt": transcript.prompt,
        "hits": list(transcript.hits),
        "attempts": transcript.attempts,
        "answer": transcript.answer,
    }

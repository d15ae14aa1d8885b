"""The settings: one frozen model; the only reader of environment and settings file.

Sources, later ones win: defaults, `ttsr.yaml`, `TTSR_*` environment, command-line flags.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from proxy.errors import ConfigError
from proxy.quantities import duration, size
from proxy.setting_layers import Layer, environment_layer, file_layer, merge, one_sentence
from rules_engine.rule import ContextMode, InterruptMode, RepeatMode

FILE_NAME = "ttsr.yaml"
_PATH_KEYS = frozenset(
    {"workspace", "workspaces", "userRulesDir", "pluginRoots", "copilotInstructionDirs", "db"}
)

# Flags of the command line, for what is said about their values.
_FLAGS = {
    "upstream.url": "--upstream",
    "upstream.profile": "--upstream-profile",
    "listen.host": "--host",
    "listen.port": "--port",
    "workspace": "--workspace",
    "db": "--db",
    "ttsr.builtinRules": "--no-builtin-rules",
    "dryRun": "--dry-run",
}

Size = Annotated[
    int, BeforeValidator(size), Field(gt=0), WithJsonSchema({"type": ["integer", "string"]})
]
Seconds = Annotated[
    float, BeforeValidator(duration), Field(gt=0), WithJsonSchema({"type": ["number", "string"]})
]


def _word(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _switch_word(value: object) -> object:
    # YAML 1.1 reads a bare `on` or `off` as a boolean before we see it.
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else _word(value)


def _home(value: object) -> object:
    return Path(value).expanduser() if isinstance(value, str | Path) else value


HomePath = Annotated[Path, BeforeValidator(_home)]


class Section(BaseModel):
    """What every part of the settings shares: camelCase keys, frozen, no unknown keys."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, frozen=True, extra="forbid"
    )


class TtsrBlock(Section):
    """The block that oh-my-pi and dsh-rules users already have; unknown keys become notes."""

    model_config = ConfigDict(extra="ignore")

    enabled: bool = True
    interrupt_mode: Annotated[InterruptMode, BeforeValidator(_word)] = InterruptMode.ALWAYS
    context_mode: Annotated[ContextMode, BeforeValidator(_word)] = ContextMode.KEEP
    repeat_mode: Annotated[RepeatMode, BeforeValidator(_word)] = RepeatMode.ONCE
    repeat_gap: int = Field(default=10, ge=1)
    builtin_rules: bool = True
    disabled_rules: tuple[str, ...] = ()
    mode_overrides: tuple[str, ...] = ()
    judge: Annotated[Literal["auto", "on", "off"], BeforeValidator(_switch_word)] = "auto"
    judge_provider: str = ""
    judge_model: str = ""

    def overrides(self) -> Mapping[str, InterruptMode]:
        """Read `modeOverrides` by rule name, split at the last `=`; bad entries drop out."""
        pairs = (entry.rpartition("=") for entry in self.mode_overrides)
        known = {mode.value: mode for mode in InterruptMode}
        return {
            name.strip(): known[mode.strip().lower()]
            for name, _, mode in pairs
            if name.strip() and mode.strip().lower() in known
        }

    @model_validator(mode="after")
    def _judge_has_a_model(self) -> Self:
        if self.judge == "on" and not self.judge_model:
            raise ValueError("judge is on, but judgeModel is empty; name one or set it to auto")
        return self


class UpstreamSettings(Section):
    """The API behind the proxy. Timeouts in seconds."""

    url: str | None = None
    profile: str | None = None
    connect_timeout: Seconds = 10.0
    first_byte_timeout: Seconds = 600.0
    idle_timeout: Seconds = 300.0
    transport: Literal["aiohttp", "httpx"] = "aiohttp"

    @field_validator("url")
    @classmethod
    def _is_http(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(
                "should be an http:// or https:// URL such as https://api.openai.com/v1"
            )
        if parts.query or parts.fragment:
            raise ValueError("should be a base URL without ? or #")
        _ = parts.port  # raises ValueError where it is no port number
        return value.rstrip("/")


class ListenSettings(Section):
    """Where the proxy listens and who may call it."""

    host: str = "127.0.0.1"
    port: int = Field(default=8787, ge=0, le=65535)
    token: SecretStr | None = None
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()


class Limits(Section):
    """What bounds memory. Sizes in bytes."""

    body: Size = 64 * 2**20
    event: Size = 16 * 2**20
    turns: int = Field(default=1000, ge=1)
    held_bytes: Size = 32 * 2**20


class ToolSetting(Section):
    """A tool that the built-in families do not know.

    `family`: the canonical tool that it stands for (`write`, `edit`, `bash`, …).
    `paths`: arguments that name files. `source`: arguments that carry new source.
    """

    family: str
    paths: tuple[str, ...] = ()
    source: tuple[str, ...] = ()


class Settings(Section):
    """Every setting of the proxy: durations in seconds, sizes in bytes."""

    enabled: bool = True
    ttsr: TtsrBlock = TtsrBlock()
    user_rules_dir: HomePath = Field(default=Path("~/.omp/agent"), validate_default=True)
    plugin_roots: tuple[HomePath, ...] = ()
    copilot_instruction_dirs: tuple[HomePath, ...] = ()
    workspace: Path = Path()
    workspaces: tuple[Path, ...] = ()
    upstream: UpstreamSettings = UpstreamSettings()
    listen: ListenSettings = ListenSettings()
    db: Path = Path()
    release: Annotated[Literal["safe", "cut", "whole"], BeforeValidator(_word)] = "safe"
    hold_limit: int = Field(default=4096, ge=1)
    max_interrupts_per_rule: int = Field(default=3, ge=0)
    max_attempts: int = Field(default=6, ge=1)
    turn_budget: Seconds = 120.0
    on_exhausted: Annotated[Literal["refuse", "deliver", "error"], BeforeValidator(_word)] = (
        "refuse"
    )
    tool_refusal: Annotated[Literal["always", "once"], BeforeValidator(_word)] = "always"
    reminder_placement: Annotated[Literal["tool_result", "message"], BeforeValidator(_word)] = (
        "tool_result"
    )
    fail_mode: Annotated[Literal["open", "closed"], BeforeValidator(_word)] = "open"
    trust: Annotated[Literal["all", "user-only"], BeforeValidator(_word)] = "all"
    dry_run: bool = False
    rule_tool: Annotated[Literal["off", "read", "write"], BeforeValidator(_switch_word)] = "read"
    rules_timeout: Seconds = 5.0
    retention: Seconds = 30 * 86400.0
    audit_excerpt: int = Field(default=160, ge=0)
    limits: Limits = Limits()
    tools: Mapping[str, ToolSetting] = {}
    tenant_header: str | None = None

    @property
    def upstream_url(self) -> str:
        """The upstream's base URL; raises ConfigError where none is set."""
        if self.upstream.url is None:
            raise ConfigError(
                "upstream.url is not set, but the proxy needs the base URL of an API: "
                "give --upstream URL, TTSR_UPSTREAM__URL, or upstream.url in ttsr.yaml."
            )
        return self.upstream.url

    def effective(self) -> dict[str, Any]:
        """List every key with the value in force, as in the file, secrets masked."""
        shown = self.model_dump(mode="json", by_alias=True)
        if self.upstream.url is not None:
            shown["upstream"]["url"] = without_credentials(self.upstream.url)
        return shown


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force, the file that they came from, and remarks for whoever wrote them.

    `places`: where the file was looked for, the nearest first.
    """

    settings: Settings
    file: Path | None
    notes: tuple[str, ...]
    places: tuple[Path, ...] = ()


def load(
    flags: Mapping[str, object] | None = None,
    *,
    file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    need_upstream: bool = True,
) -> Loaded:
    """Read every source and answer the settings in force.

    `flags`: dotted keys in the file's spelling (`upstream.url`); None values are not given.
    Raises ConfigError with one sentence.
    """
    env = os.environ if environ is None else environ
    given = {key: value for key, value in (flags or {}).items() if value is not None}
    from_env = environment_layer(env, Settings)
    named = file or _named_file(env)
    places = (named,) if named else _places(_start(given, from_env))
    path = named or next((place for place in places if place.is_file()), None)
    layers = [_from_file(path)] if path else []
    layers += [from_env, Layer.flat(given, _flag)]
    values, origins = merge(layers)
    values.setdefault("db", str(_default_db(env)))
    for key, found in _directories_of_others(env).items():
        values.setdefault(key, found)
    try:
        settings = Settings.model_validate(values)
    except ValidationError as problem:
        raise ConfigError(one_sentence(problem, origins, Settings)) from None
    if need_upstream:
        _ = settings.upstream_url
    return Loaded(settings, path, _notes(values), places)


def dsh_home(environ: Mapping[str, str] | None = None) -> Path | None:
    """Where dsh-rules keeps a user's rules, if its environment variable says so."""
    found = (os.environ if environ is None else environ).get("DSH_HOME")
    return Path(found).expanduser() if found else None


def json_schema() -> dict[str, Any]:
    """JSON Schema of the settings file."""
    return Settings.model_json_schema(by_alias=True)


def without_credentials(url: str) -> str:
    """Make a URL fit to be shown: no user name, no password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _flag(key: str) -> str:
    name = _FLAGS.get(key)
    return f"the flag {name}" if name else f"the flag for {key}"


def _named_file(env: Mapping[str, str]) -> Path | None:
    named = env.get("TTSR_CONFIG")
    return Path(named) if named else None


def _start(given: Mapping[str, object], from_env: Layer) -> Path:
    return Path(str(given.get("workspace") or from_env.values.get("workspace") or "."))


def _places(start: Path) -> tuple[Path, ...]:
    start = start.absolute()
    return tuple(folder / FILE_NAME for folder in (start, *start.parents))


def _from_file(path: Path) -> Layer:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as problem:
        raise ConfigError(f"the settings file {path} cannot be read: {problem}.") from None
    layer = file_layer(text, str(path))
    return Layer(_anchored(layer.values, path.absolute().parent), layer.origins)


def _anchored(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Relative paths in a file count from the file, wherever the proxy was started."""

    def anchored(path: object) -> object:
        stays = not isinstance(path, str) or path.startswith("~")
        return path if stays else str(folder / str(path))

    out = dict(values)
    for key in _PATH_KEYS & out.keys():
        value = out[key]
        out[key] = (
            [anchored(path) for path in value] if isinstance(value, list) else anchored(value)
        )
    return out


def _default_db(env: Mapping[str, str]) -> Path:
    state = env.get("XDG_STATE_HOME") or ""
    # The XDG base directory specification: a relative value is invalid and is ignored.
    base = (
        Path(state)
        if state.startswith("/")
        else Path(env.get("HOME") or "~").expanduser() / ".local/state"
    )
    return base / "ttsr-proxy" / "ttsr.db"


def _directories_of_others(env: Mapping[str, str]) -> dict[str, object]:
    """Directories that users have told oh-my-pi and Copilot of already; our settings win."""
    found: dict[str, object] = {}
    if env.get("PI_CODING_AGENT_DIR"):
        found["userRulesDir"] = env["PI_CODING_AGENT_DIR"]
    listed = [part.strip() for part in env.get("COPILOT_CUSTOM_INSTRUCTIONS_DIRS", "").split(",")]
    if any(listed):
        found["copilotInstructionDirs"] = [part for part in listed if part]
    return found


def _notes(values: Mapping[str, Any]) -> tuple[str, ...]:
    block = values.get("ttsr")
    if not isinstance(block, Mapping):
        return ()
    known = {field.alias for field in TtsrBlock.model_fields.values()}
    known |= set(TtsrBlock.model_fields)
    return tuple(
        f"ttsr.{key} means nothing to the proxy and is ignored."
        for key in block
        if key not in known
    )

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import ValidationError

from proxy.config import Loaded, Settings, dsh_home, json_schema, load, without_credentials
from proxy.errors import ConfigError
from rules_engine.rule import ContextMode, InterruptMode, RepeatMode

URL = {"upstream.url": "http://127.0.0.1:1/v1"}


def read(
    tmp_path: Path,
    text: str = "",
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Loaded:
    """Load a settings file with this text, as `ttsr serve` would."""
    file = tmp_path / "ttsr.yaml"
    file.write_text(text)
    return load({**URL, **(flags or {})}, file=file, environ={"HOME": "/h", **(environ or {})})


def test_defaults_are_the_documented_ones(tmp_path: Path) -> None:
    """Nothing but the upstream has to be set."""
    settings = read(tmp_path).settings
    assert settings.ttsr.interrupt_mode is InterruptMode.ALWAYS
    assert settings.ttsr.context_mode is ContextMode.KEEP
    assert (settings.ttsr.repeat_mode, settings.ttsr.repeat_gap) == (RepeatMode.ONCE, 10)
    assert (settings.listen.host, settings.listen.port) == ("127.0.0.1", 8787)
    assert (settings.release, settings.hold_limit) == ("safe", 4096)
    assert (settings.max_interrupts_per_rule, settings.max_attempts) == (3, 6)
    assert (settings.retention, settings.limits.body) == (30 * 86400, 64 * 2**20)
    assert settings.user_rules_dir == Path.home() / ".omp/agent"


def test_later_sources_win(tmp_path: Path) -> None:
    """File, then environment, then flags."""
    text = "holdLimit: 1\nmaxAttempts: 1\nturnBudget: 1\n"
    env = {"TTSR_MAX_ATTEMPTS": "2", "TTSR_TURN_BUDGET": "2m"}
    settings = read(tmp_path, text, {"turnBudget": 3}, env).settings
    assert (settings.hold_limit, settings.max_attempts, settings.turn_budget) == (1, 2, 3)


def test_flags_that_were_not_given_set_nothing(tmp_path: Path) -> None:
    """None is no value."""
    assert read(tmp_path, "listen: {port: 1}", {"listen.port": None}).settings.listen.port == 1


def test_a_pasted_block_is_taken(tmp_path: Path) -> None:
    """Keys of the two older systems are read, keys without meaning here become notes."""
    text = """
ttsr:
  enabled: true
  interruptMode: Prose-Only
  contextMode: discard
  repeatMode: after-gap
  repeatGap: 5
  builtinRules: false
  disabledRules: [a]
  modeOverrides: ["a=b=never", "nonsense", "x=sometimes", " y = Tool-Only "]
  judge: off
  settingsNamespace: dsh-rules
"""
    loaded = read(tmp_path, text)
    block = loaded.settings.ttsr
    assert block.interrupt_mode is InterruptMode.PROSE_ONLY
    assert block.judge == "off"
    assert block.overrides() == {"a=b": InterruptMode.NEVER, "y": InterruptMode.TOOL_ONLY}
    assert loaded.notes == ("ttsr.settingsNamespace means nothing to the proxy and is ignored.",)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("release: sfae", "release in FILE is 'sfae', but should be 'safe', 'cut' or 'whole'."),
        ("holdlimt: 1", "holdlimt in FILE is not a setting; did you mean holdLimit."),
        ("limits: {bdy: 1}", "limits.bdy in FILE is not a setting; did you mean limits.body."),
        (
            "limits: {zzz: 1}",
            "limits.zzz in FILE is not a setting; allowed are body, event, turns, heldBytes.",
        ),
        (
            "limits: {body: 3q}",
            "limits.body in FILE is '3q', but should be a size in B, kB, MB, GB, KiB, MiB or GiB.",
        ),
        (
            "listen: {port: 70000}",
            "listen.port in FILE is 70000, but should be less than or equal to 65535.",
        ),
        ("port: 1", "port in FILE is not a setting; did you mean listen.port."),
        ("listen: 3", "listen in FILE is 3, but should be a mapping of settings."),
        ("dryRun: maybe", "dryRun in FILE is 'maybe', but should be true or false."),
        ("turnBudget: -1", "turnBudget in FILE is -1, but should be greater than 0."),
        ("workspaces: [1]", "workspaces[0] in FILE is 1, but should be a path."),
        ("tools: {put: {}}", "tools.put.family in FILE should be set."),
        (
            "ttsr: {judge: on}",
            "ttsr in FILE: judge is on, but judgeModel is empty; name one or set it to auto.",
        ),
    ],
)
def test_a_bad_setting_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    """It names the key, where it was written, the value, and what is allowed."""
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert str(caught.value) == sentence.replace("FILE", str(tmp_path / "ttsr.yaml"))


@pytest.mark.parametrize("url", ["ftp://u:hunter2@h", "http://", "http://u:hunter2@h:99999"])
def test_a_bad_upstream_is_refused_without_its_credentials(tmp_path: Path, url: str) -> None:
    """What stands in the URL is never repeated."""
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, flags={"upstream.url": url})
    assert "hunter2" not in str(caught.value)
    assert "upstream.url" in str(caught.value)


def test_a_missing_upstream_is_refused() -> None:
    """The message says how to give one; the demo needs none."""
    with pytest.raises(ConfigError, match="--upstream URL"):
        load(environ={}, flags={"workspace": "/"})
    assert load(environ={}, flags={"workspace": "/"}, need_upstream=False).settings.enabled


def test_the_file_is_searched_upward_from_the_workspace(tmp_path: Path) -> None:
    """The nearest one is taken, and its relative paths count from where it stands."""
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    file = tmp_path / "ttsr.yaml"
    file.write_text("workspaces: [sub, /abs]\npluginRoots: ['~/p', q]\ndb: x.db\n")
    loaded = load({**URL, "workspace": str(deep)}, environ={})
    assert loaded.file == file
    assert loaded.places[:3] == (deep / "ttsr.yaml", tmp_path / "a/ttsr.yaml", file)
    assert loaded.settings.workspaces == (tmp_path / "sub", Path("/abs"))
    assert loaded.settings.plugin_roots == (Path.home() / "p", tmp_path / "q")
    assert loaded.settings.db == tmp_path / "x.db"
    assert loaded.settings.workspace == deep


def test_a_home_sign_expands_in_three_settings_only(tmp_path: Path) -> None:
    """Elsewhere it is a name like any other."""
    text = "userRulesDir: ~/u\ncopilotInstructionDirs: [~/c]\nworkspace: ~/w\n"
    settings = read(tmp_path, text).settings
    assert settings.user_rules_dir == Path.home() / "u"
    assert settings.copilot_instruction_dirs == (Path.home() / "c",)
    assert settings.workspace == Path("~/w")


def test_a_named_file_is_looked_for_nowhere_else(tmp_path: Path) -> None:
    """By flag or by TTSR_CONFIG."""
    loaded = read(tmp_path)
    assert loaded.places == (loaded.file,)


def test_a_named_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    """By flag or by TTSR_CONFIG."""
    missing = tmp_path / "none.yaml"
    with pytest.raises(ConfigError, match=re.escape(f"{missing} cannot be read")):
        load(URL, file=missing, environ={})
    with pytest.raises(ConfigError, match="cannot be read"):
        load(URL, environ={"TTSR_CONFIG": str(missing)})


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({"XDG_STATE_HOME": "/state", "HOME": "/h"}, "/state/ttsr-proxy/ttsr.db"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/ttsr-proxy/ttsr.db"),
        ({"HOME": "/h"}, "/h/.local/state/ttsr-proxy/ttsr.db"),
    ],
)
def test_the_database_is_in_the_state_directory(environ: dict[str, str], place: str) -> None:
    """As the XDG base directory specification says."""
    assert load({**URL, "workspace": "/"}, environ=environ).settings.db == Path(place)


def test_settings_are_frozen(tmp_path: Path) -> None:
    """A turn keeps the settings with which it began."""
    with pytest.raises(ValidationError):
        read(tmp_path).settings.release = "cut"


def test_effective_shows_no_secret(tmp_path: Path) -> None:
    """Token and credentials are masked, everything else is there in the file's spelling."""
    flags = {"upstream.url": "https://me:hunter2@h/v1", "listen.token": "hunter2"}
    shown = read(tmp_path, flags=flags).settings.effective()
    assert "hunter2" not in str(shown)
    assert shown["upstream"]["url"] == "https://h/v1"
    assert shown["maxInterruptsPerRule"] == 3


def test_json_schema_has_every_key() -> None:
    """Editors can check a settings file, sizes and durations in their units included."""
    properties = json_schema()["properties"]
    assert {"ttsr", "upstream", "holdLimit"} <= properties.keys()
    assert properties["retention"]["type"] == ["number", "string"]


def test_every_default_is_valid() -> None:
    """The effective settings can be written to a file and read again."""
    shown = Settings().effective()
    assert Settings.model_validate(shown).effective() == shown


def test_without_credentials_keeps_the_rest() -> None:
    """Host, port and path stay."""
    assert without_credentials("http://a:b@h:1/v1") == "http://h:1/v1"


def test_directories_that_other_tools_were_told_of_are_read() -> None:
    """oh-my-pi's and Copilot's environment variables count where our own settings are silent."""
    environ = {
        "PI_CODING_AGENT_DIR": "/agent",
        "COPILOT_CUSTOM_INSTRUCTIONS_DIRS": "/one, /two,",
        "TTSR_UPSTREAM__URL": "http://127.0.0.1:1/v1",
    }
    settings = load(environ=environ).settings
    assert settings.user_rules_dir == Path("/agent")
    assert settings.copilot_instruction_dirs == (Path("/one"), Path("/two"))
    own = load({"userRulesDir": "/mine"}, environ=environ).settings
    assert own.user_rules_dir == Path("/mine")


def test_dsh_home_is_read_from_its_variable() -> None:
    """Unset or empty means that there is none."""
    assert dsh_home({"DSH_HOME": "/dsh"}) == Path("/dsh")
    assert dsh_home({"DSH_HOME": ""}) is None

from __future__ import annotations

import pytest

from proxy.config import Settings
from proxy.errors import ConfigError
from proxy.setting_layers import Layer, environment_layer, file_layer, merge, variable_for


def test_merge_puts_later_layers_over_earlier_ones() -> None:
    """Sections are merged key by key; other values are replaced whole."""
    below = Layer({"listen": {"host": "a", "port": 1}, "workspaces": ["x"]}, {"listen.port": "f"})
    above = Layer.flat({"listen.port": 2, "workspaces": ["y"]}, lambda key: f"flag {key}")
    values, origins = merge([below, above])
    assert values == {"listen": {"host": "a", "port": 2}, "workspaces": ["y"]}
    assert origins["listen.port"] == "flag listen.port"


@pytest.mark.parametrize("name", ["TTSR_HOLD_LIMIT", "TTSR_HOLDLIMIT", "TTSR_holdLimit"])
def test_environment_names_are_free_in_case_and_underscores(name: str) -> None:
    """Every usual way to write holdLimit as a variable is understood."""
    assert environment_layer({name: "12"}, Settings).values == {"holdLimit": "12"}


def test_environment_nests_by_two_underscores() -> None:
    """The origin of each value is the variable's name."""
    layer = environment_layer({"TTSR_UPSTREAM__URL": "http://a", "HOME": "/h"}, Settings)
    assert layer.values == {"upstream": {"url": "http://a"}}
    assert layer.origins == {"upstream.url": "TTSR_UPSTREAM__URL"}


@pytest.mark.parametrize("text", ["/a, /b", "['/a', '/b']"])
def test_environment_lists_are_comma_separated_or_yaml(text: str) -> None:
    """Both spellings give the same list."""
    layer = environment_layer({"TTSR_WORKSPACES": text}, Settings)
    assert layer.values == {"workspaces": ["/a", "/b"]}


def test_environment_mappings_are_yaml() -> None:
    """A whole mapping fits into one variable."""
    layer = environment_layer({"TTSR_TOOLS": "{put: {family: write}}"}, Settings)
    assert layer.values == {"tools": {"put": {"family": "write"}}}


def test_an_unknown_variable_is_refused_with_a_proposal() -> None:
    """A typing error must not be a setting silently left out."""
    with pytest.raises(ConfigError, match="TTSR_LISTN__PORT is not a setting; did you mean"):
        environment_layer({"TTSR_LISTN__PORT": "1"}, Settings)


def test_variable_for_is_understood_again() -> None:
    """The proposal itself works."""
    name = variable_for("upstream.firstByteTimeout")
    assert name == "TTSR_UPSTREAM__FIRST_BYTE_TIMEOUT"
    assert environment_layer({name: "1"}, Settings).values == {
        "upstream": {"firstByteTimeout": "1"}
    }


def test_a_key_written_twice_is_refused() -> None:
    """YAML would keep the last one and say nothing."""
    with pytest.raises(ConfigError, match="line 2 is not valid YAML: the key 'release' is written"):
        file_layer("release: safe\nrelease: cut\n", "ttsr.yaml")


@pytest.mark.parametrize(
    ("text", "what"), [("- a", "is a list"), ("text", "single value"), ("a: [", "line 1")]
)
def test_a_file_that_is_no_mapping_is_refused(text: str, what: str) -> None:
    """The message names the file."""
    with pytest.raises(ConfigError, match=rf"ttsr\.yaml.*{what}"):
        file_layer(text, "ttsr.yaml")


def test_an_empty_file_sets_nothing() -> None:
    """Comments alone are no mistake."""
    assert file_layer("# nothing yet\n", "ttsr.yaml").values == {}

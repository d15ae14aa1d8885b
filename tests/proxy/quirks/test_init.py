from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

import proxy.quirks
from proxy.quirks import PLAIN, Profile, Quirk, checked, collect, explicit_profile, profile_for

QUIRKS = collect()


@pytest.mark.parametrize("module", [m.name for m in pkgutil.iter_modules(proxy.quirks.__path__)])
def test_every_file_defines_an_upstream(module: str) -> None:
    """A file of the folder is one upstream that deviates, and says how."""
    loaded = importlib.import_module(f"proxy.quirks.{module}")
    assert isinstance(loaded.QUIRK, Quirk)
    assert loaded.__doc__
    assert loaded.QUIRK.profile != PLAIN


def test_upstreams_are_collected_by_name() -> None:
    """Every name is there once, in order."""
    names = [quirk.name for quirk in QUIRKS]
    assert names == sorted(set(names))
    assert "plain" not in names


def test_two_upstreams_of_one_name_are_refused() -> None:
    """A name stands for one profile, and `plain` for none."""
    with pytest.raises(ValueError, match="have the same name"):
        checked([Quirk("plain", Profile())])


@pytest.mark.parametrize("quirk", QUIRKS, ids=lambda quirk: quirk.name)
def test_hosts_are_lower_case_and_models_are_patterns(quirk: Quirk) -> None:
    """What upstreams are told by can be compared."""
    assert all(host == host.lower().strip(".") for host in quirk.hosts)
    for pattern in quirk.models:
        re.compile(pattern)


@pytest.mark.parametrize("quirk", QUIRKS, ids=lambda quirk: quirk.name)
def test_profile_is_chosen_by_name(quirk: Quirk) -> None:
    """The setting goes before host and model."""
    assert profile_for("api.mistral.ai", "deepseek", quirk.name.upper()) == quirk.profile
    assert profile_for("api.mistral.ai", "deepseek", "plain") == PLAIN


def test_profile_of_an_ordinary_upstream_is_plain() -> None:
    """Nothing is assumed of a host and a model that are not listed."""
    assert profile_for("api.openai.com", "gpt-5") == PLAIN
    assert profile_for("notdeepseek.com", "x") == PLAIN
    assert profile_for("", "") == PLAIN


def test_host_goes_before_model() -> None:
    """It is the server that deviates."""
    assert profile_for("api.mistral.ai", "deepseek-chat").forbid_reasoning


def test_unknown_profile_is_named_with_the_known_ones() -> None:
    """The error says what was asked for and what there is."""
    quirks = (Quirk("one", Profile(cumulative=True)),)
    with pytest.raises(ValueError, match=r"^'two' is no upstream profile; allowed are one, plain$"):
        profile_for("h", "m", "two", quirks)


def test_named_profiles_add_up() -> None:
    """Several names may be given; dashes and underscores are one."""
    both = explicit_profile(" inline_think, mistral ")
    assert both == Profile(inline_think=True, forbid_reasoning=True)
    assert explicit_profile("plain") == explicit_profile("") == PLAIN

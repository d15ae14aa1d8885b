"""Hosts and models as they are seen, and the profile that each must get: one row an upstream."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from proxy.quirks import Profile, Quirk, collect, profile_for

QUIRKS = collect()
each_quirk = pytest.mark.parametrize("quirk", QUIRKS, ids=lambda quirk: quirk.name)


@dataclass(frozen=True)
class Row:
    """A profile, with names by which it is found; without any it must be asked for."""

    profile: Profile
    hosts: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


ROWS = {
    "cumulative": Row(Profile(cumulative=True)),
    "deepseek": Row(
        Profile(replay_reasoning=True),
        hosts=("api.deepseek.com", "DEEPSEEK.com."),
        models=("deepseek-chat", "deepseek/deepseek-v4", "DeepSeek-R2"),
    ),
    "inline-think": Row(Profile(inline_think=True)),
    "mistral": Row(
        Profile(forbid_reasoning=True),
        hosts=("api.mistral.ai",),
        models=("mistral-large", "mistralai/devstral-medium", "magistral-small"),
    ),
    "moonshot": Row(
        Profile(replay_reasoning=True),
        hosts=("api.moonshot.ai", "api.moonshot.cn"),
        models=("kimi-k3", "moonshotai/Kimi-K2-Thinking"),
    ),
    "start-in-think": Row(Profile(start_in_think=True)),
}


@each_quirk
def test_every_upstream_has_its_row(quirk: Quirk) -> None:
    """Names that real ones have, wherever the file says that names show it."""
    row = ROWS[quirk.name]
    assert row.profile == quirk.profile
    assert (bool(row.hosts), bool(row.models)) == (bool(quirk.hosts), bool(quirk.models))
    assert len(ROWS) == len(QUIRKS)


@each_quirk
def test_host_is_recognised(quirk: Quirk) -> None:
    """The upstream itself, whatever the model is called, and what lies below its domains."""
    below = [f"eu.{host}" for host in quirk.hosts]
    for host in (*ROWS[quirk.name].hosts, *quirk.hosts, *below):
        assert profile_for(host, "any") == quirk.profile
    for host in quirk.hosts:
        assert profile_for(f"not{host}", "any") != quirk.profile


@each_quirk
def test_model_is_recognised_behind_a_gateway(quirk: Quirk) -> None:
    """The same model behind somebody else's host."""
    for model in ROWS[quirk.name].models:
        assert profile_for("gateway.example", model) == quirk.profile


@each_quirk
def test_profile_is_used_where_it_is_named(quirk: Quirk) -> None:
    """Whatever the host; where nothing in a host or a model shows it, only then."""
    assert profile_for("any.example", "any", quirk.name) == quirk.profile
    assert profile_for("any.example", "any") != quirk.profile

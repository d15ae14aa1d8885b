"""What each upstream needs from the proxy; one file an upstream.

A `Profile` is data: the wire decoders and the view builder read it, nothing else branches on
which upstream it is.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """How an upstream deviates, and what a request to it may carry.

    inline_think: a think block may open the content (`think_tags`).
    start_in_think: the content starts inside one, only the closing tag is streamed.
    cumulative: text pieces repeat everything so far.
    replay_reasoning: messages with calls must carry their reasoning back (DeepSeek, Kimi).
    forbid_reasoning: no message may carry reasoning (Mistral).
    """

    inline_think: bool = False
    start_in_think: bool = False
    cumulative: bool = False
    replay_reasoning: bool = False
    forbid_reasoning: bool = False
    think_tags: tuple[str, ...] = ("think", "thinking", "mm:think")


PLAIN = Profile()

PLAIN_NAME = "plain"


@dataclass(frozen=True, slots=True)
class Quirk:
    """One upstream: how it is told by its host or its models' names, and its profile.

    hosts: domains, themselves or what lies below them. models: patterns, found in the model's
    name in any case. Without both it is used only where the setting names it.
    """

    name: str
    profile: Profile
    hosts: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


def collect() -> tuple[Quirk, ...]:
    """Find the upstreams of this folder, by name."""
    modules = (module.name for module in pkgutil.iter_modules(__path__))
    return checked(importlib.import_module(f"{__name__}.{name}").QUIRK for name in modules)


def checked(quirks: Iterable[Quirk]) -> tuple[Quirk, ...]:
    """Sort upstreams by name. Raises ValueError for two of one name."""
    quirks = tuple(quirks)
    names = [PLAIN_NAME, *(quirk.name for quirk in quirks)]
    if len(set(names)) < len(names):
        raise ValueError(f"two upstream profiles have the same name: {sorted(names)}")
    return tuple(sorted(quirks, key=lambda quirk: quirk.name))


def profile_for(
    url_host: str, model: str, explicit: str | None = None, quirks: Sequence[Quirk] | None = None
) -> Profile:
    """Choose the profile: the one that the setting names, else by host, else by model.

    The host goes first because it is the server that deviates. Raises ValueError for a name that
    no profile has, with those that there are.
    """
    known = collect() if quirks is None else quirks
    if explicit:
        return explicit_profile(explicit, known)
    host = url_host.lower().rstrip(".")
    by_host = (quirk for quirk in known if any(_is_below(host, domain) for domain in quirk.hosts))
    by_model = (
        quirk
        for quirk in known
        if any(re.search(pattern, model, re.IGNORECASE) for pattern in quirk.models)
    )
    found = next(by_host, None) or next(by_model, None)
    return found.profile if found else PLAIN


def explicit_profile(setting: str, quirks: Sequence[Quirk] | None = None) -> Profile:
    """Read the profile setting: names separated by commas, whose profiles add up.

    `deepseek`, or `inline_think,cumulative`; `-` and `_` are one. Raises ValueError for a name
    that no profile has, with those that there are.
    """
    profiles = {PLAIN_NAME: PLAIN}
    profiles |= {quirk.name: quirk.profile for quirk in (collect() if quirks is None else quirks)}
    chosen = PLAIN
    for word in filter(None, (part.strip().lower() for part in setting.split(","))):
        profile = profiles.get(word.replace("_", "-"))
        if profile is None:
            allowed = ", ".join(sorted(name.replace("-", "_") for name in profiles))
            raise ValueError(f"{word!r} is no upstream profile; allowed are {allowed}")
        chosen = _both(chosen, profile)
    return chosen


def _both(one: Profile, other: Profile) -> Profile:
    return Profile(
        inline_think=one.inline_think or other.inline_think,
        start_in_think=one.start_in_think or other.start_in_think,
        cumulative=one.cumulative or other.cumulative,
        replay_reasoning=one.replay_reasoning or other.replay_reasoning,
        forbid_reasoning=one.forbid_reasoning or other.forbid_reasoning,
        think_tags=tuple(dict.fromkeys((*one.think_tags, *other.think_tags))),
    )


def _is_below(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")

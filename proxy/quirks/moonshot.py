"""Moonshot (Kimi): refuses a message with tool calls that comes back without its reasoning."""

from __future__ import annotations

from proxy.quirks import Profile, Quirk

QUIRK = Quirk(
    name="moonshot",
    profile=Profile(replay_reasoning=True),
    hosts=("moonshot.ai", "moonshot.cn", "kimi.com"),
    models=(r"\bkimi\b", r"\bmoonshot\b"),
)

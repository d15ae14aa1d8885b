"""DeepSeek: refuses a message with tool calls that comes back without its reasoning."""

from __future__ import annotations

from proxy.quirks import Profile, Quirk

QUIRK = Quirk(
    name="deepseek",
    profile=Profile(replay_reasoning=True),
    hosts=("deepseek.com",),
    models=(r"\bdeepseek\b",),
)

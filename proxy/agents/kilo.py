"""Kilo: a fork of opencode with its tools, known by its own headers."""

from __future__ import annotations

from proxy.agents import Agent, HeaderMark, Marks

AGENT = Agent(
    name="kilo",
    marks=Marks(
        headers=(HeaderMark("x-kilo-session"), HeaderMark("x-title", r"^kilo code$")),
        user_agent=(r"\bkilo-code/",),
        prompt=(r"you are kilo\b",),
    ),
    session_headers=("x-session-id", "x-session-affinity", "x-kilo-session"),
    sub_agent=(HeaderMark("x-parent-session-id"),),
    workspace=(r"Working directory:[ \t]*([^\r\n]+)",),
)

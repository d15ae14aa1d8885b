"""Kilo: a fork of opencode with its tools, known by its own headers."""

from __future__ import annotations

from proxy.agents import OPENAI_COMPATIBLE, Agent, HeaderMark, Marks, SidePrompt

AGENT = Agent(
    name="kilo",
    title="Kilo",
    fork_of="opencode",
    marks=Marks(
        headers=(HeaderMark("x-kilo-session"), HeaderMark("x-title", r"^kilo code$")),
        user_agent=(r"\bkilo-code/",),
        prompt=(r"you are kilo\b",),
    ),
    session_headers=("x-session-id", "x-session-affinity", "x-kilo-session"),
    sub_agent=(HeaderMark("x-parent-session-id"),),
    workspace=(r"Working directory:[ \t]*([^\r\n]+)",),
    side_prompts=(
        SidePrompt("title", r"\byou are a title generator\b"),
        SidePrompt("compaction", r"\bsummari[sz]ing conversations\b"),
    ),
    settings=(OPENAI_COMPATIBLE,),
    limits=("Older versions are forks of Roo: recognised by their headers, with Roo's tools.",),
)

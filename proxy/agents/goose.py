"""Goose: the developer extension, under its own names or prefixed ones."""

from __future__ import annotations

from proxy.agents import Agent, HeaderMark, Marks
from rules_engine.families import ToolFamily, shell_family

AGENT = Agent(
    name="goose",
    marks=Marks(
        headers=(
            HeaderMark("agent-session-id"),
            HeaderMark("goose-session-id"),
            HeaderMark("x-goose-session-id"),
        ),
        user_agent=(r"\bgoose/",),
        prompt=(r"ai agent called goose\b",),
    ),
    families=(
        ToolFamily(("write",), ("write",), paths=("path",), added=("content",)),
        ToolFamily(("edit",), ("edit",), paths=("path",), added=("after",), removed=("before",)),
        ToolFamily(
            ("text_editor",),
            ("edit", "write"),
            paths=("path",),
            added=("file_text",),
            where=(("command", ("write", "create")),),
        ),
        ToolFamily(
            ("text_editor",),
            ("edit",),
            paths=("path",),
            added=("new_str",),
            removed=("old_str",),
            where=(("command", ("str_replace", "insert")),),
        ),
        shell_family(("shell",), ("command",)),
    ),
    session_headers=("agent-session-id", "goose-session-id", "x-goose-session-id"),
)

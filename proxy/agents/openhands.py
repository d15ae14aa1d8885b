"""OpenHands: one editor tool whose `command` says what it does."""

from __future__ import annotations

from proxy.agents import Agent, Marks
from rules_engine.families import PatchArgument, PatchFormat, ToolFamily, shell_family

AGENT = Agent(
    name="openhands",
    marks=Marks(
        prompt=(r"you are openhands\b",),
        tools=(frozenset({"file_editor", "terminal"}),),
    ),
    families=(
        ToolFamily(
            ("str_replace_editor", "file_editor"),
            ("edit", "write"),
            paths=("path",),
            added=("file_text",),
            where=(("command", ("create",)),),
        ),
        ToolFamily(
            ("str_replace_editor", "file_editor"),
            ("edit",),
            paths=("path",),
            added=("new_str",),
            removed=("old_str",),
            where=(("command", ("str_replace", "insert")),),
        ),
        ToolFamily(
            ("apply_patch",),
            ("edit", "apply_patch"),
            patches=(PatchArgument("patch", PatchFormat.ENVELOPE),),
        ),
        shell_family(("terminal", "execute_bash"), ("command",)),
    ),
    session_headers=("x-litellm-session-id",),
)

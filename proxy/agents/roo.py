"""Roo Code: whole files, SEARCH/REPLACE blocks, replacements or patches, by model."""

from __future__ import annotations

from proxy.agents import Agent, HeaderMark, Marks
from rules_engine.families import PatchArgument, PatchFormat, ToolFamily, shell_family

AGENT = Agent(
    name="roo",
    marks=Marks(
        headers=(HeaderMark("x-roo-task-id"), HeaderMark("x-title", r"^roo code$")),
        user_agent=(r"\broocode/",),
        prompt=(r"you are roo\b",),
        tools=(frozenset({"apply_diff", "write_to_file"}),),
    ),
    families=(
        ToolFamily(("write_to_file",), ("write",), paths=("path",), added=("content",)),
        ToolFamily(
            ("apply_diff",),
            ("edit",),
            paths=("path",),
            patches=(PatchArgument("diff", PatchFormat.SEARCH_REPLACE),),
        ),
        ToolFamily(
            ("edit", "edit_file", "search_replace"),
            ("edit",),
            paths=("file_path",),
            added=("new_string",),
            removed=("old_string",),
        ),
        ToolFamily(
            ("apply_patch",),
            ("edit", "apply_patch"),
            patches=(PatchArgument("patch", PatchFormat.ENVELOPE),),
        ),
        shell_family(("execute_command",), ("command",)),
    ),
    session_headers=("session_id", "x-roo-task-id"),
    workspace=(r"Current Workspace Directory \(([^)\r\n]+)\)",),
)

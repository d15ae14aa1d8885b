"""Zed: paths begin with the worktree's name; `edits` may come as JSON inside a string."""

from __future__ import annotations

from proxy.agents import Agent, Marks, Taught
from rules_engine.families import ProseFormat, ToolFamily, shell_family

AGENT = Agent(
    name="zed",
    marks=Marks(
        user_agent=(r"\bzed/",),
        tools=(
            frozenset({"edit_file", "terminal", "diagnostics"}),
            frozenset({"streaming_edit_file"}),
        ),
    ),
    families=(
        ToolFamily(("write_file",), ("write",), paths=("path",), added=("content",), rooted=True),
        ToolFamily(
            ("edit_file", "streaming_edit_file"),
            ("edit", "write"),
            paths=("path",),
            added=("content",),
            rooted=True,
        ),
        ToolFamily(
            ("edit_file", "streaming_edit_file"),
            ("edit",),
            paths=("path",),
            added=("edits[].new_text", "edits[].newText"),
            removed=("edits[].old_text", "edits[].oldText"),
            rooted=True,
        ),
        shell_family(("terminal",), ("command",)),
    ),
    # An edit by description: a request of its own, answered in prose, whose prompt has the path.
    prose_formats=(Taught(r"\bcontent wrapped in triple backticks\b", (ProseFormat.WHOLE_FILE,)),),
    prose_path=(r"<file_path>\s*([^<\r\n]{1,500}?)\s*</file_path>",),
)

"""oh-my-pi: one `edit` tool with several argument shapes, by mode."""

from __future__ import annotations

from proxy.agents import Agent, Marks
from rules_engine.families import PatchArgument, PatchFormat, ToolFamily, shell_family

AGENT = Agent(
    name="oh-my-pi",
    marks=Marks(
        user_agent=(r"oh-my-pi", r"\bomp/"),
        prompt=(r"oh[- ]my[- ]pi\b",),
        tools=(frozenset({"ast_edit", "edit"}),),
    ),
    families=(
        ToolFamily(("write",), ("write",), paths=("path",), added=("content",)),
        ToolFamily(
            ("edit",),
            ("edit",),
            paths=("path",),
            added=("new_string",),
            removed=("old_string",),
        ),
        # Patch mode: whole text for a new file, else a diff of which only `+` lines are new.
        ToolFamily(
            ("edit",),
            ("edit", "write"),
            paths=("path",),
            added=("edits[].diff",),
            renamed=("edits[].rename",),
            where=(("edits[].op", ("create",)),),
        ),
        ToolFamily(
            ("edit",),
            ("edit",),
            paths=("path",),
            patches=(PatchArgument("edits[].diff", PatchFormat.HUNKS),),
            renamed=("edits[].rename",),
            unless=(("edits[].op", ("create",)),),
        ),
        ToolFamily(
            ("edit", "apply_patch"),
            ("edit",),
            patches=(
                PatchArgument("input", PatchFormat.ENVELOPE),
                PatchArgument("input", PatchFormat.HASHLINE),
                PatchArgument("", PatchFormat.ENVELOPE),
                PatchArgument("", PatchFormat.HASHLINE),
            ),
            freeform=(PatchFormat.ENVELOPE, PatchFormat.HASHLINE),
        ),
        ToolFamily(
            ("ast_edit",),
            ("edit",),
            paths=("paths[]", "paths", "path"),
            added=("ops[].out",),
            removed=("ops[].pat",),
        ),
        shell_family(("bash",), ("command",)),
    ),
    session_headers=("session_id", "x-client-request-id"),
    workspace=(r"urrent working directory\s*:?\s*['\"`]?([^'\"`<>\r\n]+)",),
)

"""Roo Code: whole files, SEARCH/REPLACE blocks, replacements or patches, by model."""

from __future__ import annotations

from proxy.agents import OPENAI_COMPATIBLE, Agent, HeaderMark, Marks, SidePrompt, Taught
from rules_engine.families import PatchArgument, PatchFormat, ProseFormat, ToolFamily, shell_family

AGENT = Agent(
    name="roo",
    title="Roo Code",
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
        shell_family(("execute_command",), ("command",), directory=("cwd",)),
    ),
    session_headers=("session_id", "x-roo-task-id"),
    side_prompts=(
        SidePrompt("compaction", r"\bsummary of the conversation so far\b", tools=True),
        SidePrompt("compaction", r"\btasked with summari[sz]ing conversations\b", tools=True),
    ),
    workspace=(
        r"Current Workspace Directory \(([^)\r\n]+)\)",
        r"Current Workspace Directory:[ \t]*([^\r\n]+)",
    ),
    prose_formats=(
        Taught(r"<(?:write_to_file|replace_in_file|apply_diff)>", (ProseFormat.ELEMENTS,)),
    ),
    settings=(OPENAI_COMPATIBLE,),
    limits=(
        (
            "To a provider of this kind it names no session, so that subtasks are not told from "
            "tasks either."
        ),
        "Elements inside an argument (several files in one `apply_diff`) are not taken apart.",
    ),
)

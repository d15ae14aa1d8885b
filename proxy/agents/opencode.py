"""opencode: camel-case arguments, the content of `write` often in front of its path."""

from __future__ import annotations

from proxy.agents import Agent, HeaderMark, Marks
from rules_engine.families import PatchArgument, PatchFormat, ToolFamily, shell_family

AGENT = Agent(
    name="opencode",
    marks=Marks(
        headers=(HeaderMark("x-opencode-session"), HeaderMark("x-opencode-client")),
        user_agent=(r"\bopencode/",),
        prompt=(r"you are opencode\b",),
    ),
    families=(
        ToolFamily(("write",), ("write",), paths=("filePath",), added=("content",)),
        ToolFamily(
            ("edit",),
            ("edit",),
            paths=("filePath",),
            added=("newString",),
            removed=("oldString",),
        ),
        ToolFamily(
            ("multiedit",),
            ("edit",),
            paths=("edits[].filePath", "filePath"),
            added=("edits[].newString",),
            removed=("edits[].oldString",),
        ),
        ToolFamily(
            ("apply_patch", "patch"),
            ("edit", "apply_patch"),
            patches=(PatchArgument("patchText", PatchFormat.ENVELOPE),),
        ),
        shell_family(("bash",), ("command",)),
    ),
    session_headers=("x-session-id", "x-session-affinity", "x-opencode-session"),
    sub_agent=(HeaderMark("x-parent-session-id"),),
    side_prompts=(r"\byou are a title generator\b", r"\bgenerate a title for this conversation\b"),
    workspace=(
        r"Working directory:[ \t]*([^\r\n]+)",
        r"Workspace root folder:[ \t]*([^\r\n]+)",
    ),
)

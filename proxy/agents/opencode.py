"""opencode: camel-case arguments, the content of `write` often in front of its path."""

from __future__ import annotations

from proxy.agents import Agent, Api, HeaderMark, Marks, Setting, SidePrompt
from rules_engine.families import PatchArgument, PatchFormat, ToolFamily, shell_family

AGENT = Agent(
    name="opencode",
    title="opencode",
    marks=Marks(
        headers=(
            HeaderMark("x-opencode-session"),
            HeaderMark("x-opencode-client"),
            HeaderMark("x-opencode-request"),
        ),
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
        shell_family(("bash",), ("command",), directory=("workdir",)),
    ),
    session_headers=("x-session-id", "x-session-affinity", "x-opencode-session"),
    sub_agent=(HeaderMark("x-parent-session-id"),),
    side_prompts=(
        SidePrompt("title", r"\byou are a title generator\b"),
        SidePrompt("title", r"\bgenerate a title for this conversation\b"),
        SidePrompt("compaction", r"\bsummari[sz]ing conversations\b"),
    ),
    workspace=(
        r"Working directory:[ \t]*([^\r\n]+)",
        r"Workspace root folder:[ \t]*([^\r\n]+)",
    ),
    apis=(Api.CHAT, Api.RESPONSES),
    settings=(
        Setting(
            "json",
            """\
{
  "provider": {
    "ttsr": {
      "npm": "@ai-sdk/openai-compatible",
      "options": { "baseURL": "http://127.0.0.1:8787/v1", "apiKey": "{env:OPENAI_API_KEY}" },
      "models": { "MODEL": {} }
    }
  },
  "model": "ttsr/MODEL"
}
""",
            where="In `opencode.json`",
        ),
    ),
    limits=(
        (
            "With the provider package `@ai-sdk/openai` it speaks the Responses API, which passes"
            " through without rules."
        ),
    ),
)

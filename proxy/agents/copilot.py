"""GitHub Copilot in an editor, with its own models' key."""

from __future__ import annotations

from proxy.agents import Agent, Api, HeaderMark, Marks, Setting, SidePrompt
from rules_engine.families import PatchArgument, PatchFormat, ToolFamily, shell_family

AGENT = Agent(
    name="copilot",
    title="Copilot in VS Code",
    marks=Marks(
        headers=(HeaderMark("x-interaction-type"), HeaderMark("openai-intent", "^conversation")),
        user_agent=(r"\bgithubcopilotchat/",),
        prompt=(r"github copilot\b",),
        tools=(frozenset({"replace_string_in_file", "run_in_terminal"}),),
    ),
    families=(
        ToolFamily(("create_file",), ("write",), paths=("filePath",), added=("content",)),
        ToolFamily(
            ("replace_string_in_file",),
            ("edit",),
            paths=("filePath",),
            added=("newString",),
            removed=("oldString",),
        ),
        ToolFamily(("insert_edit_into_file",), ("edit",), paths=("filePath",), added=("code",)),
        ToolFamily(
            ("edit_notebook_file",),
            ("edit",),
            paths=("filePath",),
            added=("newCode", "newCode[]"),
        ),
        ToolFamily(
            ("multi_replace_string_in_file",),
            ("edit",),
            paths=("replacements[].filePath",),
            added=("replacements[].newString",),
            removed=("replacements[].oldString",),
        ),
        ToolFamily(
            ("apply_patch",),
            ("edit", "apply_patch"),
            patches=(PatchArgument("input", PatchFormat.ENVELOPE),),
        ),
        shell_family(("run_in_terminal",), ("command",)),
    ),
    sub_agent=(HeaderMark("x-interaction-type", "subagent"),),
    workspace=(r"workspace_info>[\s\S]{0,400}?[-*][ \t]+((?:/|[A-Za-z]:[\\/])[^\r\n<]+)",),
    side_prompts=(SidePrompt("title", r"\bpithy titles for chatbot conversations\b"),),
    apis=(Api.CHAT, Api.RESPONSES),
    settings=(
        Setting(
            "json",
            """\
[
  {
    "name": "ttsr",
    "vendor": "customendpoint",
    "models": [
      {
        "id": "MODEL",
        "name": "MODEL through ttsr",
        "url": "http://127.0.0.1:8787/v1/chat/completions",
        "apiType": "chat-completions",
        "toolCalling": true,
        "maxInputTokens": 128000,
        "maxOutputTokens": 16000
      }
    ]
  }
]
""",
            where="In `chatLanguageModels.json` (*Manage Language Models*, *Custom Endpoint*)",
        ),
    ),
    limits=(
        "Its own models do not come by here, only those that you bring.",
        (
            "With an address that ends in `/responses` it speaks the Responses API, which passes "
            "through without rules."
        ),
        (
            "What a second model applies (`insert_edit_into_file`) is matched as the sketch that "
            "the first one wrote."
        ),
    ),
)

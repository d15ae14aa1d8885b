"""Crush: snake-case arguments, several edits in one call."""

from __future__ import annotations

from proxy.agents import Agent, Marks, Setting, SidePrompt
from rules_engine.families import ToolFamily, shell_family

AGENT = Agent(
    name="crush",
    title="Crush",
    marks=Marks(
        user_agent=(r"\bcrush/", r"\bcharm[- ]fantasy/"),
        prompt=(r"you are crush\b", r"you are an agent for crush\b"),
        tools=(frozenset({"multiedit", "view", "bash"}),),
    ),
    families=(
        ToolFamily(("write",), ("write",), paths=("file_path",), added=("content",)),
        ToolFamily(
            ("edit",),
            ("edit",),
            paths=("file_path",),
            added=("new_string",),
            removed=("old_string",),
        ),
        ToolFamily(
            ("multiedit", "multi_edit"),
            ("edit",),
            paths=("file_path",),
            added=("edits[].new_string",),
            removed=("edits[].old_string",),
        ),
        shell_family(("bash",), ("command",), directory=("working_dir",)),
    ),
    session_headers=("x-session-id", "x-session-affinity"),
    workspace=(r"Working directory:[ \t]*([^\r\n]+)",),
    sub_prompts=(r"You are an agent for Crush\b",),
    side_prompts=(
        SidePrompt("title", r"\bshort title based on the first message\b"),
        SidePrompt("compaction", r"\bconversation context above needs to be compacted\b"),
    ),
    settings=(
        Setting(
            "json",
            """\
{
  "providers": {
    "ttsr": {
      "type": "openai-compat",
      "base_url": "http://127.0.0.1:8787/v1",
      "api_key": "$OPENAI_API_KEY",
      "models": [
        { "id": "MODEL", "name": "MODEL", "context_window": 128000, "default_max_tokens": 16000 }
      ]
    }
  }
}
""",
            where="In `crush.json`",
        ),
    ),
    limits=(
        (
            "Other sub-agents than its own `agent` are not told from it: only their prompts could"
            " say so."
        ),
    ),
)

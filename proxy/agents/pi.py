"""pi: `write` and `edit` with `path`; sends no session on chat completions."""

from __future__ import annotations

from proxy.agents import Agent, Api, Marks, Setting, SidePrompt
from rules_engine.families import ToolFamily, shell_family

AGENT = Agent(
    name="pi",
    title="pi",
    marks=Marks(
        user_agent=(r"\bpi-coding-agent\b",),
        prompt=(r"inside pi\b",),
    ),
    families=(
        ToolFamily(("write",), ("write",), paths=("path",), added=("content",)),
        ToolFamily(
            ("edit",),
            ("edit",),
            paths=("path",),
            added=("newText", "edits[].newText"),
            removed=("oldText", "edits[].oldText"),
        ),
        shell_family(("bash",), ("command",)),
    ),
    workspace=(r"Current working directory:[ \t]*([^\r\n]+)",),
    session_body=("prompt_cache_key",),
    side_prompts=(SidePrompt("compaction", r"\bcontext summari[sz]ation assistant\b"),),
    apis=(Api.CHAT, Api.RESPONSES),
    settings=(
        Setting(
            "json",
            """\
{
  "providers": {
    "ttsr": {
      "baseUrl": "http://127.0.0.1:8787/v1",
      "api": "openai-completions",
      "apiKey": "OPENAI_API_KEY",
      "models": [{ "id": "MODEL" }]
    }
  }
}
""",
            where="In `~/.pi/agent/models.json`",
        ),
    ),
    limits=(
        "On chat completions it names no session: put one into the address, `/s/NAME/v1`.",
        'With `"api": "openai-responses"` it passes through without rules.',
    ),
)

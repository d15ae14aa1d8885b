"""Qwen Code, and the tools that it shares with Gemini CLI."""

from __future__ import annotations

from proxy.agents import Agent, Marks, Setting, SidePrompt
from rules_engine.families import ToolFamily, shell_family

AGENT = Agent(
    name="qwen-code",
    title="Qwen Code",
    marks=Marks(
        user_agent=(r"\bqwencode/",),
        prompt=(r"you are qwen code\b",),
    ),
    families=(
        ToolFamily(("write_file",), ("write",), paths=("file_path",), added=("content",)),
        ToolFamily(
            ("edit", "replace"),
            ("edit",),
            paths=("file_path",),
            added=("new_string",),
            removed=("old_string",),
        ),
        shell_family(("run_shell_command",), ("command",), directory=("directory",)),
    ),
    session_body=("metadata.sessionId",),
    side_prompts=(
        SidePrompt("compression", r"\bsummarizes internal chat history\b"),
        SidePrompt("compression", r"\byou are a specialized context summarizer\b"),
        SidePrompt("recap", r"\byou generate session recaps\b"),
        SidePrompt("label", r"\bsummary label describing what these tool calls accomplished\b"),
    ),
    workspace=(
        r"urrently working in the directory\s*:\s*['\"`]?([^'\"`<>\r\n]+)",
        r"urrently working in the following directories:\s*-[ \t]*([^\r\n]+)",
        r"orking in the directory\s*:\s*['\"`]?([^'\"`<>\r\n]+)",
    ),
    settings=(
        Setting(
            "sh",
            "OPENAI_BASE_URL=http://127.0.0.1:8787/v1 OPENAI_API_KEY=… OPENAI_MODEL=MODEL qwen\n",
        ),
    ),
    limits=(
        "It names its session only to DashScope: put one into the address, `/s/NAME/v1`.",
        (
            "Side questions that are answered through a tool (`respond_in_schema`) are not told "
            "from others."
        ),
    ),
)

"""Qwen Code, and the tools that it shares with Gemini CLI."""

from __future__ import annotations

from proxy.agents import Agent, Marks
from rules_engine.families import ToolFamily, shell_family

AGENT = Agent(
    name="qwen-code",
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
        shell_family(("run_shell_command",), ("command",)),
    ),
    side_prompts=(
        r"\bsummarizes internal chat history\b",
        r"\byou are a specialized context summarizer\b",
        r"\byou generate session recaps\b",
        r"\bsummary label describing what these tool calls accomplished\b",
    ),
    workspace=(
        r"urrently working in the directory\s*:\s*['\"`]?([^'\"`<>\r\n]+)",
        r"orking in the directory\s*:\s*['\"`]?([^'\"`<>\r\n]+)",
    ),
)

"""DeepSeek Harness: names its session, its user and its compactions in headers."""

from __future__ import annotations

from proxy.agents import Agent, HeaderMark, Marks, Setting
from rules_engine.families import ToolFamily, shell_family

AGENT = Agent(
    name="deepseek-harness",
    title="DeepSeek Harness",
    marks=Marks(
        headers=(HeaderMark("x-deepseek-harness-session-id"),),
        user_agent=(r"\bdeepseek-harness/",),
    ),
    families=(
        ToolFamily(("write",), ("write",), paths=("file_path",), added=("content",)),
        ToolFamily(
            ("edit", "str_replace"),
            ("edit",),
            paths=("file_path",),
            added=("new_string",),
            removed=("old_string",),
        ),
        ToolFamily(
            ("multi_edit",),
            ("edit",),
            paths=("file_path",),
            added=("edits[].new_string",),
            removed=("edits[].old_string",),
        ),
        shell_family(("bash",), ("command",), directory=("workdir",)),
    ),
    session_headers=("x-deepseek-harness-session-id",),
    side_headers=(HeaderMark("x-deepseek-harness-compact", "1"),),
    settings=(
        Setting(
            "sh",
            "DEEPSEEK_BASE_URL=http://127.0.0.1:8787/v1 DEEPSEEK_API_KEY=… dsh\n",
        ),
    ),
    limits=(
        (
            "Where its prompt names the directory is not known: put it into the address, "
            "`/w/NAME/v1`."
        ),
        "Its Files API passes through.",
    ),
)

"""Goose: the developer extension, under its own names or prefixed ones."""

from __future__ import annotations

from proxy.agents import Agent, Api, HeaderMark, Marks, Setting, SidePrompt
from rules_engine.families import ToolFamily, shell_family

AGENT = Agent(
    name="goose",
    title="Goose",
    marks=Marks(
        headers=(
            HeaderMark("agent-session-id"),
            HeaderMark("goose-session-id"),
            HeaderMark("x-goose-session-id"),
        ),
        user_agent=(r"\bgoose/",),
        prompt=(r"ai agent called goose\b",),
    ),
    families=(
        ToolFamily(("write",), ("write",), paths=("path",), added=("content",)),
        ToolFamily(("edit",), ("edit",), paths=("path",), added=("after",), removed=("before",)),
        ToolFamily(
            ("text_editor",),
            ("edit", "write"),
            paths=("path",),
            added=("file_text",),
            where=(("command", ("write", "create")),),
        ),
        ToolFamily(
            ("text_editor",),
            ("edit",),
            paths=("path",),
            added=("new_str",),
            removed=("old_str",),
            where=(("command", ("str_replace", "insert")),),
        ),
        shell_family(("shell",), ("command",)),
    ),
    session_headers=("agent-session-id", "goose-session-id", "x-goose-session-id"),
    sub_prompts=(r"specialized subagent within the goose\b",),
    side_prompts=(
        SidePrompt("title", r"\bdescription of this session in \w+ words\b"),
        SidePrompt("compaction", r"\bconversation to summari[sz]e\b"),
    ),
    apis=(Api.CHAT, Api.RESPONSES),
    settings=(
        Setting(
            "sh",
            """\
export GOOSE_PROVIDER=openai OPENAI_API_KEY=…
export OPENAI_HOST=http://127.0.0.1:8787 OPENAI_BASE_PATH=v1/chat/completions
goose
""",
            where="Its host is given without `/v1`",
        ),
    ),
    limits=(
        (
            "For some models (`gpt-5-codex` and others) it chooses the Responses API by itself, "
            "which passes through without rules: set the path as above."
        ),
        (
            "It names no directory: put it into the host, "
            "`OPENAI_HOST=http://127.0.0.1:8787/w/NAME`."
        ),
    ),
)

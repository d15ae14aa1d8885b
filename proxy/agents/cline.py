"""Cline: `editor` creates, replaces and inserts, by which arguments are there."""

from __future__ import annotations

from proxy.agents import OPENAI_COMPATIBLE, Agent, HeaderMark, Marks, Setting, Taught
from rules_engine.families import PatchArgument, PatchFormat, ProseFormat, ToolFamily, shell_family

AGENT = Agent(
    name="cline",
    title="Cline",
    marks=Marks(
        headers=(HeaderMark("x-title", r"^cline$"),),
        user_agent=(r"\bcline/",),
        prompt=(r"you are cline\b",),
        tools=(frozenset({"editor", "run_commands"}),),
    ),
    families=(
        ToolFamily(
            ("editor",),
            ("edit",),
            paths=("path",),
            added=("new_text",),
            removed=("old_text",),
        ),
        ToolFamily(
            ("editor",),
            ("write",),
            paths=("path",),
            added=("new_text",),
            without=("old_text", "insert_line"),
        ),
        ToolFamily(
            ("apply_patch",),
            ("edit", "apply_patch"),
            patches=(
                PatchArgument("input", PatchFormat.ENVELOPE),
                PatchArgument("", PatchFormat.ENVELOPE),
            ),
        ),
        ToolFamily(("write_to_file",), ("write",), paths=("path",), added=("content",)),
        ToolFamily(
            ("replace_in_file",),
            ("edit",),
            paths=("path",),
            patches=(PatchArgument("diff", PatchFormat.SEARCH_REPLACE),),
        ),
        shell_family(
            ("run_commands",),
            ("commands", "commands[]", "commands[].command"),
            words=("commands[].command", "commands[].args[]"),
        ),
        shell_family(("execute_command",), ("command",), directory=("cwd",)),
    ),
    session_headers=("x-task-id",),
    workspace=(
        r"Working Directory:[ \t]*([^\r\n]+)",
        r"Current Working Directory[ \t]*(?:\(([^)\r\n]+)\)|:[ \t]*([^\r\n]+))",
    ),
    prose_formats=(
        Taught(r"<(?:write_to_file|replace_in_file|apply_diff)>", (ProseFormat.ELEMENTS,)),
    ),
    settings=(
        OPENAI_COMPATIBLE,
        Setting(
            "sh",
            "cline auth --provider openai-native --apikey … --modelid MODEL --baseurl http://127.0.0.1:8787/v1\n",
            where="The command line",
        ),
    ),
    limits=(
        ("It names no session to a provider of this kind: put one into the address, `/s/NAME/v1`."),
        "Its team's agents are not told from their leader: nothing in their requests says so.",
    ),
)

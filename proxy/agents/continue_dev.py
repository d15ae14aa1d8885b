"""Continue: the IDE's snake-case tools and the command line's capitalised ones."""

from __future__ import annotations

from proxy.agents import Agent, Marks, Setting, SidePrompt, Taught
from rules_engine.families import ProseFormat, ToolFamily, shell_family

AGENT = Agent(
    name="continue",
    title="Continue",
    marks=Marks(
        user_agent=(r"\bcontinue[/ -]",),
        prompt=(r"continue cli\b",),
        tools=(
            frozenset({"create_new_file", "edit_existing_file"}),
            frozenset({"create_new_file", "single_find_and_replace"}),
        ),
    ),
    families=(
        ToolFamily(("create_new_file",), ("write",), paths=("filepath",), added=("contents",)),
        ToolFamily(("write",), ("write",), paths=("filepath",), added=("content",)),
        ToolFamily(
            ("single_find_and_replace", "edit"),
            ("edit",),
            paths=("filepath", "file_path"),
            added=("new_string",),
            removed=("old_string",),
        ),
        # A sketch with placeholder comments; what it spells out is new.
        ToolFamily(("edit_existing_file",), ("edit",), paths=("filepath",), added=("changes",)),
        ToolFamily(
            ("multi_edit", "multiedit"),
            ("edit",),
            paths=("filepath", "file_path"),
            added=("edits[].new_string",),
            removed=("edits[].old_string",),
        ),
        shell_family(("run_terminal_command", "bash"), ("command",)),
    ),
    workspace=(r"orking [Dd]irectory\s*:[ \t]*([^\r\n<]+)",),
    side_prompts=(
        # Its command line asks with its tools declared.
        SidePrompt("compaction", r"\bconcise summary of our conversation so far\b", tools=True),
    ),
    prose_formats=(Taught(r"\bbegin_arg:", (ProseFormat.ARGUMENT_LINES,)),),
    settings=(
        Setting(
            "yaml",
            """\
models:
  - name: ttsr
    provider: openai
    model: MODEL
    apiBase: http://127.0.0.1:8787/v1
    apiKey: …
    roles: [chat, edit, apply]
""",
            where="In `~/.continue/config.yaml`",
        ),
    ),
    limits=(
        (
            "What a second model applies (`edit_existing_file`) is matched as the sketch that the"
            " first one wrote."
        ),
        (
            "Completions while typing (`/completions` with a suffix, `/fim/completions`) are not "
            "read."
        ),
    ),
)

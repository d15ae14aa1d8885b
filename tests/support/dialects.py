"""How agents without tool calls are taught to edit, and how their models then write an edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from proxy.agents import collect
from rules_engine.families import ProseFormat

_AIDER = "Act as an expert software developer.\n"
_ZED = "You are the Zed coding agent running inside the Zed editor."
_MINI = (
    "You are a helpful assistant that can interact with a computer. Answer with exactly ONE "
    "bash code block."
)
_CONTINUE = (
    "You are an agent in the Continue CLI.\n```tool\nTOOL_NAME: name\nBEGIN_ARG: arg\nEND_ARG\n```"
)
_XML = "Tool uses are formatted with XML-style tags, such as <write_to_file>, <apply_diff> and "
_TASK = "PATH is to say it."


@dataclass(frozen=True)
class Dialect:
    """One agent's way to write edits.

    before, behind: what the model writes around the new source; old text has the bad word too.
    tool: what the edit counts as. ask: what the user's message says. PATH stands for the file.
    tools_off: the request declares its tools all the same, and lets none be called.
    """

    name: str
    agent: str
    format: ProseFormat
    prompt: str
    before: str
    behind: str
    tool: str
    ask: str = _TASK
    tools_off: bool = False

    def __str__(self) -> str:
        return self.name

    def edit(self, path: str, source: str) -> str:
        """An answer that says something, adds `source` to the file, and says something more."""
        return f"I edit.\n\n{self.before.replace('PATH', path)}{source}{self.behind}\nDone."

    def question(self, path: str) -> str:
        """What the user's message is."""
        return self.ask.replace("PATH", path)

    def more(self) -> dict[str, Any]:
        """Keys of the request beside its messages."""
        return {"tool_choice": "none"} if self.tools_off else {}


def _zed(words: str) -> str:
    return f"{words}\n<file_to_edit>\nPATH\n</file_to_edit>\nTool calls have been disabled."


DIALECTS = (
    Dialect(
        "aider-diff",
        "aider",
        ProseFormat.SEARCH_REPLACE,
        _AIDER + "Answer with *SEARCH/REPLACE blocks*.",
        "PATH\n```\n<<<<<<< SEARCH\nold FORBIDDEN\n=======\n",
        "\n>>>>>>> REPLACE\n```",
        "edit",
    ),
    Dialect(
        "aider-diff-fenced",
        "aider",
        ProseFormat.SEARCH_REPLACE,
        _AIDER + "Answer with *SEARCH/REPLACE blocks*.",
        "```\nPATH\n<<<<<<< SEARCH\nold FORBIDDEN\n=======\n",
        "\n>>>>>>> REPLACE\n```",
        "edit",
    ),
    Dialect(
        "aider-whole",
        "aider",
        ProseFormat.WHOLE_FILE,
        _AIDER + "Return a *file listing*.",
        "PATH\n```\n",
        "\n```",
        "write",
    ),
    Dialect(
        "aider-udiff",
        "aider",
        ProseFormat.UNIFIED,
        _AIDER + "Write the changes as `diff -U0` would.",
        "```diff\n--- PATH\n+++ PATH\n@@ ... @@\n-FORBIDDEN\n+",
        "\n```",
        "edit",
    ),
    Dialect(
        "aider-patch",
        "aider",
        ProseFormat.ENVELOPE,
        _AIDER + "Begin with *** Begin Patch.",
        "*** Begin Patch\n*** Update File: PATH\n@@\n-FORBIDDEN\n+",
        "\n*** End Patch",
        "edit",
    ),
    Dialect(
        "cline-write",
        "cline",
        ProseFormat.ELEMENTS,
        f"You are Cline. {_XML}<replace_in_file>.",
        "<write_to_file>\n<path>PATH</path>\n<content>\n",
        "\n</content>\n</write_to_file>",
        "write_to_file",
    ),
    Dialect(
        "cline-replace",
        "cline",
        ProseFormat.ELEMENTS,
        f"You are Cline. {_XML}<replace_in_file>.",
        "<replace_in_file>\n<path>PATH</path>\n<diff>\n------- SEARCH\nFORBIDDEN\n=======\n",
        "\n+++++++ REPLACE\n</diff>\n</replace_in_file>",
        "replace_in_file",
    ),
    Dialect(
        "roo-write",
        "roo",
        ProseFormat.ELEMENTS,
        f"You are Roo. {_XML}<read_file>.",
        "<write_to_file>\n<path>PATH</path>\n<content>\n",
        "\n</content>\n<line_count>1</line_count>\n</write_to_file>",
        "write_to_file",
    ),
    Dialect(
        "roo-diff",
        "roo",
        ProseFormat.ELEMENTS,
        f"You are Roo. {_XML}<read_file>.",
        "<apply_diff>\n<path>PATH</path>\n<diff>\n<<<<<<< SEARCH\n:start_line:1\n-------\n"
        "FORBIDDEN\n=======\n",
        "\n>>>>>>> REPLACE\n</diff>\n</apply_diff>",
        "apply_diff",
    ),
    Dialect(
        "continue-replace",
        "continue",
        ProseFormat.ARGUMENT_LINES,
        _CONTINUE,
        "```tool\nTOOL_NAME: single_find_and_replace\nBEGIN_ARG: filepath\nPATH\nEND_ARG\n"
        "BEGIN_ARG: old_string\nFORBIDDEN\nEND_ARG\nBEGIN_ARG: new_string\n",
        "\nEND_ARG\n```",
        "single_find_and_replace",
    ),
    Dialect(
        "continue-create",
        "continue",
        ProseFormat.ARGUMENT_LINES,
        _CONTINUE,
        "```tool\nTOOL_NAME: create_new_file\nBEGIN_ARG: filepath\nPATH\nEND_ARG\n"
        "BEGIN_ARG: contents\n",
        "\nEND_ARG\n```",
        "create_new_file",
    ),
    Dialect(
        "openhands-create",
        "openhands",
        ProseFormat.FUNCTIONS,
        "You are OpenHands agent. Call a function so: <function=name>",
        "<function=str_replace_editor>\n<parameter=command>create</parameter>\n"
        "<parameter=path>PATH</parameter>\n<parameter=file_text>\n",
        "\n</parameter>\n</function>",
        "str_replace_editor",
    ),
    Dialect(
        "openhands-replace",
        "openhands",
        ProseFormat.FUNCTIONS,
        "You are OpenHands agent. Call a function so: <function=name>",
        "<function=str_replace_editor>\n<parameter=command>str_replace</parameter>\n"
        "<parameter=path>PATH</parameter>\n<parameter=old_str>FORBIDDEN</parameter>\n"
        "<parameter=new_str>\n",
        "\n</parameter>\n</function>",
        "str_replace_editor",
    ),
    Dialect(
        "zed-elements",
        "zed",
        ProseFormat.OLD_NEW,
        _ZED,
        "<edits>\n\n<old_text line=3>\nFORBIDDEN\n</old_text>\n<new_text>\n",
        "\n</new_text>\n\n</edits>",
        "edit",
        _zed("Use `<old_text line=10>` and `<new_text>` tags."),
        tools_off=True,
    ),
    Dialect(
        "zed-blocks",
        "zed",
        ProseFormat.SEARCH_REPLACE,
        _ZED,
        "<<<<<<< SEARCH line=3\nFORBIDDEN\n=======\n",
        "\n>>>>>>> REPLACE\n",
        "edit",
        _zed("Use the SEARCH/REPLACE diff format."),
        tools_off=True,
    ),
    Dialect(
        "zed-new-file",
        "zed",
        ProseFormat.WHOLE_FILE,
        _ZED,
        "```\n",
        "\n```",
        "write",
        "You MUST respond with the file's content wrapped in triple backticks (```).\n"
        "<file_path>\nPATH\n</file_path>",
        tools_off=True,
    ),
    Dialect(
        "mini-fence",
        "mini-swe-agent",
        ProseFormat.SHELL,
        _MINI,
        "```bash\ncat > PATH <<'EOF'\n",
        "\nEOF\n```",
        "bash",
    ),
    Dialect(
        "mini-own-fence",
        "mini-swe-agent",
        ProseFormat.SHELL,
        _MINI + "\n```mswea_bash_command\n…\n```",
        "```mswea_bash_command\ncat > PATH <<'EOF'\n",
        "\nEOF\n```",
        "bash",
    ),
    Dialect(
        "mini-element",
        "mini-swe-agent",
        ProseFormat.SHELL,
        _MINI + "\n<mswea_bash_command>…</mswea_bash_command>",
        "<mswea_bash_command>cat > PATH <<'EOF'\n",
        "\nEOF\n</mswea_bash_command>",
        "bash",
    ),
)
"""Each agent that edits in prose, in each of its formats."""


def taught() -> set[tuple[str, ProseFormat]]:
    """Every format that an agent's file knows to be taught."""
    return {
        (agent.name, shape)
        for agent in collect()
        for each in agent.prose_formats
        for shape in each.formats
    }

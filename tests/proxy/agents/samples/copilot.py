"""What copilot sends, and what is to be made of it."""

from __future__ import annotations

from tests.support.samples import Added, Samples, call, seen

SAMPLES = Samples(
    requests=(
        seen({"x-interaction-type": "conversation-agent"}),
        seen({"x-interaction-type": "conversation-subagent"}, role="sub"),
        seen({"user-agent": "GitHubCopilotChat/0.40"}),
        seen(
            declared=("replace_string_in_file", "run_in_terminal"),
            first_user="<workspace_info>\nfolders:\n- /w/p\n</workspace_info>",
            workspace="/w/p",
        ),
        seen(
            {"user-agent": "GitHubCopilotChat/0.40"},
            system="You are an expert in crafting pithy titles for chatbot conversations.",
            side=True,
        ),
    ),
    calls=(
        call(
            "create_file", {"filePath": "/w/a.ts", "content": "x"}, Added("/w/a.ts", "x", "write")
        ),
        call(
            "replace_string_in_file",
            {"filePath": "/w/a.ts", "oldString": "old", "newString": "new"},
            Added("/w/a.ts", "new", "edit"),
        ),
        call(
            "insert_edit_into_file",
            {"explanation": "why", "filePath": "/w/a.ts", "code": "new"},
            Added("/w/a.ts", "new", "edit"),
        ),
        call(
            "edit_notebook_file",
            {"filePath": "/w/a.ipynb", "newCode": ["1", "2"]},
            Added("/w/a.ipynb", "1", "edit"),
            Added("/w/a.ipynb", "2", "edit"),
        ),
        call(
            "multi_replace_string_in_file",
            {
                "explanation": "why",
                "replacements": [
                    {"filePath": "a", "oldString": "old", "newString": "1"},
                    {"newString": "2", "filePath": "b"},
                ],
            },
            Added("a", "1", "edit"),
            Added("b", "2", "edit"),
        ),
        call(
            "apply_patch",
            {
                "input": "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n",
                "explanation": "why",
            },
            Added("a.rs", "new", "edit"),
        ),
        call(
            "run_in_terminal",
            {"command": "ls", "explanation": "why"},
            Added("", "ls", "bash shell"),
        ),
    ),
)

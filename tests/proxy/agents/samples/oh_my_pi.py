"""What oh-my-pi sends, and what is to be made of it."""

from __future__ import annotations

from tests.support.samples import Added, Samples, call, raw_call, seen

SAMPLES = Samples(
    requests=(
        seen({"user-agent": "oh-my-pi/18"}),
        seen(
            {"session_id": "s"},
            system="You are an agent of oh-my-pi.\nThe current working directory is '/w/p'.",
            declared=("edit",),
            session="s",
            workspace="/w/p",
        ),
        seen(declared=("edit", "ast_edit", "bash")),
        seen(
            {"user-agent": "oh-my-pi/18"},
            system="A piece of work assigned by your direct parent agent.",
            declared=("edit", "yield"),
            hints=(("prompt_cache_key", "k"),),
            role="sub",
            session="k",
        ),
        seen(
            {"user-agent": "oh-my-pi/18"},
            system="Write a ~5 word title using only the task in the next message.",
            side=True,
        ),
    ),
    calls=(
        call("write", {"path": "a.rs", "content": "x"}, Added("a.rs", "x")),
        call(
            "edit", {"path": "a.rs", "old_string": "old", "new_string": "new"}, Added("a.rs", "new")
        ),
        call(
            "edit",
            {"path": "a.rs", "edits": [{"op": "create", "diff": "all\n-of it"}]},
            Added("a.rs", "all\n-of it", "write"),
        ),
        call(
            "edit",
            {
                "path": "a.rs",
                "edits": [{"diff": "@@\n-old\n+new\n ctx", "op": "update", "rename": "b.rs"}],
            },
            Added("a.rs", "new"),
            Added("b.rs", "new"),
        ),
        call("edit", {"input": "[a.rs#1f3]\nPUT 4\n+new\n"}, Added("a.rs", "new")),
        call(
            "edit",
            {"input": "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n"},
            Added("a.rs", "new"),
        ),
        call(
            "ast_edit",
            {"ops": [{"pat": "old($A)", "out": "new($A)"}], "paths": ["a.rs", "b.rs"]},
            Added("a.rs b.rs", "new($A)", "edit"),
        ),
        call("bash", {"command": "ls"}, Added("", "ls", "shell")),
        call("read", {"path": "a.rs"}, Added("a.rs", "a.rs")),
        raw_call(
            "apply_patch",
            "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n",
            Added("a.rs", "new", "edit"),
        ),
        raw_call("edit", "[a.rs#1f3]\n+new\n", Added("a.rs", "new")),
    ),
)

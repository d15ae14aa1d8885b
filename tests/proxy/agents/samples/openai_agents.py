"""What OpenAI's Agents SDK sends, and what is to be made of it."""

from __future__ import annotations

from tests.support.samples import Added, Samples, call, seen

SAMPLES = Samples(
    requests=(
        seen({"user-agent": "Agents/Python 0.24.0"}),
        # A key of its own is one for all that the application does.
        seen(
            {"user-agent": "Agents/Python 0.24.0"},
            hints=(("prompt_cache_key", "k"),),
            session="k-e3b0c44298fc1c14",
        ),
    ),
    calls=(
        call(
            "apply_patch",
            {
                "operation": {
                    "type": "update_file",
                    "diff": "@@\n ctx\n-old\n+new",
                    "path": "a.py",
                }
            },
            Added("a.py", "new", "edit"),
        ),
    ),
)

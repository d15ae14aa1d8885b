"""What mini-swe-agent sends, and what is to be made of it."""

from __future__ import annotations

from rules_engine.families import ProseFormat
from tests.support.samples import Added, Samples, call, seen

PROMPT = "You are a helpful assistant that can interact with a computer."

SAMPLES = Samples(
    requests=(
        seen(system=PROMPT),
        # Where the model has no tools, it is the text that runs the shell.
        *(
            seen(system=f"{PROMPT}\n{taught}", formats=frozenset({ProseFormat.SHELL}))
            for taught in (
                "Your response must contain exactly ONE bash code block with ONE command.",
                "Include **EXACTLY ONE** bash code block.",
                "```mswea_bash_command\nyour_command_here\n```",
            )
        ),
    ),
    calls=(
        call("bash", {"command": "ls"}, Added("", "ls", "shell")),
        call(
            "bash",
            {"command": "cd w && cat <<'EOF' > a.py\nx\nEOF\n"},
            Added("", "cd w && cat <<'EOF' > a.py\nx\nEOF\n", "shell"),
            Added("w/a.py", "x", "write"),
        ),
    ),
)

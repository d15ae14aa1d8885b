"""What kilo sends, and what is to be made of it."""

from __future__ import annotations

from tests.support.samples import Added, Samples, call, seen

SAMPLES = Samples(
    requests=(
        seen({"x-kilo-session": "s"}, session="s"),
        seen({"user-agent": "Kilo-Code/7"}),
        seen({"x-title": "Kilo Code"}),
    ),
    calls=(call("write", {"content": "x", "filePath": "a.ts"}, Added("a.ts", "x")),),
)

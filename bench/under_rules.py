"""Our own proxy as it is measured: a real `ttsr serve` with rules, in several settings.

The rules are those of the engine's bench, as files; ledger and audit are on, as they always are.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import regex

from bench.engine import clean, pieces, rules
from bench.peers import Peer, Place, nothing_missing
from bench.processes import Launch
from proxy.config import UpstreamSettings

RULES = 60
# Stands in every rule's text, so that the upstream knows a second attempt by it.
MARK = "bench-second-attempt"
_TEXT_SIZE = 20_000
_DELTA_LIMIT = 200

_RULE = """---
description: A rule of the bench
condition: {condition}
scope: text
interruptMode: {mode}
---
{mark}: say the same without it.
"""

_SETTINGS = """upstream:
  url: {origin}/v1
{transport}listen:
  port: {port}
ttsr:
  builtinRules: false
db: {folder}/ttsr.db
userRulesDir: {folder}/none
release: {release}
limits:
  turns: 8000
"""

Release = Literal["cut", "safe"]


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to run the proxy. `rules`: whether there are any. `transport`: which client."""

    name: str
    rules: bool = True
    release: Release = "cut"
    mode: str = "always"
    transport: str | None = None

    def launch(self, place: Place) -> Launch:
        """A workspace with rules and settings, and `ttsr serve` on it."""
        arguments = self.prepared(place)
        argv = (sys.executable, "-c", "from proxy.cli import main; main()", *arguments)
        return Launch(argv, {"HOME": str(place.folder)})

    def prepared(self, place: Place, more: str = "") -> tuple[str, ...]:
        """Write rules and settings, and `more` of these; answers the command's arguments."""
        if self.rules:
            write_rules(place.folder, self.mode)
        settings = place.folder / "ttsr.yaml"
        transport = f"  transport: {self.transport}\n" if self.transport else ""
        text = _SETTINGS.format(
            origin=place.origin,
            port=place.port,
            folder=place.folder,
            release=self.release,
            transport=transport,
        )
        settings.write_text(text + more, encoding="utf-8")
        return ("serve", "--config", str(settings), "--workspace", str(place.folder))

    def peer(self) -> Peer:
        """It is measured as every other."""
        return Peer(self.name, nothing_missing, self.launch, ready="/readyz")


OFF = Variant("ttsr, no rules", rules=False)
REMINDING = Variant("ttsr, reminding", mode="never")
CUT = Variant("ttsr, cut")
SAFE = Variant("ttsr, safe", release="safe")


def variants() -> tuple[Variant, ...]:
    """What is measured; with the other HTTP client, where the settings know one."""
    known = UpstreamSettings.model_fields.get("transport")
    if known is None:
        return (OFF, REMINDING, CUT, SAFE)
    return (OFF, REMINDING, CUT, SAFE, Variant("ttsr, cut, httpx", transport="httpx"))


def rules_folder(folder: Path) -> Path:
    """Where a project has its rules."""
    return folder / ".omp" / "rules"


def violation() -> str:
    """Text that the first rule interrupts."""
    return f" {rules(RULES).words[0]}("


def write_rules(folder: Path, mode: str) -> None:
    """Write the rules as a project has them."""
    below = rules_folder(folder)
    below.mkdir(parents=True)
    (folder / ".git").mkdir()
    for live in rules(RULES).live:
        condition = json.dumps(live.rule.conditions[0])
        text = _RULE.format(condition=condition, mode=mode, mark=MARK)
        (below / f"{live.rule.name}.md").write_text(text, encoding="utf-8")


def write_deltas(path: Path) -> None:
    """Write what the upstream says: a violation of the first rule, then text that breaks none."""
    known = rules(RULES)
    text = clean(_TEXT_SIZE, known.words)
    hits = [live.rule.name for live in known.live if _breaks(live.rule.conditions[0], text)]
    assert not hits, f"the clean text breaks {hits}"
    lines = [violation(), *(piece[:_DELTA_LIMIT] for piece in pieces(text))]
    path.write_text("".join(f"{len(line)}\t{_escaped(line)}\n" for line in lines), "utf-8")


def _breaks(condition: str, text: str) -> bool:
    return regex.search(condition, text + text) is not None


def _escaped(text: str) -> str:
    return json.dumps(text)[1:-1]

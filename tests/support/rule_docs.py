"""The tables of `docs/rules.md`, made from the code: `make docs` puts them into the page."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Iterator
from pathlib import Path

from proxy.inventory import REASONS, scope_word
from rules_engine.closed import LANGUAGES
from rules_engine.discovery import Candidate, Provider, Roots, collect
from rules_engine.frontmatter import LARGEST, LARGEST_FRONTMATTER, LONGEST_REMINDER
from rules_engine.problems import FAULTS
from rules_engine.ruleset import Reason
from rules_engine.triggers.structure import CODE
from tests.support.literate import bundled
from tests.support.made_tables import DOCS, Tables, table, write
from tests.support.trees import DictTree

PAGE = DOCS / "rules.md"

# Where a convention may look, by how the page calls it.
ROOTS = Roots(
    home="/~",
    workspace="/~/project",
    user_rules_dir="/userRulesDir",
    dsh_home="/DSH_HOME",
    plugin_roots=("/plugin",),
    copilot_dirs=("/copilot",),
    builtins="/bundled",
)
_FOLDERS = (
    "/~/project/.omp/rules", "/~/project/.dsh/rules", "/userRulesDir/rules", "/DSH_HOME/rules",
    "/plugin/rules", "/~/project/.agent/rules", "/~/project/.agents/rules", "/~/.agent/rules",
    "/~/.agents/rules", "/~/project/.claude/rules", "/~/.claude/rules", "/~/project/.cursor/rules",
    "/~/.cursor/rules", "/~/project/.windsurf/rules", "/~/project/.clinerules",
    "/~/project/.github/instructions", "/copilot/.github/instructions", "/bundled",
)  # fmt: skip
_SINGLE = (
    "/userRulesDir/RULES.md",
    "/~/project/.omp/RULES.md",
    "/~/.codeium/windsurf/memories/global_rules.md",
)
_ENDINGS = (".instructions.md", ".md", ".mdc")
_LONGEST = "*.instructions.md"  # one of the others, but for the convention that wants it


def problems() -> str:
    """Every code, how bad it is, what it means, the next step."""
    rows = (
        (f"`{code}`", fault.severity, fault.says, fault.advice) for code, fault in FAULTS.items()
    )
    return table(("code", "severity", "what it means", "next step"), rows)


def conventions() -> str:
    """Every convention with the places that it really looks at, in its order."""
    files = [f"{folder}/a{ending}" for folder in _FOLDERS for ending in _ENDINGS]
    tree = DictTree(dict.fromkeys((*files, *_SINGLE), "x"))
    rows = (
        (str(each.priority), f"`{each.name}`", "; ".join(_places(each, tree))) for each in collect()
    )
    return table(("priority", "convention", "files, the first that counts first"), rows)


def _places(provider: Provider, tree: DictTree) -> Iterator[str]:
    found: dict[str, list[str]] = {}
    for each in provider.find(tree, ROOTS):
        assert isinstance(each, Candidate)
        folder, file = posixpath.split(each.path)
        name = file.replace("a.", "*.") if folder in _FOLDERS else file
        found.setdefault(folder, []).append(name)
    for folder, endings in found.items():
        shown = folder.removeprefix("/~/project/").replace("/~", "~").lstrip("/")
        if folder == ROOTS.builtins:
            yield "those that come with the proxy"
            continue
        first, *more = (each for each in endings if len(endings) == 1 or each != _LONGEST)
        yield " ".join((f"`{_spelt(shown)}/{first}`", *(f"`{name}`" for name in more)))


def _spelt(folder: str) -> str:
    for ours, spelt in (("plugin", "<plugin root>"), ("copilot", "<copilot directory>")):
        folder = folder.replace(f"{ours}/", f"{spelt}/", 1) if folder.startswith(ours) else folder
    return folder.replace("DSH_HOME", "~/.dsh").replace("userRulesDir", "~/.omp/agent")


def reasons() -> str:
    """Every reason why a rule is off, with what to do."""
    return table(("reason", "meaning"), ((f"`{each}`", REASONS[each]) for each in Reason))


def builtins() -> str:
    """Every bundled rule: name, files, what it says of itself."""
    rows = []
    for live in bundled().live:
        globs = dict.fromkeys(scope_word(each).partition("(")[2][:-1] for each in live.rule.scope)
        kind = "structure" if live.structures else "pattern"
        files = " ".join(f"`{glob}`" for glob in globs)
        rows.append((f"`{live.rule.name}`", files, kind, live.rule.description or ""))
    return table(("rule", "files", "by", "what it is about"), rows)


def languages() -> str:
    """Languages that structures are searched in."""
    return ", ".join(sorted(CODE)) + "."


def closing_languages() -> str:
    """Languages in which a structure may cut a call that still streams."""
    return ", ".join(sorted(LANGUAGES)) + "."


def limits() -> str:
    """What is too large for a rule."""
    rows = (
        ("rule file", f"{LARGEST // 1024} KiB"),
        ("frontmatter", f"{LARGEST_FRONTMATTER // 1024} KiB"),
        ("`reminder`", f"{LONGEST_REMINDER} bytes"),
    )
    return table(("what", "at most"), rows)


TABLES: Tables = {
    "problems": problems,
    "conventions": conventions,
    "reasons": reasons,
    "builtins": builtins,
    "languages": languages,
    "closing": closing_languages,
    "limits": limits,
}


if __name__ == "__main__":
    write(Path(sys.argv[1]), TABLES)

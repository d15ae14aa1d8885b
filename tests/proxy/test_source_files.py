from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from proxy.source_files import files

TREE = {
    ".gitignore": "*.log\n!keep.log\n/build/\nlogs/\n!\n\\\n",
    "a.ts": "",
    "x.log": "",
    "keep.log": "",
    "build/out.ts": "",
    "src/build/in.ts": "",
    "src/.gitignore": "!y.log\ngen-*\n",
    "src/y.log": "",
    "src/gen-1.ts": "",
    "src/.hidden/b.ts": "",
    "logs/keep.log": "",
    ".git/config": "",
    ".git/info/exclude": "secret.ts\n",
    "secret.ts": "",
}
KEPT = [
    ".gitignore",
    "a.ts",
    "keep.log",
    "src/.gitignore",
    "src/.hidden/b.ts",
    "src/build/in.ts",
    "src/y.log",
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, content in TREE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path.resolve()


def below(directory: Path, *, gitignore: bool = True) -> list[str]:
    return sorted(
        str(path.relative_to(directory)) for path in files(directory, gitignore=gitignore)
    )


def test_files_are_those_that_git_would_not_ignore(tree: Path) -> None:
    """Nested ignore files, negation, directories, `info/exclude`; lines that are no pattern."""
    assert below(tree) == KEPT


def test_files_agree_with_git(tree: Path) -> None:
    """The same tree, asked of git itself."""
    config = tree / ".git" / "config"
    config.unlink()
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True, capture_output=True)
    (tree / ".git" / "info" / "exclude").write_text(TREE[".git/info/exclude"])
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard"],
        cwd=tree, check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    assert sorted(listed) == KEPT


def test_files_without_gitignore_are_all_but_gits_own(tree: Path) -> None:
    """Hidden ones included."""
    assert below(tree, gitignore=False) == sorted(name for name in TREE if name[:5] != ".git/")


def test_files_below_a_directory_obey_the_repository_around_it(tree: Path) -> None:
    """Ignore files above the directory count."""
    assert below(tree / "src") == [".gitignore", ".hidden/b.ts", "build/in.ts", "y.log"]


def test_links_are_left_out(tree: Path) -> None:
    """They may lead anywhere, and round in circles."""
    (tree / "loop").symlink_to(tree)
    (tree / "link.ts").symlink_to(tree / "a.ts")
    assert below(tree) == KEPT


def test_missing_directory_has_no_files(tmp_path: Path) -> None:
    """Nor has one that cannot be listed."""
    assert below(tmp_path / "missing") == []

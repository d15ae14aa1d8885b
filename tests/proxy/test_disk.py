from __future__ import annotations

import os
from pathlib import Path

import pytest

from proxy.disk import DiskTree, has_changed
from rules_engine.discovery import Kind, TreeEntry, Unread
from rules_engine.frontmatter import LARGEST
from rules_engine.problems import Code
from tests.support.python_calls import calls_of


@pytest.fixture
def root(tmp_path: Path) -> Path:
    inside = tmp_path.resolve() / "root"
    inside.mkdir()
    return inside


def test_list_gives_files_and_directories_by_name(root: Path) -> None:
    """Other kinds of entries are left out; a missing directory is empty."""
    (root / "b.md").write_text("x")
    (root / "a").mkdir()
    os.mkfifo(root / "pipe")
    tree = DiskTree([str(root)])
    assert tree.list(str(root)) == (
        (TreeEntry("a", Kind.DIRECTORY), TreeEntry("b.md", Kind.FILE)),
        (),
    )
    assert tree.list(f"{root}/none") == ((), ())
    assert tree.list(f"{root}/b.md") == ((), ())


def test_read_follows_links_inside_the_root(root: Path) -> None:
    """A symlinked file is a file like any other."""
    (root / "real.md").write_text("text")
    (root / "link.md").symlink_to("real.md")
    (root / "dir").symlink_to(root, target_is_directory=True)
    tree = DiskTree([str(root)])
    assert tree.read(f"{root}/link.md") == b"text"
    assert tree.kind(f"{root}/link.md") is Kind.FILE
    assert tree.read(f"{root}/dir/link.md") == b"text"


@pytest.mark.parametrize("target", ["../secret.md", "loop.md", "gone.md"])
def test_links_that_leave_the_root_or_loop_are_not_followed(root: Path, target: str) -> None:
    """A link in a repository cannot turn a private file into a rule."""
    (root.parent / "secret.md").write_text("secret")
    link = root / "loop.md"
    link.symlink_to(target)
    tree = DiskTree([str(root)])
    assert tree.list(str(root)) == ((), (Unread(Code.BAD_LINK, str(link)),))
    assert tree.read(str(link)) == Unread(Code.BAD_LINK, str(link))
    assert tree.kind(str(link)) is None


def test_directory_links_that_leave_the_root_are_not_followed(root: Path) -> None:
    """The same for a directory on the way."""
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("x")
    (root / "rules").symlink_to(outside, target_is_directory=True)
    tree = DiskTree([str(root)])
    assert tree.list(f"{root}/rules") == ((), (Unread(Code.BAD_LINK, f"{root}/rules"),))
    assert isinstance(tree.read(f"{root}/rules/a.md"), Unread)


def test_innermost_root_bounds_a_link(root: Path) -> None:
    """A project below home may not link into the rest of home; home itself may."""
    (root / "private.md").write_text("x")
    project = root / "project"
    project.mkdir()
    (project / "a.md").symlink_to("../private.md")
    (root / "a.md").symlink_to("private.md")
    tree = DiskTree([str(root), str(project)])
    assert isinstance(tree.read(f"{project}/a.md"), Unread)
    assert tree.read(f"{root}/a.md") == b"x"


def test_paths_outside_every_root_are_read_without_links(root: Path) -> None:
    """Above the roots a plain file is read, a link is not."""
    (root.parent / "a.md").write_text("x")
    (root.parent / "b.md").symlink_to("a.md")
    tree = DiskTree([str(root)])
    assert tree.read(f"{root.parent}/a.md") == b"x"
    assert isinstance(tree.read(f"{root.parent}/b.md"), Unread)


def test_read_is_bounded(root: Path) -> None:
    """A huge file is read only as far as it takes to see that it is too large."""
    (root / "a.md").write_bytes(b"x" * (LARGEST + 10))
    content = DiskTree([str(root)]).read(f"{root}/a.md")
    assert isinstance(content, bytes)
    assert len(content) == LARGEST + 1


def test_read_of_what_is_no_file_is_a_value(root: Path) -> None:
    """Directories, pipes and NULs in a path are answers, never exceptions."""
    os.mkfifo(root / "pipe")
    tree = DiskTree([str(root)])
    for path in (str(root), f"{root}/pipe", f"{root}/none", f"{root}/a\0b"):
        assert isinstance(tree.read(path), Unread)
    assert tree.kind(f"{root}/a\0b") is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_files_are_values(root: Path) -> None:
    """A file without permission says so."""
    (root / "a.md").write_text("x")
    (root / "a.md").chmod(0)
    content = DiskTree([str(root)]).read(f"{root}/a.md")
    assert content == Unread(Code.UNREADABLE, f"{root}/a.md", "Permission denied")


def test_names_that_are_no_text_are_values(root: Path) -> None:
    """A file name that is not UTF-8 is reported in a form that can be shown."""
    Path(os.fsdecode(os.fsencode(root) + b"/\xff.md")).write_text("x")
    entries, unread = DiskTree([str(root)]).list(str(root))
    assert entries == ()
    assert [each.code for each in unread] == [Code.BAD_NAME]
    unread[0].path.encode()


def test_marks_change_with_what_was_looked_at_alone(root: Path) -> None:
    """New, edited and removed files count; neighbours that nobody looked at do not."""
    rules = root / "rules"
    rules.mkdir()
    (rules / "a.md").write_text("x")
    tree = DiskTree([str(root)])
    tree.list(str(rules))
    tree.read(f"{rules}/a.md")
    tree.kind(f"{root}/.git")
    tree.list(f"{root}/none")
    marks = tree.marks
    assert not has_changed(marks)
    (root / "unrelated").write_text("x")
    assert not has_changed(marks)
    for change in (
        lambda: (rules / "a.md").write_text("yy"),
        lambda: (rules / "b.md").write_text("x"),
        (root / ".git").mkdir,
        (root / "none").mkdir,
    ):
        before = DiskTree([str(root)])
        before.list(str(rules))
        before.read(f"{rules}/a.md")
        before.kind(f"{root}/.git")
        before.list(f"{root}/none")
        change()
        assert has_changed(before.marks)


def test_a_look_for_changes_costs_few_calls_a_file(root: Path) -> None:
    """A request behind a pause waits for it."""
    for number in range(100):
        (root / f"{number}.md").write_text("x")
    tree = DiskTree([str(root)])
    entries, _ = tree.list(str(root))
    for entry in entries:
        tree.read(f"{root}/{entry.name}")
    assert len(tree.marks) > len(entries)
    assert calls_of(lambda: has_changed(tree.marks)) <= 4.2 * len(tree.marks)

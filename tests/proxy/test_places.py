from __future__ import annotations

from pathlib import Path

import pytest

from proxy.places import Places, lies_in, repository


@pytest.fixture
def root(tmp_path: Path) -> Path:
    real = tmp_path.resolve()
    for name in ("project/sub", "extra/deep", "other", "home/x"):
        (real / name).mkdir(parents=True)
    (real / "project/leak").symlink_to(real / "other", target_is_directory=True)
    (real / "project/loop").symlink_to("loop")
    return real


def test_directory_is_read_only_if_allowed(root: Path) -> None:
    """The configured one and those listed, with what lies below; any other name is a label."""
    project, extra, other = root / "project", root / "extra", root / "other"
    places = Places(project, (extra,), loopback=False, home=root / "home")
    for label, directory in (
        ("", project),
        (str(project / "sub"), project / "sub"),
        (str(extra / "deep"), extra / "deep"),
        ("extra", extra),
        ("project", project),
        (str(other), project),
        ("other", project),
        (str(project / "leak"), project),
        (f"{extra}/../other", project),
        (str(project / "none"), project),
        ("../extra", project),
        ("a\0b", project),
        ("~/x", project),
        ("/" + "x" * 5000, project),
        (str(project / "loop"), project),
    ):
        assert places.directory(label) == str(directory), label


def test_directory_on_loopback_may_be_the_users_own(root: Path) -> None:
    """What lies below home or belongs to the user may be named, in full or from home."""
    places = Places(root / "project", home=root / "home")
    assert places.directory(str(root / "other")) == str(root / "other")
    assert places.directory("~/x") == str(root / "home/x")
    assert Places(root / "project").directory("~/x") == str(root / "project")


def test_repository_is_found_above(root: Path) -> None:
    """Without one, the directory stands for itself."""
    (root / "project/.git").mkdir()
    assert repository(str(root / "project/sub")) == str(root / "project")
    assert repository(str(root / "other")) == str(root / "other")


def test_lies_in_compares_whole_names() -> None:
    """`/ab` is not below `/a`; everything is below the root."""
    assert lies_in("/a/b", "/a")
    assert lies_in("/a", "/a")
    assert not lies_in("/ab", "/a")
    assert lies_in("/a", "/")

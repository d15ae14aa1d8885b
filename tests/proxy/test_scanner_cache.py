"""Compiled scanners on disk."""

from __future__ import annotations

import errno
import logging
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from proxy.scanner_cache import ScannerCache, complete
from rules_engine.dialect import compile_pattern
from rules_engine.matcher import Matcher

KEYS = [f"{number:064x}" for number in range(8)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "ttsr.db-scanners"


@pytest.fixture
def cache(folder: Path) -> ScannerCache:
    return ScannerCache(folder)


def test_cache_gives_what_it_was_given(cache: ScannerCache, folder: Path) -> None:
    """Under the key that it was given for, and for its user's eyes alone."""
    assert cache.read(KEYS[0]) is None
    cache.write(KEYS[0], b"data")
    assert (cache.read(KEYS[0]), cache.read(KEYS[1])) == (b"data", None)
    assert [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()] == [0o600]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_cache_lies_beside_the_database(tmp_path: Path) -> None:
    """Its place is known by the database's name; without a database there is none."""
    cache = ScannerCache.beside(tmp_path / "ttsr.db")
    assert cache is not None
    cache.write(KEYS[0], b"data")
    assert (tmp_path / "ttsr.db-scanners" / f"{KEYS[0]}.scanner").is_file()
    assert ScannerCache.beside(Path()) is None


def test_least_used_files_make_room(folder: Path) -> None:
    """Reading counts as use; what stands there besides is nobody's business."""
    cache = ScannerCache(folder, most_files=2)
    folder.mkdir(parents=True, mode=0o700)
    (folder / "notes").write_bytes(b"mine")
    for number, key in enumerate(KEYS[:2]):
        cache.write(key, b"data")
        os.utime(folder / f"{key}.scanner", (number, number))
    cache.read(KEYS[0])
    cache.write(KEYS[2], b"data")
    assert [cache.read(key) for key in KEYS[:3]] == [b"data", None, b"data"]
    assert (folder / "notes").read_bytes() == b"mine"


def test_files_are_bounded_in_size(folder: Path) -> None:
    """All together, and each: what is too large alone is not kept."""
    cache = ScannerCache(folder, most_bytes=10)
    cache.write(KEYS[0], b"x" * 6)
    os.utime(folder / f"{KEYS[0]}.scanner", (1, 1))
    cache.write(KEYS[1], b"y" * 6)
    cache.write(KEYS[2], b"z" * 11)
    assert [cache.read(key) for key in KEYS[:3]] == [None, b"y" * 6, None]


def test_what_was_left_unfinished_goes_with_the_rest(folder: Path) -> None:
    """A process that died in the middle of writing leaves nothing for ever."""
    cache = ScannerCache(folder, most_files=1)
    folder.mkdir(parents=True, mode=0o700)
    (folder / "0000abcd.unfinished").write_bytes(b"half")
    os.utime(folder / "0000abcd.unfinished", (1, 1))
    cache.write(KEYS[0], b"data")
    assert [path.name for path in folder.iterdir()] == [f"{KEYS[0]}.scanner"]


def open_to_others(path: Path) -> None:
    path.chmod(0o666)


def of_another_user(path: Path) -> None:
    if os.geteuid():
        pytest.skip("only the superuser can give a file away")
    os.chown(path, 12345, -1)


def link(path: Path) -> None:
    target = path.with_name("elsewhere")
    path.rename(target)
    path.symlink_to(target)


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


@pytest.mark.parametrize("change", [open_to_others, of_another_user, link, pipe])
def test_file_that_others_may_have_written_is_not_taken(
    cache: ScannerCache, folder: Path, change: Callable[[Path], None]
) -> None:
    """It is as if it were not there, and is replaced by what is written next."""
    cache.write(KEYS[0], b"data")
    change(folder / f"{KEYS[0]}.scanner")
    assert cache.read(KEYS[0]) is None
    cache.write(KEYS[0], b"more")
    assert cache.read(KEYS[0]) == b"more"


@pytest.mark.parametrize("change", [open_to_others, of_another_user])
def test_folder_that_others_may_have_filled_is_not_used(
    cache: ScannerCache,
    folder: Path,
    change: Callable[[Path], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nothing is read from it and nothing written, and that is told once."""
    cache.write(KEYS[0], b"data")
    change(folder)
    folder.chmod(folder.stat().st_mode | 0o700)
    assert cache.read(KEYS[0]) is None
    for key in KEYS:
        cache.write(key, b"data")
    assert len(list(folder.iterdir())) == 1
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "not this user's alone" in caplog.text


def test_disk_that_refuses_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file where the folder should be stands for every disk that cannot be written."""
    (tmp_path / "file").write_bytes(b"")
    cache = ScannerCache(tmp_path / "file" / "scanners")
    for key in KEYS:
        cache.write(key, b"data")
        assert cache.read(key) is None
    (record,) = caplog.records
    assert "they are compiled again at each start" in record.getMessage()


def test_full_disk_leaves_nothing_half_written(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What the file system does not take whole is not there at all."""
    resource = pytest.importorskip("resource")
    import signal  # noqa: PLC0415 - beside what needs it

    before, handled = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8_192, before[1]))
    try:
        ScannerCache(folder).write(KEYS[0], b"x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handled)
    assert list(folder.iterdir()) == []
    assert os.strerror(errno.EFBIG) in caplog.text


def _matcher(*sources: str) -> Matcher:
    pytest.importorskip("hyperscan")
    return Matcher(map(compile_pattern, sources))


def _done(caplog: pytest.LogCaptureFixture, matcher: Matcher, cache: ScannerCache | None) -> str:
    """Complete a matcher; answers what the log says was done."""
    caplog.clear()
    with caplog.at_level(logging.DEBUG, "proxy.scanner_cache"):
        complete(matcher, cache)
    (record,) = caplog.records
    assert matcher.compiled
    assert set(matcher.scanner.open().feed("some foo")) == {0}
    return record.getMessage().partition(" was ")[2]


def test_second_matcher_of_the_same_patterns_is_not_compiled(
    cache: ScannerCache, caplog: pytest.LogCaptureFixture
) -> None:
    """What the first wrote serves; other patterns, and no cache, are compiled for."""
    assert _done(caplog, _matcher("foo", "bar"), cache) == "compiled"
    assert _done(caplog, _matcher("foo", "bar"), cache) == "taken from the cache"
    assert _done(caplog, _matcher("foo", "baz"), cache) == "compiled"
    assert _done(caplog, _matcher("foo", "bar"), None) == "compiled"


@pytest.mark.parametrize("data", [b"", b"x", b"\0" * 5_000])
def test_damaged_file_is_compiled_anew_and_rewritten(
    cache: ScannerCache, folder: Path, caplog: pytest.LogCaptureFixture, data: bytes
) -> None:
    """Nothing is lost but the time."""
    _done(caplog, _matcher("foo"), cache)
    (file,) = folder.iterdir()
    file.write_bytes(data)
    assert _done(caplog, _matcher("foo"), cache) == "compiled"
    assert _done(caplog, _matcher("foo"), cache) == "taken from the cache"


def test_patterns_without_a_scanner_touch_no_disk(cache: ScannerCache, folder: Path) -> None:
    """There is nothing to compile."""
    matcher = _matcher(".*")
    complete(matcher, cache)
    assert not matcher.compiled
    assert not folder.exists()

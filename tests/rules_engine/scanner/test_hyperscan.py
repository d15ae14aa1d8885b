"""The compiled database."""

from __future__ import annotations

import gc
from threading import Thread

import pytest
from psutil import Process

from rules_engine.dialect import compile_pattern
from rules_engine.scanner.hyperscan import HyperscanScanner, compile_database

pytest.importorskip("hyperscan")


def _scanner(*sources: str) -> HyperscanScanner:
    scanner = compile_database([compile_pattern(source) for source in sources])
    assert scanner is not None
    return scanner


def test_database_reports_with_the_piece_in_which_a_match_may_end() -> None:
    """Pieces may cut a match, or a character beyond ASCII, anywhere."""
    stream = _scanner("foo", r"begin[^;]*end", "é—").open()
    pieces = ("a fo", "o begin", " é", "— ", "en", "d;", "end")
    told = [set(stream.feed(piece)) for piece in pieces]
    assert told == [set(), {0}, set(), {2}, set(), {1}, set()]


def test_database_takes_halves_of_characters() -> None:
    """Halves that are alone, and pairs cut in two, are no obstacle."""
    stream = _scanner("a.b", "x\U0001f600y").open()
    assert set(stream.feed("a\ud83d")) == set()
    assert 0 in stream.feed("b")
    assert set(stream.feed("x\ud83d")) == set()
    assert 1 in stream.feed("\ude00y")


def test_database_keeps_word_edges_of_ascii() -> None:
    """A word is what it is in ECMAScript, so a letter beyond ASCII ends one."""
    stream = _scanner(r"\bany").open()
    assert not stream.feed("many ")
    assert stream.feed("éany")


def test_database_is_blind_to_what_would_match_anywhere() -> None:
    """There is no use in a report with every character."""
    scanner = _scanner("foo", ".*", "(?=x)", "(f)?(?(1)oo|x)")
    assert scanner.blind == {1, 2, 3}


def test_lag_tells_how_long_a_match_may_stay_undecided() -> None:
    """What is looked at behind a match decides it; without a bound, nothing is promised."""
    scanner = _scanner("foo", r"foo\b", "foo(?!bar)", "foo(?!.*bar)")
    lags = [scanner.lag(number) for number in range(4)]
    assert lags[0] == 0
    assert lags[1] == 1
    assert lags[2] is not None
    assert lags[2] >= 3
    assert lags[3] is None


def test_no_database_without_a_pattern_for_it() -> None:
    """Nothing to scan for is no error."""
    assert compile_database([]) is None
    assert compile_database([compile_pattern(".*")]) is None


def test_stream_outlives_whoever_opened_it() -> None:
    """The library keeps no reference to what it calls back, so the stream does."""
    streams = [_scanner("foo").open() for _ in range(50)]
    gc.collect()
    assert all(stream.feed("foo") == {0} for stream in streams)


def test_streams_that_are_gone_leave_nothing_behind() -> None:
    """What the library does not free by itself is freed with the stream."""
    scanner = _scanner(*(f"{letter}[^;]{{3,30}}end" for letter in "abcdefghijklmnop"))
    memory = Process().memory_info

    def come_and_go() -> int:
        for _ in range(16_000):
            scanner.open().feed("a longer text with begin and not an e")
        return memory().rss

    come_and_go()
    before = come_and_go()
    assert come_and_go() - before < 512 * 1024


def test_scan_that_another_thread_disturbs_loses_nothing() -> None:
    """Where a scan fails, every pattern counts as reported from there on."""
    scanner = _scanner("foo", "bar")
    lost: list[bool] = []

    def scan() -> None:
        stream = scanner.open()
        lost.append(not all(0 in stream.feed("x" * 4_000 + "foo") for _ in range(300)))

    threads = [Thread(target=scan) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lost == [False] * 4

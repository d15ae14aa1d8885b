"""The compiled database."""

from __future__ import annotations

import gc
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psutil import Process

from rules_engine.dialect import compile_pattern
from rules_engine.scanner.hyperscan import (
    HyperscanScanner,
    compile_database,
    database_key,
    restore_database,
)

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


_DUMPED = ("foo", r"begin[^;]*end", r"\w+", r"foo\b")


def _dump(*sources: str) -> bytes:
    return _scanner(*sources).dump()


def _restored(dump: bytes, *sources: str) -> HyperscanScanner | None:
    return restore_database([compile_pattern(source) for source in sources], dump)


def test_restored_database_answers_as_the_compiled_one() -> None:
    """Reports, blind patterns and lags are the same; it can be written down again."""
    made, taken = _scanner(*_DUMPED), _restored(_dump(*_DUMPED), *_DUMPED)
    assert taken is not None
    assert (taken.blind, taken.dump()) == (made.blind, made.dump())
    assert [taken.lag(n) for n in range(4)] == [made.lag(n) for n in range(4)]
    streams = made.open(), taken.open()
    for piece in ("a fo", "o begin", " é", "— ", "en", "d;", "end"):
        reports = [set(stream.feed(piece)) for stream in streams]
        assert reports[0] == reports[1]


def test_restored_databases_that_are_gone_leave_nothing_behind() -> None:
    """Nor do their streams harm each other."""
    dump = _dump(*_DUMPED)
    streams = []
    for _ in range(100):
        taken = _restored(dump, *_DUMPED)
        assert taken is not None
        streams.append(taken.open())
    gc.collect()
    assert all(0 in stream.feed("foo") for stream in streams)


def test_dump_serves_no_other_patterns() -> None:
    """Order and number count, for reports are numbers."""
    dump = _dump("foo", "bar")
    assert _restored(dump, "foo", "bar") is not None
    others = [("foo",), ("bar", "foo"), ("foo", "bar", "baz"), ("foo", "bar", r"\w+"), (".*",), ()]
    assert [_restored(dump, *each) for each in others] == [None] * len(others)


@given(st.data())
def test_damaged_dump_is_recognised(data: st.DataObject) -> None:
    """Cut short, made longer or changed in any byte, it is refused."""
    dump = _dump("foo")
    at = data.draw(st.integers(0, len(dump) - 1))
    changed = bytes([dump[at] ^ data.draw(st.integers(1, 255))])
    for damaged in (dump[:at], dump + changed, dump[:at] + changed + dump[at + 1 :]):
        assert _restored(damaged, "foo") is None


def test_key_names_what_a_database_depends_on() -> None:
    """Patterns that are searched in the same way share one; without any there is no key."""
    sources = (("foo",), ("foo",), ("bar",), ("foo", "bar"), ("bar", "foo"))
    keys = [database_key([compile_pattern(s) for s in each]) for each in sources]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 4
    assert database_key([]) is None
    assert database_key([compile_pattern(".*")]) is None

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from itertools import islice

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.codings import Chain, UndecodableBody, codings, decodable, plain, zstd
from tests.support.packing import PACKED_BY, Pack


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKED: list[tuple[tuple[str, ...], Pack]] = [
    *(((name,), pack) for name, pack in PACKED_BY.items()),
    (("deflate",), raw_deflate),
    (("identity",), bytes),
    (("deflate", "gzip"), lambda data: gzip.compress(zlib.compress(data))),
    (("br", "zstd"), lambda data: zstd.compress(brotli.compress(data))),
]


@given(st.binary(max_size=300), st.sampled_from(PACKED), st.integers(1, 40))
def test_any_cutting_decodes_to_the_same(
    data: bytes, kind: tuple[tuple[str, ...], Pack], step: int
) -> None:
    """Pieces of any size give the bytes that were packed."""
    names, pack = kind
    packed = pack(data)
    chain = Chain(names)
    pieces = [packed[at : at + step] for at in range(0, len(packed), step)]
    assert b"".join(out for piece in pieces for out in chain.decode(piece)) == data


def test_gzip_members_in_a_row_are_one_body() -> None:
    """As RFC 1952 allows."""
    assert plain(gzip.compress(b"one ") + gzip.compress(b"two"), ["gzip"], 100) == b"one two"


def test_zstd_frames_in_a_row_are_one_body() -> None:
    """As RFC 8878 allows; a frame that is to be skipped says nothing."""
    skipped = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
    body = zstd.compress(b"one ") + skipped + zstd.compress(b"two")
    assert plain(body, ["zstd"], 100) == b"one two"


@pytest.mark.parametrize("name", PACKED_BY)
def test_body_of_exactly_the_limit_is_taken(name: str) -> None:
    """One byte more is not, however little it takes to say so."""
    for size in (1000, 10**6, 10**6 + 1):
        assert plain(PACKED_BY[name](bytes(size)), [name], size) == bytes(size)
        with pytest.raises(UndecodableBody, match=f"larger than {size} bytes"):
            plain(PACKED_BY[name](bytes(size + 1)), [name], size)


@pytest.mark.parametrize("name", PACKED_BY)
def test_a_body_that_grows_beyond_the_limit_fills_no_memory(name: str) -> None:
    """Nor does a single piece of it, of which a few bytes may stand for all: it comes in steps."""
    bomb = PACKED_BY[name](bytes(10**8))
    tracemalloc.start()
    with pytest.raises(UndecodableBody, match="larger than 1000000 bytes"):
        plain(bomb, [name], 10**6)
    assert max(len(step) for step in islice(Chain((name,)).decode(bomb), 100)) <= 2**17
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


def test_window_that_no_sender_may_ask_for_is_refused() -> None:
    """RFC 9659 allows 8 MiB; more would be memory that a small body can claim."""
    level = {zstd.CompressionParameter.window_log: 27}
    body = zstd.compress(bytes(2**24), options=level)
    with pytest.raises(UndecodableBody, match="too much memory"):
        plain(body, ["zstd"], 2**25)


@pytest.mark.parametrize("name", PACKED_BY)
def test_damage_is_told(name: str) -> None:
    """Bytes that are not what they are said to be raise, and so does a body that was cut off."""
    packed = PACKED_BY[name](b"some words and some more words")
    for wrong in (b"plain text", *(packed[:end] for end in range(1, len(packed)))):
        with pytest.raises(UndecodableBody):
            plain(wrong, [name], 100)


@pytest.mark.parametrize("name", PACKED_BY)
def test_no_body_is_none(name: str) -> None:
    """Whatever its coding is said to be, and packed as nothing too."""
    assert plain(b"", [name], 0) == plain(PACKED_BY[name](b""), [name], 0) == b""


def test_codings_reads_every_field_in_order() -> None:
    """Names are lower-cased, lists are split."""
    fields = [(b"Content-Encoding", b"Deflate, gzip"), (b"content-encoding", b"compress")]
    assert codings(fields) == ("deflate", "gzip", "compress")
    assert not decodable(codings(fields))
    assert decodable([*PACKED_BY, "identity", ""])


def test_a_body_coded_twice_grows_no_further_than_one_coded_once() -> None:
    """Else a few kilobytes would fill the memory: each coding multiplies by a thousand."""
    twice = gzip.compress(gzip.compress(bytes(2 * 10**8)))
    assert len(twice) < 10_000
    tracemalloc.start()
    with pytest.raises(UndecodableBody, match="larger than 1000000 bytes"):
        plain(twice, ["gzip", "gzip"], 10**6)
    assert tracemalloc.get_traced_memory()[1] < 3 * 10**7
    tracemalloc.stop()


@pytest.mark.parametrize("names", [["compress"], ["gzip", "lz"], ["lz", "identity"]])
def test_a_coding_that_is_not_known_is_named(names: list[str]) -> None:
    """Rather than the damage that another decoder would find."""
    with pytest.raises(UndecodableBody, match=r"'(compress|lz)' is not known here; send gzip"):
        plain(b"data", names, 100)

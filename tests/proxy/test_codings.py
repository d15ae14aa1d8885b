from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.codings import Chain, UndecodableBody, codings, decodable, plain


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKED: dict[tuple[str, ...], Callable[[bytes], bytes]] = {
    ("gzip",): gzip.compress,
    ("deflate",): zlib.compress,
    ("identity",): bytes,
    ("deflate", "gzip"): lambda data: gzip.compress(zlib.compress(data)),
}


@given(st.binary(max_size=300), st.sampled_from(sorted(PACKED)), st.integers(1, 40))
def test_any_cutting_decodes_to_the_same(data: bytes, names: tuple[str, ...], step: int) -> None:
    """Pieces of any size give the bytes that were packed."""
    packed = PACKED[names](data)
    chain = Chain(names)
    pieces = [packed[at : at + step] for at in range(0, len(packed), step)]
    assert b"".join(map(chain.decode, pieces)) == data


def test_deflate_without_its_header_is_accepted() -> None:
    """Some servers send the raw kind under the same name."""
    assert plain(raw_deflate(b"hello"), ["deflate"], 100) == b"hello"


def test_gzip_members_in_a_row_are_one_body() -> None:
    """As RFC 1952 allows."""
    assert plain(gzip.compress(b"one ") + gzip.compress(b"two"), ["gzip"], 100) == b"one two"


def test_a_body_that_grows_beyond_the_limit_is_refused() -> None:
    """A small body cannot fill the memory."""
    with pytest.raises(UndecodableBody, match="larger than 1000 bytes"):
        plain(gzip.compress(bytes(10**6)), ["gzip"], 1000)


@pytest.mark.parametrize("name", ["gzip", "deflate"])
def test_damage_is_told(name: str) -> None:
    """Bytes that are not what they are said to be raise."""
    with pytest.raises(UndecodableBody):
        plain(b"plain text", [name], 100)


def test_codings_reads_every_field_in_order() -> None:
    """Names are lower-cased, lists are split."""
    fields = [(b"Content-Encoding", b"Deflate, gzip"), (b"content-encoding", b"br")]
    assert codings(fields) == ("deflate", "gzip", "br")
    assert not decodable(codings(fields))
    assert decodable(["gzip", "x-gzip", "deflate", "identity"])


def test_a_body_coded_twice_grows_no_further_than_one_coded_once() -> None:
    """Else a few kilobytes would fill the memory: each coding multiplies by a thousand."""
    twice = gzip.compress(gzip.compress(bytes(2 * 10**8)))
    assert len(twice) < 10_000
    tracemalloc.start()
    with pytest.raises(UndecodableBody, match="larger than 1000000 bytes"):
        plain(twice, ["gzip", "gzip"], 10**6)
    assert tracemalloc.get_traced_memory()[1] < 3 * 10**7
    tracemalloc.stop()


@pytest.mark.parametrize("names", [["br"], ["gzip", "zstd"], ["zstd", "identity"]])
def test_a_coding_that_is_not_known_is_named(names: list[str]) -> None:
    """Rather than the damage that another decoder would find."""
    with pytest.raises(UndecodableBody, match=r"'(br|zstd)' is not known"):
        plain(b"data", names, 100)

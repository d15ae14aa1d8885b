"""Content codings as senders apply them, by the names that they have in a field."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Mapping
from functools import partial

import brotli

from proxy.codings import zstd

Pack = Callable[[bytes], bytes]

PACKED_BY: Mapping[str, Pack] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": partial(brotli.compress, quality=3),
    "zstd": zstd.compress,
}

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.routing import Target, read_target


@pytest.mark.parametrize(
    ("path", "target"),
    [
        (b"/v1/chat/completions", Target(b"/chat/completions")),
        (b"/chat/completions", Target(b"/chat/completions")),
        (b"//v1///models", Target(b"/models")),
        (b"/v1", Target(b"/")),
        (b"/", Target(b"/")),
        (b"/v1/v1/models", Target(b"/v1/models")),
        (b"/v10/models", Target(b"/v10/models")),
        (b"/w/acme/v1/models", Target(b"/models", workspace="acme")),
        (b"/s/42/models", Target(b"/models", session="42")),
        (b"/w/a/s/b/v1/models", Target(b"/models", workspace="a", session="b")),
        (b"/w/%2Fhome%2Fm%20e/models", Target(b"/models", workspace="/home/m e")),
        (b"/w/acme", Target(b"/", workspace="acme")),
        (b"/s/b/w/a/models", Target(b"/w/a/models", session="b")),
        (b"/w/", Target(b"/w/")),
        (b"/files/a%2Fb%20c", Target(b"/files/a%2Fb%20c")),
    ],
)
def test_read_target_reads_prefixes_and_version(path: bytes, target: Target) -> None:
    """Workspace, then session, then the version; what is left goes upstream as it is."""
    assert read_target(path, b"", []) == target


def test_headers_win_over_prefixes() -> None:
    """Each for itself."""
    fields = [(b"X-TTSR-Workspace", b"/from/header")]
    target = read_target(b"/w/a/s/b/models", b"", fields)
    assert (target.workspace, target.session) == ("/from/header", "b")
    assert read_target(b"/s/b/models", b"", [(b"x-ttsr-session", b"c")]).session == "c"


def test_a_query_is_kept_as_it_is() -> None:
    """Not one byte of it is read."""
    assert read_target(b"/v1/models", b"a=%7e&&b", []).query == b"a=%7e&&b"


@pytest.mark.parametrize(
    "path", [b"/v1/chat/completions/", b"/chat%2Fcompletions", b"//chat/completions"]
)
def test_chat_is_recognised_however_it_is_written(path: bytes) -> None:
    """A trailing slash and escapes make no other API of it."""
    assert read_target(path, b"", []).is_chat
    assert not read_target(path, b"", []).is_completions


def test_plain_completions_are_an_api_of_their_own() -> None:
    """Neither chat nor what fills a gap is one."""
    assert read_target(b"/v1/completions", b"", []).is_completions
    assert not read_target(b"/v1/completions", b"", []).is_chat
    assert not read_target(b"/v1/fim/completions", b"", []).is_completions


@given(st.binary(max_size=40))
def test_any_path_gives_a_target(tail: bytes) -> None:
    """Nothing raises, and the upstream's path begins with a slash."""
    assert read_target(b"/" + tail, b"", []).path.startswith(b"/")

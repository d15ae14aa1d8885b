"""What a request's path names: workspace and session prefixes, and the upstream's path; pure.

`/w/<workspace>/s/<session>/v1/chat/completions`: the prefixes in this order, either may be
missing, values percent-encoded. They are for agents that let a user set nothing but the URL; the
headers `x-ttsr-workspace` and `x-ttsr-session` say the same and win over them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from proxy.headers import Field, by_name

WORKSPACE_HEADER = b"x-ttsr-workspace"
SESSION_HEADER = b"x-ttsr-session"

_PREFIXES = re.compile(
    rb"(?:/w/(?P<workspace>[^/]+))?(?:/s/(?P<session>[^/]+))?(?P<rest>/.*|)\Z", re.DOTALL
)
_MOST_PATHS = 256  # of which it is remembered what they name
_SLASHES = re.compile(rb"/{2,}")


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes. `path` and `query` are appended to the upstream's URL as they are."""

    path: bytes
    query: bytes = b""
    workspace: str | None = None
    session: str | None = None

    @property
    def name(self) -> str:
        """The path for comparing: decoded, without a slash at its end."""
        return _text(self.path).rstrip("/") or "/"

    @property
    def is_chat(self) -> bool:
        """Whether this is the chat completions API."""
        return self.name == "/chat/completions"

    @property
    def is_completions(self) -> bool:
        """Whether this is the legacy completions API."""
        return self.name == "/completions"


def read_target(path: bytes, query: bytes, headers: Sequence[Field]) -> Target:
    """Read a request's raw path (percent-encoded, without its query) and its fields."""
    fields = by_name(headers)
    rest, workspace, session = _parts(path)
    workspace = fields.get(WORKSPACE_HEADER) or workspace
    session = fields.get(SESSION_HEADER) or session
    return Target(
        rest,
        query,
        _text(workspace) if workspace else None,
        _text(session) if session else None,
    )


@lru_cache(_MOST_PATHS)
def _parts(path: bytes) -> tuple[bytes, bytes | None, bytes | None]:
    """Give the upstream's path, and what the prefixes name; clients ask for few paths."""
    found = _PREFIXES.match(_SLASHES.sub(b"/", path))
    assert found is not None  # the last group takes whatever is left
    return _without_version(found["rest"]) or b"/", found["workspace"], found["session"]


def _without_version(path: bytes) -> bytes:
    return path[3:] if path == b"/v1" or path.startswith(b"/v1/") else path


@lru_cache(_MOST_PATHS)
def _text(raw: bytes) -> str:
    return unquote_to_bytes(raw).decode("utf-8", "replace")

"""Who may use the proxy: checks of Host, Origin, Sec-Fetch-Site and the token; pure.

A page that a browser opens from elsewhere can send requests to this machine. What it cannot do
is to hide its Origin, or to reach us under a name of its own without that name standing in Host.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import parse_qs, unquote_plus, urlsplit

from proxy.errors import Forbidden, Unauthorized
from proxy.headers import Field, by_name

TOKEN_COOKIE = "ttsr_token"  # noqa: S105 - the cookie's name
_MOST_HOSTS = 64  # values of Host of which it is remembered what they name
_PROTECTED = ("/audit", "/admin")


@dataclass(frozen=True, slots=True)
class Trust:
    """What the settings say about who may call.

    `hosts`, `origins`: additionally allowed; `*.example.com` allows what lies below a name,
    `*` everything. `token_needed`: the audit asks for `token`.
    """

    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    token: str | None = None
    token_needed: bool = False

    def check(self, headers: Sequence[Field]) -> str | None:
        """Answer the request's Origin if it has a passing one; raises Forbidden."""
        fields = by_name(headers)
        host = _field(fields, b"host")
        if host is not None and not self._host_passes(host):
            raise Forbidden(
                f"the Host header {host!r} names no address of this machine that is allowed here; "
                "use an IP address or localhost, or add the name to listen.allowedHosts"
            )
        origin = _field(fields, b"origin")
        if origin is not None and not self._origin_passes(origin, host):
            raise Forbidden(
                f"the Origin header {origin!r} is not allowed; "
                "if this page may use the proxy, add it to listen.allowedOrigins"
            )
        site = _field(fields, b"sec-fetch-site")
        if origin is None and site is not None and site.lower() == "cross-site":
            raise Forbidden(
                "the Sec-Fetch-Site header says cross-site and there is no Origin header; "
                "pages from elsewhere need an origin that listen.allowedOrigins names"
            )
        return origin

    def check_token(self, path: str, query: bytes, headers: Sequence[Field]) -> bool:
        """Answer whether the token came in the query; raises Unauthorized where it is missing."""
        if not self.token_needed or not _is_protected(path):
            return False
        if self.token is None:
            raise Unauthorized(
                f"{path} is closed because the proxy listens beyond this machine and no token is "
                "set; set listen.token"
            )
        in_query = self._matches(parse_qs(query.decode("latin-1")).get("token", [""])[-1])
        if in_query or any(map(self._matches, _tokens(by_name(headers)))):
            return in_query
        raise Unauthorized(
            f"{path} needs the token of listen.token: send it as Authorization: Bearer TOKEN, "
            "or open the page once with ?token=TOKEN"
        )

    def _matches(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), (self.token or "").encode()) and bool(given)

    def _host_passes(self, host: str) -> bool:
        return _is_own_name(host) or any(
            _listed(name, self.hosts) for name in (_name_of(host), host.lower())
        )

    def _origin_passes(self, origin: str, host: str | None) -> bool:
        if _listed(origin.lower().rstrip("/"), self.origins):
            return True
        scheme, separator, authority = origin.partition("://")
        if not separator:
            return False
        if scheme.lower() not in {"http", "https"}:
            return True
        return is_loopback(_name_of(authority)) or (
            host is not None and authority.lower() == host.lower()
        )


def without_token(query: bytes) -> bytes:
    """Take the token out of a query string: what is behind the gate neither needs nor shows it."""
    pairs = query.split(b"&")
    names = (unquote_plus(pair.partition(b"=")[0].decode("latin-1")) for pair in pairs)
    return b"&".join(pair for pair, name in zip(pairs, names, strict=True) if name != "token")


def is_loopback(name: str) -> bool:
    """Whether a host name or address is this machine alone."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    return _is_address(name) and ip_address(name).is_loopback


def preflight(origin: str, headers: Sequence[Field]) -> list[Field] | None:
    """Fields of the answer to a preflight of a passing origin; None where it is none."""
    fields = by_name(headers)
    method = fields.get(b"access-control-request-method")
    if method is None:
        return None
    answer = [
        *allowing(origin),
        (b"access-control-allow-methods", method),
        (b"access-control-max-age", b"600"),
    ]
    wanted = fields.get(b"access-control-request-headers")
    if wanted is not None:
        answer.append((b"access-control-allow-headers", wanted))
    if b"access-control-request-private-network" in fields:
        answer.append((b"access-control-allow-private-network", b"true"))
    return answer


def allowing(origin: str) -> list[Field]:
    """Fields that let a passing origin read an answer."""
    return [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", b"*"),
        (b"vary", b"Origin"),
    ]


def _field(fields: Mapping[bytes, bytes], name: bytes) -> str | None:
    value = fields.get(name)
    return None if value is None else value.decode("latin-1")


def _name_of(authority: str) -> str:
    try:
        return (urlsplit(f"//{authority}").hostname or "").rstrip(".")
    except ValueError:
        return ""


@lru_cache(_MOST_HOSTS)
def _is_own_name(host: str) -> bool:
    """Whether it is an address, or a name that none but a local resolver gives a meaning."""
    name = _name_of(host)
    return (
        _is_address(name)
        or ("." not in name and name != "")
        or name.endswith((".localhost", ".internal"))
    )


def _is_address(name: str) -> bool:
    try:
        ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True


def _listed(name: str, allowed: Iterable[str]) -> bool:
    return any(
        entry == "*"
        or name == entry.lower()
        or (entry[:2] == "*." and name.endswith(entry[1:].lower()))
        for entry in allowed
    )


def _is_protected(path: str) -> bool:
    return any(path == root or path.startswith(f"{root}/") for root in _PROTECTED)


def _tokens(fields: Mapping[bytes, bytes]) -> Iterable[str]:
    scheme, _, credentials = (_field(fields, b"authorization") or "").partition(" ")
    if scheme.lower() == "bearer":
        yield credentials.strip()
    try:
        cookies = SimpleCookie(_field(fields, b"cookie") or "")
    except CookieError:
        return
    if TOKEN_COOKIE in cookies:
        yield cookies[TOKEN_COOKIE].value

from __future__ import annotations

import pytest

from proxy.errors import Forbidden, Unauthorized
from proxy.trust import Trust, is_loopback, preflight

OPEN = Trust()


def fields(**named: str) -> list[tuple[bytes, bytes]]:
    return [(name.replace("_", "-").encode(), value.encode()) for name, value in named.items()]


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.0.0.1:8787", "[::1]:8787", "192.168.1.4", "[fe80::1%25eth0]", "localhost",
        "LocalHost:1", "app.localhost", "proxy", "proxy:8787", "host.docker.internal", "localhost.",
    ],
)  # fmt: skip
def test_hosts_that_name_this_machine_pass(host: str) -> None:
    """Addresses, names without a dot, localhost and what lies below it, internal names."""
    OPEN.check(fields(host=host))


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8787", "127.0.0.1.evil.example", ":", ""]
)
def test_other_hosts_are_refused(host: str) -> None:
    """A name that someone else may point here; the message names header and setting."""
    with pytest.raises(Forbidden, match=r"Host header .* listen\.allowedHosts"):
        OPEN.check(fields(host=host))


@pytest.mark.parametrize("allowed", ["gw.example.com", "GW.example.com", "*.example.com", "*"])
def test_allowed_hosts_pass(allowed: str) -> None:
    """By name, by what lies below a name, or all."""
    Trust(hosts=(allowed,)).check(fields(host="gw.example.com:8787"))


def test_a_request_without_host_passes() -> None:
    """No browser sends one, and HTTP/1.0 clients may."""
    assert OPEN.check([]) is None


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:3000", "http://127.0.0.1:5173", "https://[::1]", "http://tauri.localhost",
        "app://obsidian.md", "vscode-webview://abc", "tauri://localhost", "http://proxy:8787",
    ],
)  # fmt: skip
def test_origins_of_this_machine_and_of_apps_pass(origin: str) -> None:
    """Loopback pages, app schemes, and the proxy's own pages."""
    assert OPEN.check(fields(host="proxy:8787", origin=origin)) == origin


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example", "http://localhost.evil.example", "null", "http://192.168.1.9",
        "evil", "http://proxy:1", "http://[bad", "HTTPS://evil.example",
    ],
)  # fmt: skip
def test_other_origins_are_refused(origin: str) -> None:
    """Pages from elsewhere; the message names header and setting."""
    with pytest.raises(Forbidden, match=r"Origin header .* listen\.allowedOrigins"):
        OPEN.check(fields(host="proxy:8787", origin=origin))


@pytest.mark.parametrize(
    "allowed", ["https://app.example.com", "https://App.example.com", "*", "null"]
)
def test_allowed_origins_pass(allowed: str) -> None:
    """As the settings name them."""
    origin = "null" if allowed == "null" else "https://app.example.com"
    assert Trust(origins=(allowed,)).check(fields(origin=origin)) == origin


@pytest.mark.parametrize(
    ("site", "passes"), [("cross-site", False), ("same-origin", True), ("none", True)]
)
def test_cross_site_requests_need_an_origin(site: str, *, passes: bool) -> None:
    """Images, forms and links of other pages carry no Origin."""
    if passes:
        OPEN.check(fields(sec_fetch_site=site))
    else:
        with pytest.raises(Forbidden, match="Sec-Fetch-Site"):
            OPEN.check(fields(sec_fetch_site=site))
    OPEN.check(fields(sec_fetch_site=site, origin="app://obsidian.md"))


@pytest.mark.parametrize(
    ("name", "loopback"),
    [("127.8.9.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("lan", False)],
)
def test_is_loopback(name: str, *, loopback: bool) -> None:
    """This machine alone, not every address of it."""
    assert is_loopback(name) is loopback


def test_preflight_grants_what_was_asked() -> None:
    """Method and fields are echoed, private networks too; anything else is no preflight."""
    asked = fields(
        access_control_request_method="POST",
        access_control_request_headers="authorization,x-a",
        access_control_request_private_network="true",
    )
    granted = dict(preflight("app://x", asked) or [])
    assert granted[b"access-control-allow-origin"] == b"app://x"
    assert granted[b"access-control-allow-methods"] == b"POST"
    assert granted[b"access-control-allow-headers"] == b"authorization,x-a"
    assert granted[b"access-control-allow-private-network"] == b"true"
    assert preflight("app://x", []) is None


GUARDED = Trust(token="hunter2", token_needed=True)


@pytest.mark.parametrize(
    "sent",
    [
        fields(authorization="Bearer hunter2"),
        fields(authorization="bearer  hunter2"),
        fields(cookie="a=b; ttsr_token=hunter2"),
    ],
)
def test_a_token_opens_the_audit(sent: list[tuple[bytes, bytes]]) -> None:
    """In a field or in the cookie that the page was given."""
    assert GUARDED.check_token("/audit/hits", b"", sent) is False


def test_a_token_in_the_query_is_told() -> None:
    """So that the page can be given its cookie."""
    assert GUARDED.check_token("/audit", b"a=1&token=hunter2", []) is True


@pytest.mark.parametrize("path", ["/audit", "/audit/", "/audit/stream", "/admin/x"])
@pytest.mark.parametrize("query", [b"", b"token=wrong", b"token="])
def test_without_the_token_it_is_closed(path: str, query: bytes) -> None:
    """The message says how to send it, and not what it is."""
    with pytest.raises(Unauthorized, match=r"listen\.token") as caught:
        GUARDED.check_token(path, query, fields(authorization="Basic x", cookie="ttsr_token=no"))
    assert "hunter2" not in caught.value.message


def test_without_a_token_set_it_stays_closed() -> None:
    """An empty token opens nothing."""
    unset = Trust(token_needed=True)
    with pytest.raises(Unauthorized, match=r"set listen\.token"):
        unset.check_token("/audit", b"token=", fields(authorization="Bearer "))


@pytest.mark.parametrize("path", ["/auditor", "/v1/audit", "/chat/completions", "/healthz"])
def test_other_paths_need_no_token(path: str) -> None:
    """Keys for the API are the upstream's business."""
    assert GUARDED.check_token(path, b"", []) is False

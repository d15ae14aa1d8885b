from __future__ import annotations

from proxy.headers import by_name, first, to_client, to_upstream, without_framing


def test_to_upstream_keeps_order_case_and_number() -> None:
    """Only the fields that are said anew differ from what the client sent."""
    fields = [(b"User-Agent", b"a"), (b"x-a", b"1"), (b"X-A", b"2")]
    assert to_upstream(fields, b"api:1") == [
        (b"Host", b"api:1"),
        *fields,
        (b"Accept-Encoding", b"identity"),
    ]


def test_to_upstream_drops_our_own_fields() -> None:
    """Workspace and session labels are for the proxy alone."""
    sent = to_upstream([(b"X-Ttsr-Workspace", b"/w"), (b"x-ttsr-session", b"s")], b"api")
    assert [name for name, _ in sent] == [b"Host", b"Accept-Encoding"]


def test_to_client_drops_hop_by_hop_and_what_connection_names() -> None:
    """Everything else is passed on, rate limits and request ids included."""
    kept = [(b"Retry-After", b"1"), (b"x-request-id", b"r"), (b"content-length", b"3")]
    hops = [(b"Connection", b"close, X-Hop"), (b"x-hop", b"1"), (b"Transfer-Encoding", b"chunked")]
    assert to_client([*hops, *kept]) == kept


def test_without_framing_drops_what_a_new_body_makes_untrue() -> None:
    """Length, coding and checksums go; the content type stays."""
    fields = [(b"Content-Length", b"3"), (b"ETag", b"e"), (b"content-type", b"t")]
    assert without_framing(fields) == [(b"content-type", b"t")]


def test_first_finds_a_field_in_any_case() -> None:
    """None where there is none."""
    assert first([(b"X-A", b"1"), (b"x-a", b"2")], b"x-a") == b"1"
    assert first([], b"x-a") is None


def test_fields_by_name_are_the_first_of_each() -> None:
    """Whatever the case of a name, the field that stands first under it counts."""
    fields = [(b"A", b"1"), (b"b", b"2"), (b"a", b"3"), (b"B", b"4")]
    assert by_name(fields) == {b"a": b"1", b"b": b"2"}
    assert all(by_name(fields)[name] == first(fields, name) for name in (b"a", b"b"))

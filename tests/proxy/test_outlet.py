from __future__ import annotations

from proxy.backlog import CutRun, Run
from proxy.outlet import Outlet
from proxy.quirks import PLAIN
from proxy.sse import SseEvent, SseReader
from proxy.wire import Decoded
from proxy.wire.chat.continuation import ChatContinuation
from proxy.wire.chat.decoder import ChatDecoder
from rules_engine.decisions import Release
from tests.support.attempts import chunk, request, wire

HEAD = wire(chunk({"role": "assistant", "content": "a"}))
PARTS = [wire(chunk({"content": piece}))[:-2] for piece in ("bc", "d")]
LAST = PARTS[1] + b"\n\n"
RAW = PARTS[0] + b"\n\n" + LAST


def decoded(raw: bytes) -> list[tuple[SseEvent, Decoded]]:
    decoder = ChatDecoder(PLAIN)
    return [(event, decoder.decode(event)) for event in SseReader().feed(raw)]


def outlet(*, first: bool = True) -> Outlet:
    return Outlet(ChatContinuation(request()), first=first)


def begun() -> Outlet:
    """One whose client knows who answers."""
    out = outlet()
    ((event, said),) = decoded(HEAD)
    out.backlog.add(event, said)
    assert list(out.release(Release(0))) == [HEAD]
    return out


def run() -> CutRun:
    return CutRun(PARTS, (0, ["bc", "d"]))


def test_a_run_of_text_passes_where_nothing_waits() -> None:
    """It counts as sent then."""
    out = begun()
    assert out.passes(run())
    assert (out.text, out.backlog.count) == (4, 3)
    assert not out.backlog


def test_a_run_of_text_does_not_pass_what_waits_or_is_to_be_looked_at() -> None:
    """While the client does not know who answers, behind a held event, in a later attempt."""
    assert not outlet().passes(run())
    assert not outlet(first=False).passes(run())
    held = begun()
    held.backlog.extend(run())
    assert not held.passes(run())
    assert held.text == 1


def test_what_is_released_later_is_what_would_have_passed() -> None:
    """Byte for byte, whether the run was cut by its lines or read event by event."""
    read = Run(0)
    for event, said in decoded(RAW):
        assert said.only_text is not None
        read.add(event, said, said.only_text)
    assert read.raw == run().raw
    assert list(read.events()) == list(run().events())
    for waiting in (read, run()):
        out = begun()
        out.backlog.extend(waiting)
        assert b"".join(out.release(Release(1))) == RAW[: -len(LAST)]
        assert b"".join(out.release(Release(2))) == LAST
        assert out.text == 4


def test_what_is_dropped_does_not_go_out() -> None:
    """All of it, or what stands up to an event; the rest was never received."""
    for through in (None, 1):
        out = begun()
        out.backlog.extend(run())
        out.drop(through)
        assert not list(out.release(Release(9)))
        assert out.text == 1


def test_what_waits_goes_as_it_came_when_the_rules_are_off() -> None:
    """The first attempt's bytes."""
    out = begun()
    out.backlog.extend(run())
    assert out.emptied() == RAW
    assert not out.backlog


def test_a_document_goes_out_as_it_is() -> None:
    """Whatever attempt it is of."""
    out = outlet(first=False)
    out.document = True
    out.backlog.add(SseEvent(b"{}", None), Decoded())
    assert list(out.release(Release(0))) == [b"{}"]

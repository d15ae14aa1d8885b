from __future__ import annotations

from tests.support.attempts import (
    DONE,
    SEAM,
    Client,
    chunk,
    datas,
    started,
    wire,
)
from tests.support.grammar import answer, check_stream


def test_later_attempt_keeps_the_identity_of_the_first() -> None:
    """Id, created and model are the first attempt's; the role is not said twice."""
    client = started()
    client.attempt(
        chunk({"role": "assistant", "content": ""}, answer_id="b"),
        chunk({"role": "assistant", "content": "world"}, answer_id="b"),
        chunk(answer_id="b", finish="stop"),
        DONE,
        seam=SEAM,
    )
    stream = client.finish()
    assert check_stream(stream, include_usage=False) == []
    assert answer(stream).text == "Hello \n\nworld"
    assert datas(stream)[-1]["id"] == "chatcmpl-a"


def test_later_attempt_names_itself_if_the_first_released_nothing() -> None:
    """With nothing released before, the later attempt is the answer, role and all."""
    client = Client()
    client.attempt(chunk({"role": "assistant", "content": "bad"}), release=0)
    client.attempt(
        chunk({"content": "good"}, answer_id="b"), chunk(answer_id="b", finish="stop"), DONE
    )
    stream = client.finish()
    assert check_stream(stream, include_usage=False) == []
    assert [one["model"] for one in datas(stream)] == ["model-b", "model-b"]


def test_keep_alive_has_no_blank_line_where_ids_went_out() -> None:
    """Some clients dispatch an empty event at a blank line behind a comment after an id."""
    client = Client()
    client.attempt(b"id: 1\n" + wire(chunk({"content": "x"})))
    assert client.continuation.keep_alive() == b": keep-alive\n"
    assert Client().continuation.keep_alive() == b": keep-alive\n\n"

"""What a reissued request is answered with where that is no stream."""

from __future__ import annotations

import pytest

from proxy.reissue import Unanswered, whole_answer

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("document", [b'{"choices": [{}]}', b' {"error": {"message": "busy"}}\n'])
async def test_whole_answer_is_read_as_a_stream(document: bytes) -> None:
    """An answer, or an error that the API tells in an answer's place."""
    stream = await whole_answer(200, document).read()
    assert stream.startswith(b"data: " + document.strip())


@pytest.mark.parametrize(
    "document",
    [b"", b"<html>Sign in</html>", b"[]", b"null", b"{}", b'{"choices": []}', b"[" * 100_000],
)
def test_what_is_no_answer_is_told(document: bytes) -> None:
    """Nothing of it is made to look like one."""
    with pytest.raises(Unanswered, match=r"sent no answer to the reissued request.* status 200: "):
        whole_answer(200, document)


def test_refusal_shows_no_key() -> None:
    """What the upstream said is told in one line, without secrets."""
    refusal = Unanswered(401, b"no such key:\n sk-" + b"abcd1234" * 5)
    assert str(refusal).startswith("the answer was stopped by a rule, and the upstream refused ")
    assert "with status 401: no such key:" in str(refusal)
    assert "abcd1234abcd" not in str(refusal)

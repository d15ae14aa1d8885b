"""What a reissued request may be answered with where that is no stream: a whole answer, or none."""

from __future__ import annotations

import json

from proxy.body import Whole
from proxy.masking import redact

_SHOWN = 300  # characters


class Unanswered(Exception):  # noqa: N818 - named by what happened
    """The upstream did not answer a reissued request. `body`: what it sent instead."""

    code = "reissue_failed"

    def __init__(self, status: int, body: bytes, did: str = "refused the reissued request") -> None:
        # Some APIs repeat the key that they refuse.
        said = redact(" ".join(body.decode("utf-8", "replace").split()))[:_SHOWN]
        super().__init__(
            f"the answer was stopped by a rule, and the upstream {did} "
            f"with status {status}: {said or 'nothing else'}"
        )


def whole_answer(status: int, document: bytes) -> Whole:
    """Read a whole answer as a stream goes. Raises Unanswered for a page, or for nothing at all."""
    try:
        answer = json.loads(document)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or not (answer.get("choices") or answer.get("error")):
        raise Unanswered(status, document, "sent no answer to the reissued request, but something")
    return Whole(document)

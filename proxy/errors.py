"""The exception tree by fault: the client's, the upstream's, ours.

Fault
├── ClientFault      BadRequest, Forbidden, Unauthorized, BodyTooLarge, UpgradeRequired
├── UpstreamFault    ConnectFailed, FirstByteTimeout, IdleTimeout, UpstreamBroken
└── OurFault         Overloaded, Stopping, LedgerDown, RulesDown, BudgetSpent
ConfigError and CannotRun stand apart: nothing is being served when they are raised.
"""

from __future__ import annotations

import json
from typing import ClassVar


class ConfigError(Exception):
    """A setting that cannot be used; the message is one sentence for the person who wrote it."""


class CannotRun(Exception):  # noqa: N818 - what became of a command, which may be nobody's error
    """A command could not do what it was asked; the message says what, where, and what to do."""


class Fault(Exception):  # noqa: N818 - the base says whose fault, the leaves say what
    """Something that ends a request with an error answer.

    `status`: HTTP status. `kind` and `code`: what OpenAI's error object calls type and code.
    `retry_after`: whole seconds for a Retry-After header, None for no header.
    """

    status: ClassVar[int]
    kind: ClassVar[str]
    code: ClassVar[str]

    def __init__(
        self, message: str, param: str | None = None, *, retry_after: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.retry_after = retry_after

    def body(self) -> bytes:
        """Render the answer's JSON in the shape that every OpenAI client reads."""
        return error_body(self.message, self.kind, self.code, self.param)


def error_body(message: str, kind: str, code: str, param: str | None = None) -> bytes:
    """Render an OpenAI-shaped error document; `message` is always a string, as clients demand."""
    error = {"message": message, "type": kind, "param": param, "code": code}
    return json.dumps({"error": error}).encode()


class ClientFault(Fault):
    """The client asked for something that cannot be done."""

    status = 400
    kind = "invalid_request_error"
    code = "invalid_request"


class BadRequest(ClientFault):
    """The request cannot be read; `param` names the field that is wrong."""


class Unauthorized(ClientFault):
    """The token for the audit and admin routes is missing or wrong."""

    status = 401
    kind = "authentication_error"
    code = "token_required"


class Forbidden(ClientFault):
    """The request comes from somewhere that may not use the proxy."""

    status = 403
    kind = "permission_error"
    code = "origin_refused"


class BodyTooLarge(ClientFault):
    """The request body is larger than `limits.body`."""

    status = 413
    code = "request_too_large"


class UpgradeRequired(ClientFault):
    """A WebSocket was asked for; the client should fall back to plain HTTP."""

    status = 426
    code = "websocket_unsupported"


class UpstreamFault(Fault):
    """The upstream could not be reached, or broke off."""

    status = 502
    kind = "upstream_error"
    code = "upstream_error"


class ConnectFailed(UpstreamFault):
    """No connection: name, address, port or TLS."""

    code = "upstream_unreachable"


class FirstByteTimeout(UpstreamFault):
    """Connected, but no answer began within `upstream.firstByteTimeout`."""

    status = 504
    code = "upstream_first_byte_timeout"


class IdleTimeout(UpstreamFault):
    """The answer began, then nothing came for `upstream.idleTimeout`."""

    status = 504
    code = "upstream_idle_timeout"


class UpstreamBroken(UpstreamFault):
    """The connection was reset, or ended before the answer was complete."""

    code = "upstream_broken"


class OurFault(Fault):
    """The proxy itself cannot serve the request."""

    status = 500
    kind = "ttsr_error"
    code = "internal_error"


class Overloaded(OurFault):
    """`limits.turns` requests are under way."""

    status = 503
    code = "too_many_turns"


class Stopping(OurFault):
    """The proxy is shutting down."""

    status = 503
    code = "shutting_down"


class LedgerDown(OurFault):
    """The store is down and `failMode` is closed."""

    status = 503
    code = "ledger_unavailable"


class RulesDown(OurFault):
    """The rules cannot be applied, and `failMode` is closed."""

    status = 503
    code = "rules_unavailable"


class BudgetSpent(OurFault):
    """No answer to a reissued request within `turnBudget`."""

    status = 504
    code = "turn_budget_spent"

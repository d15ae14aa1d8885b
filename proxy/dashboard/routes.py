"""The audit's routes. Who may call them is decided in front of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from proxy import masking
from proxy.audit import Audit
from proxy.dashboard.feed import Feed
from proxy.dashboard.query import BadParameter, hit_query, no_parameters, turn_limit
from proxy.dashboard.report import problem_rows, rule_rows, statistics
from proxy.dashboard.rows import encoded, hit_row, turn_row
from proxy.dashboard.stream import LiveResponse
from proxy.store import StoreUnavailable, TurnRecord
from rules_engine.ruleset import RuleSet

# The figures on turns are taken over this many of the newest.
FIGURED_TURNS = 1000

_Pairs = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Facts:
    """What the audit shows of the server. `upstream` may hold credentials; they are cut off.

    `rules` answers with the rule set of the server's workspace as its files are now, None where
    there is none yet.
    """

    version: str
    upstream: str
    rules: Callable[[], Awaitable[RuleSet | None]]


def router(audit: Audit, feed: Feed, facts: Facts) -> APIRouter:
    """Make the routes `/audit`, `/audit/hits`, `/audit/turns` and `/audit/stream`."""
    routes = APIRouter()

    @routes.get("/audit")
    async def overview(request: Request) -> Response:
        return await _answered(_overview(audit, feed, facts, _pairs(request)))

    @routes.get("/audit/hits")
    async def hits(request: Request) -> Response:
        return await _answered(_hits(audit, _pairs(request)))

    @routes.get("/audit/turns")
    async def turns(request: Request) -> Response:
        return await _answered(_turns(audit, _pairs(request)))

    @routes.get("/audit/stream")
    async def stream(request: Request) -> Response:
        try:
            no_parameters(_pairs(request))
        except BadParameter as error:
            return _refused(error)
        return LiveResponse(feed)

    @routes.get("/audit/{rest:path}")
    async def nothing(rest: str) -> Response:
        told = {
            "message": f"there is no /audit/{masking.label(rest)}; "
            "there are /audit, /audit/hits, /audit/turns and /audit/stream",
            "type": "invalid_request_error",
            "code": "not_found",
        }
        return _json({"error": told}, 404)

    return routes


async def _overview(audit: Audit, feed: Feed, facts: Facts, pairs: _Pairs) -> dict[str, Any]:
    no_parameters(pairs)
    rules = await facts.rules()
    tally = await audit.counts()
    newest = await _newest_turns(audit) if tally.stored else ()
    return {
        "version": facts.version,
        "upstream": masking.url(facts.upstream),
        "rule_set": None if rules is None else rules.version,
        "rules": [] if rules is None else rule_rows(rules, tally),
        "problems": [] if rules is None else problem_rows(rules.problems),
        "statistics": statistics(rules, tally, newest),
        "recording": {
            "store_answers": tally.stored,
            "unwritten_rows": audit.unwritten,
            "lost_rows": audit.lost,
            "readers": feed.readers,
            "dropped_events": feed.dropped,
        },
    }


async def _newest_turns(audit: Audit) -> tuple[TurnRecord, ...]:
    """Figures on turns are left at nought rather than failing the whole answer."""
    try:
        return await audit.turns(FIGURED_TURNS)
    except StoreUnavailable:
        return ()


async def _hits(audit: Audit, pairs: _Pairs) -> dict[str, Any]:
    page = await audit.hits(hit_query(pairs))
    return {"hits": [hit_row(hit) for hit in page.hits], "next": page.next}


async def _turns(audit: Audit, pairs: _Pairs) -> dict[str, Any]:
    return {"turns": [turn_row(turn) for turn in await audit.turns(turn_limit(pairs))]}


async def _answered(work: Awaitable[dict[str, Any]]) -> Response:
    try:
        return _json(await work)
    except BadParameter as error:
        return _refused(error)
    except StoreUnavailable as error:
        told = {
            "message": f"the audit cannot be read now: {error}",
            "type": "ttsr_error",
            "code": "store_unavailable",
        }
        return _json({"error": told}, 503, {"retry-after": "1"})


def _refused(error: BadParameter) -> Response:
    told = {
        "message": str(error),
        "type": "invalid_request_error",
        "code": "bad_parameter",
        "param": error.name,
        "value": error.value,
        "allowed": error.allowed,
    }
    return _json({"error": told}, 400)


def _pairs(request: Request) -> _Pairs:
    return request.query_params.multi_items()


def _json(
    value: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    return Response(
        encoded(value),
        status,
        {"cache-control": "no-store"} | dict(headers or {}),
        "application/json",
    )

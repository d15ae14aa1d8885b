"""The audit's routes: what they answer, and how they refuse."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx
import pytest

from proxy.audit import Audit, AuditLimits
from proxy.dashboard.feed import Feed
from tests.support.audit_rows import a_hit, a_turn
from tests.support.audit_server import audit_app
from tests.support.memory_store import MemoryAuditLog
from tests.support.rule_sets import a_rule_set

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def client(
    store: MemoryAuditLog, *, rules: bool = True
) -> AsyncIterator[tuple[httpx.AsyncClient, Audit]]:
    audit = Audit(store, limits=AuditLimits(gather=3600))
    app = audit_app(audit, Feed(), a_rule_set() if rules else None)
    async with app.router.lifespan_context(app), anyio.create_task_group() as tasks:
        await anyio.wait_all_tasks_blocked()
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://t") as http:
            yield http, audit
        tasks.cancel_scope.cancel()


async def test_overview_shows_version_upstream_rules_and_statistics() -> None:
    """One answer holds what a person needs; the upstream's credentials are not in it."""
    async with client(MemoryAuditLog()) as (http, audit):
        audit.record([a_hit()], a_turn())
        answer = await http.get("/audit")
    shown = answer.json()
    assert answer.headers["cache-control"] == "no-store"
    assert shown["version"] == "1.2.3"
    assert shown["upstream"] == "https://api.example.com/v1"
    assert "secret" not in answer.text
    assert shown["rule_set"] == "v1"
    assert [rule["name"] for rule in shown["rules"]][:2] == ["no-any", "no-any"]
    assert shown["rules"][1]["counts"]["interrupt"] == 1
    assert shown["problems"][0]["code"] == "bad-yaml"
    assert shown["statistics"]["by_action"]["interrupt"] == 1
    assert shown["statistics"]["turns"]["cured"] == 1
    assert shown["recording"]["store_answers"] is True
    assert shown["recording"]["lost_rows"] == 0


async def test_overview_answers_without_a_store_and_without_rules() -> None:
    """What the process knows is shown, and that it is not all."""
    store = MemoryAuditLog()
    store.down = True
    async with client(store, rules=False) as (http, audit):
        audit.record([a_hit()])
        shown = (await http.get("/audit")).json()
    assert shown["rules"] == []
    assert shown["rule_set"] is None
    assert shown["recording"]["store_answers"] is False
    assert shown["recording"]["unwritten_rows"] == 1
    assert shown["statistics"]["by_action"]["interrupt"] == 1


async def test_hits_are_newest_first_and_paged() -> None:
    """The cursor leads from page to page until there is no next."""
    async with client(MemoryAuditLog()) as (http, audit):
        audit.record([a_hit(f"r{number}") for number in range(5)])
        first = (await http.get("/audit/hits", params={"limit": 2})).json()
        second = (
            await http.get("/audit/hits", params={"limit": 2, "cursor": first["next"]})
        ).json()
        third = (
            await http.get("/audit/hits", params={"limit": 2, "cursor": second["next"]})
        ).json()
    pages = [[hit["rule"] for hit in page["hits"]] for page in (first, second, third)]
    assert pages == [["r4", "r3"], ["r2", "r1"], ["r0"]]
    assert third["next"] is None
    assert first["hits"][0]["id"] == 5


async def test_hits_are_filtered() -> None:
    """Filters are joined by and."""
    async with client(MemoryAuditLog()) as (http, audit):
        audit.record(
            [
                a_hit("a", surface="tool"),
                a_hit("a", "observed"),
                a_hit("b", time=2000.0, conversation="c2"),
            ]
        )

        async def rules(query: str) -> list[str]:
            answer = await http.get(f"/audit/hits?{query}")
            return [hit["rule"] for hit in answer.json()["hits"]]

        assert await rules("rule=&surface=&action=&conversation=&since=&limit=&cursor=") == [
            "b",
            "a",
            "a",
        ]
        assert await rules("rule=a") == ["a", "a"]
        assert await rules("rule=a&surface=tool") == ["a"]
        assert await rules("action=observed") == ["a"]
        assert await rules("conversation=c2") == ["b"]
        assert await rules("since=1500") == ["b"]
        assert await rules("since=1970-01-01T00:33:20Z") == ["b"]


@pytest.mark.parametrize(
    ("path", "param", "value"),
    [
        ("/audit/hits?surface=txt", "surface", "txt"),
        ("/audit/hits?limit=none", "limit", "none"),
        ("/audit/turns?rule=x", "rule", "x"),
        ("/audit/stream?rule=x", "rule", "x"),
        ("/audit?x=1", "x", "1"),
    ],
)
async def test_a_bad_parameter_is_answered_400_with_name_value_and_allowed(
    path: str, param: str, value: str
) -> None:
    """A refusal can be read by programs and by people."""
    async with client(MemoryAuditLog()) as (http, _):
        answer = await http.get(path)
    error = answer.json()["error"]
    assert answer.status_code == 400
    assert (error["param"], error["value"]) == (param, value)
    assert error["allowed"] in error["message"]


async def test_turns_show_attempts_usage_and_cure() -> None:
    """Each turn is one record."""
    async with client(MemoryAuditLog()) as (http, audit):
        audit.record(turn=a_turn("t1"))
        audit.record(turn=a_turn("t2", unledgered=True))
        turns = (await http.get("/audit/turns?limit=1")).json()["turns"]
    assert [turn["turn"] for turn in turns] == ["t2"]
    assert (turns[0]["attempts"], turns[0]["cured"], turns[0]["unledgered"]) == (2, True, True)
    assert turns[0]["usage"] == [{"total_tokens": 5}, None]


@pytest.mark.parametrize("path", ["/audit/hits", "/audit/turns"])
async def test_rows_of_a_store_that_is_down_are_answered_503(path: str) -> None:
    """It is said that the audit cannot be read, not that it is empty."""
    store = MemoryAuditLog()
    store.down = True
    async with client(store) as (http, _):
        answer = await http.get(path)
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    assert answer.json()["error"]["code"] == "store_unavailable"


async def test_unknown_audit_address_is_answered_here() -> None:
    """A mistyped address never reaches the upstream; the answer names those that there are."""
    async with client(MemoryAuditLog()) as (http, _):
        answer = await http.get("/audit/hitz")
    assert answer.status_code == 404
    assert "/audit/hitz" in answer.json()["error"]["message"]
    assert "/audit/hits" in answer.json()["error"]["message"]

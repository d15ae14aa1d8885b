"""A plain proxy as many are written: FastAPI, httpx, a streaming response. No rules."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from starlette.background import BackgroundTask

from bench.peers import Peer, Place, nothing_missing
from bench.processes import Launch


def make_app(upstream: int) -> FastAPI:
    """The whole proxy."""
    limits = httpx.Limits(max_connections=None)
    client = httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{upstream}", timeout=600, limits=limits, trust_env=False
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with client:
            yield

    app = FastAPI(lifespan=lifespan)

    @app.post("/v1/chat/completions")
    async def relay(request: Request) -> StreamingResponse:
        fields = {"content-type": "application/json"}
        asked = client.build_request(
            "POST", "/v1/chat/completions", content=await request.body(), headers=fields
        )
        answer = await client.send(asked, stream=True)
        return StreamingResponse(
            answer.aiter_raw(),
            answer.status_code,
            media_type=answer.headers["content-type"],
            background=BackgroundTask(answer.aclose),
        )

    return app


def launch(place: Place) -> Launch:
    """This file as a program."""
    argv = (sys.executable, "-m", "bench.peers.plain_httpx", str(place.port), str(place.upstream))
    return Launch(argv, {})


PEER = Peer("plain-httpx", nothing_missing, launch)

if __name__ == "__main__":
    uvicorn.run(
        make_app(int(sys.argv[2])),
        port=int(sys.argv[1]),
        log_level="warning",
        access_log=False,
        backlog=2048,
    )

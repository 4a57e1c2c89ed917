"""Server-sent events by sse-starlette: a finite stream, and one without end."""

from __future__ import annotations

import asyncio

from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

ended: list[str] = []


async def count(request):
    after = int(request.headers.get("last-event-id", -1))

    async def events():
        for number in range(after + 1, 5):
            yield {"event": "count", "id": str(number), "data": f"number {number}\nof five"}
            await asyncio.sleep(0)

    return EventSourceResponse(events())


async def ticks(request):
    """An event every few milliseconds, until nobody listens."""
    name = request.path_params["name"]

    async def events():
        try:
            while True:
                yield {"data": name}
                await asyncio.sleep(0.005)
        finally:
            ended.append(name)

    return EventSourceResponse(events())


async def silence(request):
    """No event at all, only the comments that keep a connection alive."""
    name = request.path_params["name"]

    async def events():
        try:
            await asyncio.Event().wait()
            yield {}
        finally:
            ended.append(name)

    return EventSourceResponse(events(), ping=1)


async def all_ended(request):
    return JSONResponse(ended)


app = Starlette(
    routes=[
        Route("/count", count),
        Route("/ticks/{name}", ticks),
        Route("/silence/{name}", silence),
        Route("/ended", all_ended),
    ]
)

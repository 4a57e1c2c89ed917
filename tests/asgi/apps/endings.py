"""An application that says how its requests and its lifespan end."""

import asyncio
import contextlib

from exchange import answer


async def until_told(receive):
    """Waits for the client to go, as frameworks do beside a stream."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def stream(receive, send):
    """Sends a piece now and then until it is told that the client has gone, and returns."""
    told = asyncio.ensure_future(until_told(receive))
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while not told.done():
        await send({"type": "http.response.body", "body": b"piece", "more_body": True})
        await asyncio.wait([told], timeout=0.05)


async def wait():
    """Waits, and cleans up for a moment when it is cancelled."""
    try:
        print("waiting")
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.1)
        print("request cleaned up")


async def stay():
    """Waits, whoever cancels it."""
    print("waiting")
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)


async def lifespan(receive, send):
    """Starts, and takes a moment to end."""
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await asyncio.sleep(0.2)
    print("lifespan cleaned up")
    await send({"type": "lifespan.shutdown.complete"})


async def app(scope, receive, send):
    """/stream, /wait, /stubborn (which does not end), /later (which waits behind its answer)."""
    if scope["type"] == "lifespan":
        return await lifespan(receive, send)
    if scope["path"] == "/stream":
        return await stream(receive, send)
    if scope["path"] == "/later":
        await answer(send, b"answered")
    await (stay() if scope["path"] == "/stubborn" else wait())

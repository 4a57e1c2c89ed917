"""An application that says how its requests and its lifespan end."""

import asyncio
import contextlib
import time

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


async def finite(send):
    """Streams for a while without asking whether anybody is there, as frameworks do that rely on `send` to raise."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(16):
        await send({"type": "http.response.body", "body": b"piece", "more_body": True})
        await asyncio.sleep(0.05)
    await send({"type": "http.response.body", "body": b"end"})


async def wait():
    """Waits, and cleans up for a moment when it is cancelled."""
    try:
        print("waiting")
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.1)
        print("request cleaned up")


async def hog(send):
    """Keeps the loop for itself until the time of a stop is over, and answers as soon as others could have run."""
    print("waiting")
    await asyncio.sleep(0.3)
    print("blocking")
    time.sleep(1.5)
    for _ in range(3):
        await asyncio.sleep(0)
    await answer(send, b"hogged")
    print("answered")


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
    """/finite, /hello, /hog, /stream, /wait, /stubborn (which does not end), /later (which waits behind its answer)."""
    if scope["type"] == "lifespan":
        return await lifespan(receive, send)
    if scope["path"] == "/stream":
        return await stream(receive, send)
    if scope["path"] == "/finite":
        return await finite(send)
    if scope["path"] == "/hog":
        return await hog(send)
    if scope["path"] == "/hello":
        print("hello begun")
        await asyncio.sleep(0)
        return await answer(send, b"hello")
    if scope["path"] == "/later":
        await answer(send, b"answered")
    await (stay() if scope["path"] == "/stubborn" else wait())

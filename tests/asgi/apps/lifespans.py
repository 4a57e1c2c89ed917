"""Applications by how they take part in the lifespan protocol."""

import asyncio
import contextvars

from exchange import answer

started = contextvars.ContextVar("started", default="not set")


def living(lifespan):
    """An application with that lifespan, which answers requests."""

    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            await lifespan(scope, receive, send)
        else:
            await answer(send, b"served")

    return app


@living
async def good(scope, receive, send):
    """Starts and ends."""
    print("got", await receive())
    await send({"type": "lifespan.startup.complete"})
    print("got", await receive())
    await asyncio.sleep(0.2)
    print("cleaned up")
    await send({"type": "lifespan.shutdown.complete"})


@living
async def slow(scope, receive, send):
    """Takes a while to start."""
    await receive()
    await asyncio.sleep(1)
    print("started")
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


@living
async def raises(scope, receive, send):
    """Raises in its start."""
    await receive()
    raise RuntimeError("no database")


@living
async def raises_at_once(scope, receive, send):
    """Raises before it has received anything, as applications do that do not know the protocol."""
    raise NotImplementedError("only http here")


@living
async def exits(scope, receive, send):
    """Ends the process in its start."""
    await receive()
    raise SystemExit("configuration is wrong")


@living
async def fails(scope, receive, send):
    """Says that its start failed."""
    await receive()
    await send({"type": "lifespan.startup.failed", "message": "no database"})


@living
async def fails_silently(scope, receive, send):
    """Says that its start failed, not why."""
    await receive()
    await send({"type": "lifespan.startup.failed"})


@living
async def fails_and_raises(scope, receive, send):
    """As Starlette does: says that its start failed, with the traceback, and raises."""
    await receive()
    try:
        raise RuntimeError("no database")
    except RuntimeError:
        await send({"type": "lifespan.startup.failed", "message": "Traceback of its own"})
        raise


@living
async def silent(scope, receive, send):
    """Never answers."""
    await receive()
    await asyncio.sleep(3600)


@living
async def returns(scope, receive, send):
    """Returns without an answer."""
    await receive()


@living
async def returns_at_once(scope, receive, send):
    """Returns without having received anything."""


@living
async def returns_started(scope, receive, send):
    """Starts and returns."""
    await receive()
    await send({"type": "lifespan.startup.complete"})


@living
async def raises_started(scope, receive, send):
    """Starts, and raises while it serves."""
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await asyncio.sleep(0.1)
    raise RuntimeError("lost the database")


@living
async def raises_at_the_end(scope, receive, send):
    """Raises when it has to end."""
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    raise RuntimeError("cannot clean up")


@living
async def fails_at_the_end(scope, receive, send):
    """Says that its end failed."""
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.failed", "message": "cannot clean up"})


@living
async def never_ends(scope, receive, send):
    """Does not end."""
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    print("will not end")
    await asyncio.sleep(3600)


@living
async def wrong(scope, receive, send):
    """Sends what is not of this protocol."""
    await receive()
    await send({"type": "http.response.start", "status": 200})


@living
async def twice(scope, receive, send):
    """Says twice that it has started."""
    await receive()
    await send({"type": "lifespan.startup.complete"})
    try:
        await send({"type": "lifespan.startup.complete"})
    except Exception as error:
        print("twice raised", error)
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


async def context(scope, receive, send):
    """Sets a context variable in its start."""
    if scope["type"] != "lifespan":
        return await answer(send, started.get().encode())
    await receive()
    started.set("set in the start")
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


async def tasks(scope, receive, send):
    """Starts a task that works all the while."""
    if scope["type"] != "lifespan":
        return await answer(send, b"%d" % scope["state"]["count"][0])
    await receive()
    count = scope["state"]["count"] = [0]

    async def work():
        while True:
            count[0] += 1
            await asyncio.sleep(0.01)

    task = asyncio.create_task(work())
    await send({"type": "lifespan.startup.complete"})
    await receive()
    task.cancel()
    print("worked", count[0] > 0)
    await send({"type": "lifespan.shutdown.complete"})


async def in_flight(scope, receive, send):
    """A request that takes a while, and an end that comes behind it."""
    if scope["type"] != "lifespan":
        print("request begins")
        await asyncio.sleep(1)
        print("request ends")
        return await answer(send, b"served")
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    print("shutdown begins")
    await send({"type": "lifespan.shutdown.complete"})

"""Applications that raise what no handler of `Exception` catches, each at another moment. What they raise names the path."""

import asyncio

from exchange import answer, whole_body

kept = set()


class Aborted(BaseException):
    """Of the application's own."""


KINDS = {"exit": SystemExit, "interrupt": KeyboardInterrupt, "own": Aborted, "error": RuntimeError}


def fail(path):
    """Raises what the last part of the path says."""
    raise KINDS[path.rpartition("/")[2]](f"raised at {path}")


async def app(scope, receive, send):
    """/WHERE/.../KIND; another path is answered."""
    if scope["type"] == "lifespan":
        return await lifespan(receive, send)
    where = scope["path"].split("/")[1]
    await PLACES.get(where, hello)(scope["path"], receive, send)


async def lifespan(receive, send):
    """Starts, and ends when it is told to."""
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


async def hello(path, receive, send):
    """For those who ask whether anybody answers."""
    await answer(send, b"hello")


async def request(path, receive, send):
    """/request/STEP/before or after/KIND: in the first step, in a later one, or when the body has come."""
    _, _, step, when, _ = path.split("/")
    await {"first": _nothing, "later": _pause, "woken": lambda: whole_body(receive)}[step]()
    if when == "after":
        await answer(send, b"answered")
    fail(path)


async def task(path, receive, send):
    """A task that nobody waits for fails."""
    asyncio.create_task(_fail_later(path))
    await asyncio.sleep(0.05)
    await answer(send, b"answered")


async def kept_task(path, receive, send):
    """A task that is kept for good fails."""
    kept.add(asyncio.create_task(_fail_later(path)))
    await asyncio.sleep(0.05)
    await answer(send, b"answered")


async def callback(path, receive, send):
    """A callback of the loop fails."""
    asyncio.get_running_loop().call_soon(fail, path)
    await asyncio.sleep(0.05)
    await answer(send, b"answered")


async def receiver(path, receive, send):
    """A task fails that has received the end of the body, for the request."""

    async def receive_and_fail():
        await whole_body(receive)
        fail(path)

    asyncio.create_task(receive_and_fail())
    await asyncio.sleep(0.3)
    await answer(send, b"answered")


async def websocket(path, receive, send):
    """/websocket/STEP/before, open, after or denied/KIND."""
    _, _, step, when, _ = path.split("/")
    await {"first": _nothing, "later": _pause, "woken": _nothing}[step]()
    await receive()
    if when == "denied":
        await send({"type": "websocket.http.response.start", "status": 401, "headers": []})
        await send({"type": "websocket.http.response.body", "body": b"denied"})
    elif when != "before":
        await send({"type": "websocket.accept"})
    if step == "woken":
        await receive()
    if when == "after":
        await send({"type": "websocket.close", "code": 4000})
    fail(path)


async def _nothing():
    pass


async def _pause():
    await asyncio.sleep(0.01)


async def _fail_later(path):
    await asyncio.sleep(0.01)
    fail(path)


PLACES = {each.__name__: each for each in (request, task, kept_task, callback, receiver, websocket)}

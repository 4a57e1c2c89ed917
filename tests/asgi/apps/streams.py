"""Large and slow bodies, and what became of them: /log tells, a line an event."""

import asyncio

from exchange import answer, pieces_of_body
from routing import routed

PIECE = b"x" * 65536
events = []
begins = asyncio.Event()
sent = 0


async def large(scope, receive, send, count):
    """2 GB in pieces of 64 KB, or so many pieces; an event tells how it ended."""
    global sent
    await send({"type": "http.response.start", "status": 200, "headers": []})
    sent = 0
    try:
        for _ in range(int(count or 32768)):
            await send({"type": "http.response.body", "body": PIECE, "more_body": True})
            sent += 1
        await send({"type": "http.response.body"})
        events.append("sent all")
    except BaseException as error:
        events.append(f"{type(error).__name__} ({isinstance(error, OSError)}) after {sent}")
        raise


async def varied(scope, receive, send, size):
    """Pieces of about that size."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for number in range(min(20_000_000 // int(size), 20_000)):
        await send({"type": "http.response.body", "body": PIECE[: int(size)] + b"y" * (number % 7), "more_body": True})
    await send({"type": "http.response.body"})


async def huge(scope, receive, send, size):
    """That many bytes in one message."""
    await answer(send, b"x" * int(size))
    events.append("huge sent")


async def count(scope, receive, send, _):
    """How many pieces were sent so far."""
    await answer(send, b"%d" % sent)


async def log(scope, receive, send, _):
    """The events so far."""
    await answer(send, "\n".join(events).encode())


async def upload(scope, receive, send, _):
    """Reads the body when /begin has been asked for; says how much it was and how large the largest message."""
    await begins.wait()
    sizes = [len(piece) async for piece in pieces_of_body(receive)]
    await answer(send, b"%d %d" % (sum(sizes), max(sizes)))


async def begin(scope, receive, send, _):
    """Lets uploads go on."""
    begins.set()
    await answer(send, b"")


app = routed(large, varied, huge, count, log, upload, begin)

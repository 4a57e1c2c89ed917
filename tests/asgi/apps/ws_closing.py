"""WebSockets that end, each in its own way; the path says which."""

import asyncio

from routing import routed
from telling import tell
from ws_exchange import accepted, raised


async def listen(scope, receive, send, argument):
    """Tells each message until the client has gone, then how it went."""
    await accepted(receive, send)
    while (message := await receive())["type"] == "websocket.receive":
        tell("received", message.get("text") or message.get("bytes"))
    tell("ended", message)


async def twice(scope, receive, send, argument):
    """Receives once more when the client has gone."""
    await accepted(receive, send)
    tell("ended", await receive())
    tell("raised", await raised(asyncio.wait_for, receive(), 1))


async def close(scope, receive, send, argument):
    """Closes with the code and the reason of the path, then receives, then sends."""
    code, _, reason = argument.partition("/")
    await accepted(receive, send)
    await send({"type": "websocket.close", **({"code": int(code), "reason": reason} if code else {})})
    tell("ended", await receive())
    tell("raised", await raised(send, {"type": "websocket.send", "text": "late"}))


async def fail(scope, receive, send, argument):
    """Raises after it has accepted."""
    await accepted(receive, send)
    raise RuntimeError("this view fails on purpose")


async def leave(scope, receive, send, argument):
    """Returns after it has accepted."""
    await accepted(receive, send)


async def late(scope, receive, send, argument):
    """Sends when the client has gone."""
    await accepted(receive, send)
    await receive()
    tell("raised", await raised(send, {"type": "websocket.send", "text": "late"}))


async def chat(scope, receive, send, argument):
    """Never receives, and sends something each 10 ms until that fails."""
    await accepted(receive, send)
    while (outcome := await raised(send, {"type": "websocket.send", "text": "tick"})) is None:
        await asyncio.sleep(0.01)
    tell("raised", outcome)


app = routed(listen, twice, close, fail, leave, late, chat, kind="websocket")

"""WebSockets that are accepted, refused or left alone, each in its own way; the path says which."""

import ast
import asyncio
from urllib.parse import unquote

from routing import routed
from telling import printed, tell
from ws_exchange import accepted, echoes, raised


async def echo(scope, receive, send, argument):
    """Accepts and sends each message back."""
    await accepted(receive, send)
    await echoes(receive, send)


async def late(scope, receive, send, argument):
    """Accepts after so many seconds, and then sends each message back."""
    await asyncio.sleep(float(argument))
    await accepted(receive, send)
    await echoes(receive, send)


async def scoped(scope, receive, send, argument):
    """Accepts and sends what the scope says."""
    await accepted(receive, send)
    await send({"type": "websocket.send", "text": printed(scope)})


async def accept(scope, receive, send, argument):
    """Accepts as the query says, and tells what that raises."""
    await receive()
    outcome = await raised(send, {"type": "websocket.accept", **literal(scope)})
    tell("raised", outcome)
    if outcome is None:
        await receive()


async def answer(scope, receive, send, argument):
    """Sends the messages of the query in place of an answer."""
    await receive()
    for message in literal(scope):
        await send(message)


async def hasty(scope, receive, send, argument):
    """Accepts without waiting for websocket.connect, and sends which two messages come then."""
    await send({"type": "websocket.accept"})
    for _ in range(2):
        await send({"type": "websocket.send", "text": printed(await receive())})


async def before(scope, receive, send, argument):
    """Tries the message of the query in place of an answer, then accepts and sends what was raised."""
    await receive()
    outcome = await raised(send, literal(scope))
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.send", "text": printed(outcome)})


async def after(scope, receive, send, argument):
    """Accepts, tries the message of the query, and sends what was raised."""
    await accepted(receive, send)
    outcome = await raised(send, literal(scope))
    await send({"type": "websocket.send", "text": printed(outcome)})


async def leave(scope, receive, send, argument):
    """Returns without an answer."""
    await receive()


async def fail(scope, receive, send, argument):
    """Raises in place of an answer."""
    raise RuntimeError("this view fails on purpose")


def literal(scope):
    """What the query is as a Python literal."""
    return ast.literal_eval(unquote(scope["query_string"].decode()))


app = routed(echo, late, scoped, accept, answer, hasty, before, after, leave, fail, kind="websocket")

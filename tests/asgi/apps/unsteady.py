"""Applications that give up waiting, wait in several tasks, or keep the event loop for themselves; each has a path of its own."""

import asyncio
import time

from exchange import answer, answer_json

ROUTES = {}


async def app(scope, receive, send):
    """Each path of each kind is another application."""
    assert scope["type"] != "lifespan", "it knows no lifespan"
    await ROUTES[scope["type"], scope["path"]](receive, send)


def at(kind, path):
    """Puts a function there."""

    def put(function):
        ROUTES[kind, path] = function
        return function

    return put


@at("http", "/hello")
async def hello(receive, send):
    """For those who ask whether anybody answers."""
    await answer(send, b"hello")


@at("http", "/pieces")
async def pieces(receive, send):
    """The events of the body, one by one."""
    events = []
    while not events or events[-1][1]:
        message = await receive()
        events.append((message["body"].decode(), message["more_body"]))
    await answer_json(send, events)


@at("http", "/wait")
async def wait(receive, send):
    """Answers when the whole body is there, and says before that it has begun."""
    print("begun", flush=True)
    while (await receive()).get("more_body"):
        pass
    await answer(send, b"waited")


@at("http", "/block")
async def block(receive, send):
    """Waits for the body, and blocks the loop while it comes."""
    receives = asyncio.ensure_future(receive())
    await asyncio.sleep(0.01)
    print("blocking", flush=True)
    time.sleep(2.5)
    await answer(send, (await receives).get("body", b"nothing"))


@at("http", "/give-up")
async def give_up(receive, send):
    """Waits for the body for a moment, and takes it much later."""
    await _given_up(receive)
    await asyncio.sleep(2.5)
    await answer(send, (await receive()).get("body", b"nothing"))


@at("http", "/both")
async def both(receive, send):
    """Two tasks take an event each."""
    print("begun", flush=True)
    events = await asyncio.gather(receive(), receive())
    await answer_json(send, sorted(event["body"].decode() for event in events))


@at("http", "/listen")
async def listen(receive, send):
    """A task waits for the client to go, and the response ends before."""
    await receive()
    listens = asyncio.ensure_future(receive())
    await asyncio.sleep(0.01)
    await answer(send, b"answered")
    print("then", (await listens)["type"], flush=True)


@at("websocket", "/echo")
async def echo(receive, send):
    """Each message goes back."""
    await _accept(receive, send)
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"]})


@at("websocket", "/give-up")
async def give_up_messages(receive, send):
    """Waits for a message for a moment only."""
    await _accept(receive, send)
    await _given_up(receive)
    await send({"type": "websocket.send", "text": "gave up"})
    await asyncio.sleep(1)


@at("websocket", "/slow")
async def slow(receive, send):
    """Takes messages only after a while."""
    await _accept(receive, send)
    await asyncio.sleep(2.5)
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"]})


@at("websocket", "/late")
async def late(receive, send):
    """Sends after the client has closed."""
    await _accept(receive, send)
    await asyncio.sleep(0.3)
    try:
        await send({"type": "websocket.send", "text": "late"})
    except OSError:
        print("closed by then", flush=True)


@at("websocket", "/listen")
async def listen_to_messages(receive, send):
    """A task waits for a message, and another closes."""
    await _accept(receive, send)
    listens = asyncio.ensure_future(receive())
    await asyncio.sleep(0.01)
    await send({"type": "websocket.close", "code": 4000})
    print("then", (await listens)["type"], flush=True)


async def _accept(receive, send):
    await receive()
    await send({"type": "websocket.accept"})


async def _given_up(receive):
    try:
        await asyncio.wait_for(receive(), 0.05)
    except asyncio.TimeoutError:
        print("given up", flush=True)
        return
    raise AssertionError("something came")

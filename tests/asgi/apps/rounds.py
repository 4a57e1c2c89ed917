"""Requests that hold up the loop until their test lets them go on, and what waits to be sent meanwhile."""

import asyncio
import time
from pathlib import Path

from exchange import answer, answer_json
from routing import routed
from ws_exchange import accepted

SIZES = [10, 5000, 10, 70_000, 300, 4096, 10]


def hold_up(path):
    """Lets nobody else run until `path`.go exists; `path`.began says that it does so."""
    Path(path + ".began").touch()
    end = time.monotonic() + 20
    while not Path(path + ".go").exists():
        assert time.monotonic() < end, f"{path}.go did not come"
        time.sleep(0.001)


async def hello(scope, receive, send, name):
    """A short answer."""
    await answer(send, b"hello")


async def block(scope, receive, send, path):
    """Answers when it has been let go."""
    hold_up("/" + path)
    await answer(send, b"blocked")


async def begin(scope, receive, send, path):
    """Begins a response and goes on when it has been let go."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"first", "more_body": True})
    hold_up("/" + path)
    await send({"type": "http.response.body", "body": b"second"})


async def chunks(scope, receive, send, sizes):
    """A response in pieces of those sizes, sent without a pause."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for number, size in enumerate(map(int, sizes.split("/"))):
        await send({"type": "http.response.body", "body": b"%c" % (97 + number) * size, "more_body": True})
    await send({"type": "http.response.body"})


async def woken(scope, receive, send, _):
    """What a request sees of itself each time that a piece of its body has come."""
    task, seen = asyncio.current_task(), []
    while (await receive())["more_body"]:
        seen.append(asyncio.current_task() is task and asyncio.get_running_loop() is task.get_loop())
    await answer_json(send, seen)


async def chat(scope, receive, send, path):
    """Answers each message with many of different sizes; `stop` holds up the loop behind them."""
    await accepted(receive, send)
    while (message := await receive())["type"] == "websocket.receive":
        for number, size in enumerate(SIZES):
            await send({"type": "websocket.send", "bytes": b"%c" % (97 + number) * size})
        if message.get("text") == "stop":
            hold_up("/" + path)


app = routed(hello, block, begin, chunks, woken)
sockets = routed(chat, kind="websocket")

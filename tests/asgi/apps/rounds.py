"""Requests that hold up the loop until their test lets them go on, and what waits to be sent meanwhile."""

import asyncio
import contextvars
import time
from pathlib import Path

from exchange import answer, answer_json
from routing import routed
from ws_exchange import accepted

count = contextvars.ContextVar("count", default=0)
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


async def pieces(scope, receive, send, path):
    """Holds up the loop for a while, and then before and behind each piece of its response until it has been let go."""
    time.sleep(0.2)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for number in range(3):
        await send({"type": "http.response.body", "body": b"piece %d" % number, "more_body": True})
        hold_up(f"/{path}{number}")
    await send({"type": "http.response.body"})


async def answer_first(scope, receive, send, path):
    """Holds up the loop behind its answer."""
    time.sleep(0.2)
    await answer(send, b"answered")
    hold_up("/" + path)


async def sends_on(scope, receive, send, _):
    """Sends a piece, which goes out when the round is over, and then another one."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"first", "more_body": True})
    print("first was taken")
    await asyncio.sleep(0.1)
    try:
        await send({"type": "http.response.body", "body": b"second", "more_body": True})
    except OSError:
        print("second raised OSError, and receive gives", (await receive())["type"])
    else:
        print("second was taken")


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
        same = asyncio.current_task() is task and asyncio.get_running_loop() is task.get_loop()
        seen.append([same, count.get()])
        count.set(count.get() + 1)
    await answer_json(send, seen)


async def chat(scope, receive, send, path):
    """Answers each message with many of different sizes; `stop` holds up the loop behind them."""
    await accepted(receive, send)
    while (message := await receive())["type"] == "websocket.receive":
        for number, size in enumerate(SIZES):
            await send({"type": "websocket.send", "bytes": b"%c" % (97 + number) * size})
        if message.get("text") == "stop":
            hold_up("/" + path)


async def slow(scope, receive, send, seconds):
    """Answers each message after a while, which it waits as it should."""
    await accepted(receive, send)
    while (message := await receive())["type"] == "websocket.receive":
        await asyncio.sleep(float(seconds))
        await send({"type": "websocket.send", "text": message["text"]})
    print("closed with", message["code"])


app = routed(hello, block, pieces, answer_first, sends_on, chunks, woken)
sockets = routed(chat, slow, kind="websocket")

"""Coroutines that hold up the loop."""

import asyncio
import time

from exchange import answer, whole_body
from routing import routed


async def block(scope, receive, send, seconds):
    """Sleeps without letting anybody else run."""
    print("blocking")
    time.sleep(float(seconds))
    await answer(send, b"blocked")


async def block_later(scope, receive, send, seconds):
    """The same, when it has waited."""
    await asyncio.sleep(0.01)
    await block(scope, receive, send, seconds)


async def compute(scope, receive, send, seconds):
    """Computes, with the interpreter's lock given away now and then."""
    print("blocking")
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        sum(range(1000))
    await answer(send, b"computed")


async def compute_in_c(scope, receive, send, digits):
    """Computes in C, which keeps the interpreter's lock."""
    print("blocking")
    pow(3, 10 ** int(digits), 10**20000 + 1)
    await answer(send, b"computed")


async def hello(scope, receive, send, name):
    """A short answer."""
    await answer(send, f"hello {name}".encode())


async def echo(scope, receive, send, _):
    """The body."""
    await answer(send, await whole_body(receive))


async def wait(scope, receive, send, seconds):
    """Waits as it should."""
    try:
        await inner(float(seconds))
    except asyncio.CancelledError:
        print("wait was cancelled")
        raise
    await answer(send, b"waited")


async def inner(seconds):
    """What the stack of a waiting task ends in."""
    await innermost(seconds)


async def innermost(seconds):
    """The last step of it."""
    await asyncio.sleep(seconds)


async def begun(scope, receive, send, seconds):
    """Begins its response and then waits."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"first", "more_body": True})
    await inner(float(seconds))
    await send({"type": "http.response.body", "body": b"waited"})


async def stubborn(scope, receive, send, seconds):
    """Does not let itself be cancelled at once."""
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        print("stubborn goes on")
        await asyncio.sleep(float(seconds))
        print("stubborn is done")


async def heedless(scope, receive, send, seconds):
    """Does not let itself be cancelled at all, for that long."""
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        try:
            await asyncio.sleep(end - time.monotonic())
        except asyncio.CancelledError:
            print("heedless goes on")
    print("heedless is done")


async def block_and_tell(scope, receive, send, seconds):
    """Holds up the loop, and tells what has become of its client."""
    time.sleep(float(seconds))
    try:
        await answer(send, b"too late")
    except OSError:
        print("send raised OSError")
    print("receive gave", (await receive())["type"])


async def block_and_wait(scope, receive, send, seconds):
    """Holds up the loop, and then waits as it should."""
    time.sleep(float(seconds))
    await wait(scope, receive, send, 30)


async def begin_and_block(scope, receive, send, seconds):
    """Begins its response and then holds up the loop."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"first, ", "more_body": True})
    await inner(0.01)
    await block_in_response(send, seconds)


async def block_in_response(send, seconds):
    """Holds up the loop within a response."""
    print("blocking")
    time.sleep(float(seconds))
    await send({"type": "http.response.body", "body": b"last"})


async def tells(scope, receive, send, name):
    """A short answer, with a sign that it ran."""
    print("ran", name)
    await answer(send, name.encode())


async def outlasts(scope, receive, send, seconds):
    """Answers and then goes on."""
    await answer(send, b"answered")
    await inner(float(seconds))


async def answers_cancelled(scope, receive, send, _):
    """Answers when it is cancelled."""
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        await answer(send, b"too late")


async def receiving(scope, receive, send, _):
    """Waits for its client: the body."""
    await answer(send, await whole_body(receive))


async def sends(scope, receive, send, _):
    """Waits for its client: a reader."""
    await answer(send, b"x" * 20_000_000)


app = routed(
    *[
        block,
        block_later,
        compute,
        compute_in_c,
        hello,
        echo,
        wait,
        begun,
        stubborn,
        heedless,
        block_and_tell,
        block_and_wait,
        begin_and_block,
        tells,
        outlasts,
        answers_cancelled,
        receiving,
        sends,
    ],
)

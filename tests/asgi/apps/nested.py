"""Applications that run the event loop within one of its callbacks, as nest_asyncio has it: plain functions that wait for coroutines."""

import asyncio
import heapq

from exchange import answer, whole_body
from routing import routed

kept = set()


def run_nested(coroutine):
    """The result of the coroutine, for which the loop runs on until it is there."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(coroutine)
    while not task.done():
        _run_once(loop)
        if loop._stopping:
            break
    if not task.done():
        raise RuntimeError("the loop was stopped before")
    return task.result()


def run_nested_for_good():
    """Runs the loop until it is stopped, and takes the stop for itself."""
    loop = asyncio.get_running_loop()
    while not loop._stopping:
        _run_once(loop)
    loop._stopping = False


def _run_once(loop):
    """One round. Tasks may go on within it, as none seems to be running meanwhile; one is while the selector is asked."""
    timeout = None
    if loop._ready or loop._stopping:
        timeout = 0
    elif loop._scheduled:
        timeout = max(loop._scheduled[0]._when - loop.time(), 0)
    loop._process_events(loop._selector.select(timeout))
    while loop._scheduled and loop._scheduled[0]._when <= loop.time():
        handle = heapq.heappop(loop._scheduled)
        handle._scheduled = False
        loop._ready.append(handle)
    for _ in range(len(loop._ready)):
        if not loop._ready:
            break
        handle = loop._ready.popleft()
        if not handle._cancelled:
            _run_aside(loop, handle)


def _run_aside(loop, handle):
    current = asyncio.current_task(loop)
    if current is not None:
        asyncio.tasks._leave_task(loop, current)
    try:
        handle._run()
    finally:
        if current is not None:
            asyncio.tasks._enter_task(loop, current)


async def hello(scope, receive, send, _):
    """A short answer."""
    await answer(send, b"hello")


async def first(scope, receive, send, _):
    """Takes the whole body in the first step of its task."""
    print("nested", flush=True)
    body = run_nested(whole_body(receive))
    print("unnested", flush=True)
    await answer(send, body)


async def later(scope, receive, send, _):
    """The same, in a later step."""
    await asyncio.sleep(0.01)
    await first(scope, receive, send, _)


async def slow(scope, receive, send, when):
    """Runs the loop for a while, in the first step or later."""
    if when == "later":
        await asyncio.sleep(0.01)
    run_nested(asyncio.sleep(1.5))
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        print("was cancelled", flush=True)
        raise


async def ended(scope, receive, send, _):
    """Waits for the end of its client, in the first step."""
    print("nested", flush=True)
    await receive()
    print("then", run_nested(receive())["type"], flush=True)


async def background(scope, receive, send, _):
    """Leaves a callback behind that runs the loop for good."""
    await answer(send, b"answered")
    asyncio.get_running_loop().call_soon(run_nested_for_good)


async def background_task(scope, receive, send, _):
    """Leaves a task behind that does."""

    async def run():
        run_nested_for_good()

    kept.add(asyncio.create_task(run()))
    await answer(send, b"answered")


async def messages(receive, send):
    """A WebSocket whose messages are waited for in the first step."""
    await receive()
    await send({"type": "websocket.accept"})
    while (message := run_nested(receive()))["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"]})


requests = routed(hello, first, later, slow, ended, background, background_task)


async def app(scope, receive, send):
    """Both kinds."""
    if scope["type"] == "websocket":
        return await messages(receive, send)
    await requests(scope, receive, send)

"""Applications that use tasks, context variables and libraries on top of asyncio."""

import asyncio
import contextvars
import time

import anyio
import sniffio
from exchange import answer, answer_json, whole_body
from routing import routed

visitor = contextvars.ContextVar("visitor", default="nobody")
kept = set()
done = []


async def identity(scope, receive, send, _):
    """What this request runs in."""
    before = asyncio.current_task()
    await asyncio.sleep(0)
    after = asyncio.current_task()
    seen = {
        "task": isinstance(before, asyncio.Task),
        "same": before is after,
        "name": before.get_name(),
        "listed": before in asyncio.all_tasks(),
        "loop": asyncio.get_running_loop() is before.get_loop(),
        "module": type(asyncio.get_running_loop()).__module__,
        "sniffio": sniffio.current_async_library(),
        "anyio": anyio.get_current_task().name == before.get_name(),
        "done": before.done(),
        "id": id(before),
    }
    kept.add(before)  # So that no id comes twice.
    await answer_json(send, seen)


async def variable(scope, receive, send, name):
    """Sets a context variable; nobody else may see it, in any step."""
    seen = [visitor.get()]
    visitor.set(name)
    for _ in range(3):
        await asyncio.sleep(0.01)
        seen.append(visitor.get())
    body = await whole_body(receive)
    seen.append(visitor.get())
    seen.append(await asyncio.create_task(get_variable()))
    seen.append(await asyncio.to_thread(visitor.get))
    seen.append(body.decode())
    await answer_json(send, seen)


async def get_variable():
    """What a task that begins here inherits."""
    return visitor.get()


async def at_once(scope, receive, send, name):
    """Sets the variable and returns without having waited for anything."""
    before = visitor.get()
    visitor.set(name)
    await answer(send, before.encode())


async def created(scope, receive, send, _):
    """Receives in a task of its own."""
    body = b""
    more = True
    while more:
        message = await asyncio.create_task(receive())
        body, more = body + message["body"], message["more_body"]
    await answer(send, body)


async def sent_by_task(scope, receive, send, _):
    """Sends from another task than the one that received."""
    body = await whole_body(receive)
    await asyncio.create_task(answer(send, body))


async def timed(scope, receive, send, _):
    """Looks for the body with a short patience, again and again: a message must not get lost."""
    body, more, timeouts = b"", True, 0
    while more:
        try:
            message = await asyncio.wait_for(receive(), 0.05)
        except asyncio.TimeoutError:
            timeouts += 1
            continue
        body, more = body + message["body"], message["more_body"]
    await answer_json(send, {"body": body.decode(), "timeouts": timeouts})


async def gathered(scope, receive, send, _):
    """Two sends at once."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await asyncio.gather(
        send({"type": "http.response.body", "body": b"a" * 300_000, "more_body": True}),
        send({"type": "http.response.body", "body": b"b" * 300_000, "more_body": True}),
    )
    await send({"type": "http.response.body"})


async def unawaited(scope, receive, send, _):
    """Makes the awaitables first and awaits them later."""
    body = await whole_body(receive)
    start = send({"type": "http.response.start", "status": 200, "headers": []})
    rest = send({"type": "http.response.body", "body": body})
    await start
    await rest


async def background(scope, receive, send, seconds):
    """Goes on when the response has been sent, as background tasks of frameworks do."""
    await answer(send, b"answered")
    await asyncio.sleep(float(seconds))
    done.append("in the request")
    print("background done")


async def detached(scope, receive, send, seconds):
    """Starts a task that outlives the request."""

    async def go_on():
        await asyncio.sleep(float(seconds))
        print("detached done")

    task = asyncio.create_task(go_on())
    kept.add(task)
    task.add_done_callback(kept.discard)
    await answer(send, b"answered")


async def cancelling(scope, receive, send, _):
    """Cancels a task that waits in receive; the next receive gets the message."""
    first = await receive()
    task = asyncio.create_task(receive())
    await asyncio.sleep(0.01)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    print("cancelled receive")
    second = await receive()
    await answer(send, first["body"] + second["body"])


async def cancelling_itself(scope, receive, send, _):
    """Cancels the task it runs in, catches that and answers."""
    asyncio.current_task().cancel()
    try:
        await asyncio.sleep(1)
    except asyncio.CancelledError:
        if hasattr(asyncio.Task, "uncancel"):
            asyncio.current_task().uncancel()
        await answer(send, b"cancelled")


async def cancelling_send(scope, receive, send, _):
    """Cancels a send that waits for its client; the task goes on."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    count = 0
    try:
        while True:
            message = {"type": "http.response.body", "body": b"x" * 65536, "more_body": True}
            await asyncio.wait_for(send(message), 0.3)
            count += 1
    except asyncio.TimeoutError:
        print("send cancelled after", count)
    await send({"type": "http.response.body", "body": b"end"})
    print("send went on")


async def grouped(scope, receive, send, _):
    """A task group of anyio, one task of which watches for the disconnect while another sends."""

    async def watch():
        while (await receive())["type"] != "http.disconnect":
            pass
        print("watched the end")
        group.cancel_scope.cancel()

    async def respond():
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(3):
            await send({"type": "http.response.body", "body": b"piece ", "more_body": True})
            await anyio.sleep(0.02)
        await send({"type": "http.response.body"})
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        group.start_soon(respond)


async def deadline(scope, receive, send, _):
    """anyio's timeout around receive, and a thread of its own."""
    await whole_body(receive)
    with anyio.move_on_after(0.1) as limit:
        await receive()
    value = await anyio.to_thread.run_sync(lambda: "thread")
    await answer_json(send, [limit.cancelled_caught, value])


async def receivers(scope, receive, send, _):
    """Two tasks that both wait in receive when the client goes."""
    await whole_body(receive)
    tasks = [asyncio.create_task(receive()) for _ in range(2)]
    print("two wait")
    print("both got", [(await task)["type"] for task in tasks])


async def left(scope, receive, send, _):
    """How many tasks there are."""
    await answer(send, b"%d" % len(asyncio.all_tasks()))


async def blocking(scope, receive, send, seconds):
    """Work in a thread, while others are served."""
    await asyncio.to_thread(time.sleep, float(seconds))
    await answer(send, b"slept in a thread")


app = routed(
    *[identity, variable, at_once, created, sent_by_task, timed, gathered, unawaited, background, detached, cancelling],
    *[cancelling_itself, cancelling_send, grouped, deadline, receivers, left, blocking],
)

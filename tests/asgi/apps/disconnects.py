"""Applications whose clients go."""

import asyncio
import gc

from exchange import answer, answer_json, whole_body
from routing import routed


async def waiting(scope, receive, send, _):
    """Waits in receive for the end of the client."""
    await whole_body(receive)
    print("waiting")
    print("got", (await receive())["type"])


async def again(scope, receive, send, _):
    """Receives again and again after the disconnect."""
    await whole_body(receive)
    print("got", [(await receive())["type"] for _ in range(3)])


async def upload(scope, receive, send, _):
    """Waits for a body that does not come."""
    print("waiting")
    message = {"more_body": True}
    while message.get("more_body"):
        message = await receive()
    print("got", message)


async def sleeping(scope, receive, send, seconds):
    """Sleeps while its client goes, then looks."""
    await whole_body(receive)
    print("waiting")
    await asyncio.sleep(float(seconds))
    began = asyncio.get_running_loop().time()
    message = await receive()
    print("got", message["type"], "prompt" if asyncio.get_running_loop().time() - began < 0.1 else "late")


async def racing(scope, receive, send, _):
    """Works until the client goes, as frameworks do that watch for it."""
    await whole_body(receive)
    watcher = asyncio.create_task(receive())
    work = asyncio.create_task(asyncio.sleep(30))
    print("waiting")
    await asyncio.wait([watcher, work], return_when=asyncio.FIRST_COMPLETED)
    work.cancel()
    print("got", watcher.result()["type"])


async def sending(scope, receive, send, seconds):
    """Sends when its client has gone."""
    await whole_body(receive)
    print("waiting")
    await asyncio.sleep(float(seconds))
    await send_until_it_raises(send)


async def sending_after_notice(scope, receive, send, _):
    """Sends when it has been told that its client has gone."""
    await whole_body(receive)
    print("waiting")
    await receive()
    await send_until_it_raises(send)


async def send_until_it_raises(send):
    """A start and pieces; the log has what they raise."""
    try:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(200):
            await send({"type": "http.response.body", "body": b"x" * 1000, "more_body": True})
            await asyncio.sleep(0.005)
    except Exception as error:
        print("raised", isinstance(error, OSError), error)
        raise
    print("raised nothing")


async def patient(scope, receive, send, seconds):
    """Waits in receive for a while, then answers whatever came."""
    body = await whole_body(receive)
    try:
        message = await asyncio.wait_for(receive(), float(seconds))
    except asyncio.TimeoutError:
        message = {"type": "nothing"}
    await answer(send, body + b" " + message["type"].encode())


async def slow(scope, receive, send, seconds):
    """Sleeps, then answers."""
    body = await whole_body(receive)
    await asyncio.sleep(float(seconds))
    await answer(send, body + b" slept")


async def stream(scope, receive, send, _):
    """Three pieces with pauses."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for number in range(3):
        await send({"type": "http.response.body", "body": b"piece%d " % number, "more_body": True})
        await asyncio.sleep(0.15)
    await send({"type": "http.response.body"})


async def stubborn(scope, receive, send, seconds):
    """Goes on with its work when its client has gone, and is let."""
    try:
        await asyncio.sleep(float(seconds))
        print("work is done")
    except asyncio.CancelledError:
        print("work was cancelled")
        raise


async def left(scope, receive, send, _):
    """What is left in the process."""
    gc.collect()
    await answer_json(send, {"tasks": len(asyncio.all_tasks()), "objects": len(gc.get_objects())})


app = routed(
    *[waiting, again, upload, sleeping, racing, sending, sending_after_notice, patient, slow, stream, stubborn, left],
)

"""An application whose tasks end the event loop, or try to, whenever its server runs that to wait for something.

What they do is the environment's ENDS: exit or stop.
"""

import asyncio
import os

from exchange import answer


async def end_loop():
    """Ends the loop in a moment."""
    await asyncio.sleep(0.05)
    if os.environ["ENDS"] == "stop":
        return asyncio.get_running_loop().stop()
    raise SystemExit("ended on purpose")


async def when_cancelled():
    """Ends the loop when it is cancelled, and does not wait for anything."""
    try:
        await asyncio.sleep(60)
    finally:
        if os.environ["ENDS"] == "stop":
            asyncio.get_running_loop().stop()
        else:
            raise SystemExit("ended on purpose")


async def clean_up(what):
    """Takes a moment to end when it is cancelled."""
    try:
        print("waiting")
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.05)
        print(f"{what} cleaned up")


async def lifespan(receive, send):
    """Has a task end the loop while it starts, and while it ends."""
    await receive()
    kept = [asyncio.create_task(end_loop())]
    await asyncio.sleep(0.2)
    await send({"type": "lifespan.startup.complete"})
    await receive()
    kept.append(asyncio.create_task(end_loop()))
    await asyncio.sleep(0.2)
    print("lifespan cleaned up")
    await send({"type": "lifespan.shutdown.complete"})


async def app(scope, receive, send):
    """/wait and /end wait until they are cancelled; /tasks leaves tasks that do; another path is answered."""
    if scope["type"] == "lifespan":
        return await lifespan(receive, send)
    if scope["path"] == "/wait":
        return await clean_up("request")
    if scope["path"] == "/end":
        return await when_cancelled()
    if scope["path"] == "/tasks":
        app.kept = [asyncio.create_task(clean_up("task")), asyncio.create_task(when_cancelled())]
    await answer(send, b"answered")

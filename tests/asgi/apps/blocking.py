"""An application that blocks its event loop for as long as it is asked to."""

from __future__ import annotations

import asyncio
import time


async def app(scope, receive, send):
    """`/SECONDS`: sleeps, as code that does not await does."""
    assert scope["type"] == "http"
    await asyncio.sleep(0)  # what follows is a step of its own
    print("blocking", flush=True)
    time.sleep(float(scope["path"][1:]))
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"slept"})

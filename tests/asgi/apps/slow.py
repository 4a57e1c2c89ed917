"""Takes as many seconds as the path says."""

import asyncio

from exchange import answer


async def app(scope, receive, send):
    """Sleeps, then answers what it did."""
    assert scope["type"] == "http"
    seconds = float(scope["path"].strip("/") or 0)
    await asyncio.sleep(seconds)
    await answer(send, f"slept {seconds}\n".encode())

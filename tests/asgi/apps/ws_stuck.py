"""A WebSocket application that holds up the loop before it answers."""

import time


async def app(scope, receive, send):
    """Accepts too late."""
    assert scope["type"] == "websocket"
    await receive()
    time.sleep(1.5)
    try:
        await send({"type": "websocket.accept"})
    except OSError:
        print("send raised OSError")
    print("receive gave", (await receive())["type"])

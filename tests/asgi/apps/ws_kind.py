"""Says whether it was called for HTTP or for a WebSocket."""

from exchange import answer
from ws_exchange import accepted


async def app(scope, receive, send):
    """Answers with the type of the scope."""
    if scope["type"] == "http":
        await answer(send, b"http")
        return
    await accepted(receive, send)
    await send({"type": "websocket.send", "text": scope["type"]})
    await receive()

"""Sends each WebSocket message back, as text or as bytes, as it came."""

from ws_exchange import accepted, echoes


async def app(scope, receive, send):
    """An ASGI application for WebSockets, without lifespan."""
    assert scope["type"] == "websocket", f"{scope['type']} is not for this application"
    await accepted(receive, send)
    await echoes(receive, send)

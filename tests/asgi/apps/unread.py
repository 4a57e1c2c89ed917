"""Answers without reading the body."""

from exchange import answer


async def app(scope, receive, send):
    """Answers 200 with the path."""
    assert scope["type"] == "http"
    await answer(send, f"unread {scope['path']}\n".encode())

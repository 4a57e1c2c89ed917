"""Reads the body and says how much it was."""

from exchange import answer, pieces_of_body


async def app(scope, receive, send):
    """Answers 200 with the path and the number of bytes."""
    assert scope["type"] == "http"
    size = 0
    async for piece in pieces_of_body(receive):
        size += len(piece)
    await answer(send, f"{scope['path']} read {size} bytes".encode())

"""HELLO: a short text, without Content-Length, in one message."""


async def app(scope, receive, send):
    """Answers 200 with the same few bytes."""
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": b"Hello, world!\n"})

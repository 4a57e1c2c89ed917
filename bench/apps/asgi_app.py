"""The ASGI applications of the benchmarks, the same for every server: those of `bench_app`, and WebSockets.

Plain ASGI without a framework, so that the server is what is measured. Each is asked for HTTP or WebSockets only; a
lifespan scope raises, which tells a server that there is none.
"""

import json
import time

from bench_app import HELLO, RECORDS

STREAM_CHUNK = b"0123456789abcdef" * 64
STREAM_CHUNKS = 64
BLOCKED_SECONDS = 5.0

TEXT = (b"content-type", b"text/plain")
BINARY = (b"content-type", b"application/octet-stream")


async def hello(scope, receive, send):
    """Answer 14 bytes of text: what a server costs when the application costs nothing."""
    _http_only(scope)
    await _answer(send, TEXT, HELLO)


async def json_records(scope, receive, send):
    """Answer about 10 KB of JSON, serialised at each request as an API would."""
    _http_only(scope)
    await _answer(send, (b"content-type", b"application/json"), json.dumps(RECORDS).encode())


async def echo(scope, receive, send):
    """Answer the request's body."""
    _http_only(scope)
    await _answer(send, BINARY, await _body(receive))


async def stream(scope, receive, send):
    """Answer 64 KB in pieces of 1 KB, without a length, as an export or an event stream does."""
    _http_only(scope)
    await send({"type": "http.response.start", "status": 200, "headers": [BINARY]})
    for _ in range(STREAM_CHUNKS):
        await send({"type": "http.response.body", "body": STREAM_CHUNK, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def blocking(scope, receive, send):
    """Block the event loop for 5 s: `/sleep` in a call that leaves the interpreter, `/hold` in one that does not."""
    _http_only(scope)
    began = time.monotonic()
    if scope["path"] == "/sleep":
        time.sleep(BLOCKED_SECONDS)
    while scope["path"] == "/hold" and time.monotonic() - began < BLOCKED_SECONDS:
        sum(range(10_000_000))  # one call into C of some 0.1 s: no other thread gets the interpreter meanwhile
    await _answer(send, TEXT, HELLO)


async def ws_echo(scope, receive, send):
    """Send each message back."""
    _websocket_only(scope)
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "bytes": message["bytes"]})


class Broadcast:
    """Sends each message of a WebSocket to all others, which are told `joined` when they are among them."""

    def __init__(self):
        """Begin with nobody."""
        self._members = set()

    async def __call__(self, scope, receive, send):
        """Be one WebSocket."""
        _websocket_only(scope)
        await receive()
        await send({"type": "websocket.accept"})
        self._members.add(send)
        try:
            await send({"type": "websocket.send", "bytes": b"joined"})
            while (message := await receive())["type"] == "websocket.receive":
                await self._tell_others(send, {"type": "websocket.send", "bytes": message["bytes"]})
        finally:
            self._members.discard(send)

    async def _tell_others(self, sender, message):
        for send in tuple(self._members):
            if send is not sender:
                await send(message)


ws_broadcast = Broadcast()


async def _answer(send, content_type, body):
    length = (b"content-length", b"%d" % len(body))
    await send({"type": "http.response.start", "status": 200, "headers": [content_type, length]})
    await send({"type": "http.response.body", "body": body})


async def _body(receive):
    pieces = []
    while True:
        message = await receive()
        pieces.append(message.get("body", b""))
        if not message.get("more_body"):
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _http_only(scope):
    if scope["type"] != "http":
        raise NotImplementedError(scope["type"])


def _websocket_only(scope):
    if scope["type"] != "websocket":
        raise NotImplementedError(scope["type"])

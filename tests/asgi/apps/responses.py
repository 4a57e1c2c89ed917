"""An application with one response per path, right ones and wrong ones."""

import asyncio

from exchange import answer
from routing import routed

PIECES = [b"one ", b"two ", b"three"]
WHOLE = b"".join(PIECES)


async def start(send, *headers, status=200):
    """The start of a response."""
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def in_pieces(send, pieces=PIECES):
    """The pieces, and an empty one at the end."""
    for piece in pieces:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body"})


async def at_once(send, body=WHOLE):
    """The whole body."""
    await send({"type": "http.response.body", "body": body})


async def after(scope, receive, send, _):
    """The last request on a connection."""
    await answer(send, b"/after")


async def generator(scope, receive, send, _):
    """Three pieces without a Content-Length."""
    await start(send, (b"content-type", b"text/plain"))
    await in_pieces(send)


async def generator_ending_full(scope, receive, send, _):
    """Three pieces without a Content-Length, the last of which says that it is."""
    await start(send)
    for piece in PIECES[:2]:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await at_once(send, PIECES[2])


async def whole(scope, receive, send, _):
    """All in one message, without a Content-Length."""
    await start(send)
    await at_once(send)


async def status(scope, receive, send, code):
    """That status, with body bytes and a Content-Length for them."""
    await start(send, (b"content-length", b"13"), status=int(code))
    await in_pieces(send)


async def unsized(scope, receive, send, code):
    """That status, with body bytes and no Content-Length."""
    await start(send, status=int(code))
    await in_pieces(send)


async def length(scope, receive, send, announced):
    """Thirteen bytes under another Content-Length."""
    await start(send, (b"content-length", announced.encode()))
    await at_once(send)


async def length_in_pieces(scope, receive, send, announced):
    """As length, in three messages and an empty one."""
    await start(send, (b"content-length", announced.encode()))
    await in_pieces(send)


async def length_written(scope, receive, send, announced):
    """As length, a byte a message."""
    await start(send, (b"content-length", announced.encode()))
    await in_pieces(send, [bytes([byte]) for byte in WHOLE])


async def field(scope, receive, send, line):
    """One field more, given as name:value."""
    name, _, value = line.encode("latin-1").partition(b":")
    await start(send, (b"content-length", b"13"), (name, value))
    await at_once(send)


async def both_framings(scope, receive, send, _):
    """Content-Length and Transfer-Encoding."""
    await start(send, (b"content-length", b"13"), (b"transfer-encoding", b"chunked"))
    await at_once(send)


async def coded(scope, receive, send, _):
    """Transfer-Encoding of the application's own, with pieces that are not coded."""
    await start(send, (b"transfer-encoding", b"chunked"))
    await in_pieces(send)


async def closing(scope, receive, send, _):
    """The application asks to close."""
    await start(send, (b"content-length", b"13"), (b"connection", b"close"))
    await at_once(send)


async def own_fields(scope, receive, send, _):
    """Date and Server of the application."""
    await start(send, (b"date", b"Sun, 06 Nov 1994 08:49:37 GMT"), (b"server", b"mine"))
    await at_once(send)


async def fail_before(scope, receive, send, _):
    """Raises before the start."""
    raise RuntimeError("failed before the head, secret-detail")


async def fail_unsent(scope, receive, send, _):
    """Raises after the start, before the first piece."""
    await start(send, (b"content-length", b"13"))
    raise RuntimeError("failed before the first piece, secret-detail")


async def fail_after(scope, receive, send, announced):
    """Raises after the first piece."""
    await start(send, *([(b"content-length", announced.encode())] if announced else []))
    await send({"type": "http.response.body", "body": PIECES[0], "more_body": True})
    raise RuntimeError("failed after the first piece, secret-detail")


async def silent(scope, receive, send, _):
    """Returns without a word."""


async def only_start(scope, receive, send, _):
    """Returns after the start."""
    await start(send, (b"content-length", b"13"))


async def unfinished(scope, receive, send, announced):
    """Returns after the first piece, which said that there are more."""
    await start(send, *([(b"content-length", announced.encode())] if announced else []))
    await send({"type": "http.response.body", "body": PIECES[0], "more_body": True})


async def unfinished_whole(scope, receive, send, _):
    """Returns after all that was announced, but the last message said that there is more."""
    await start(send, (b"content-length", b"13"))
    await send({"type": "http.response.body", "body": WHOLE, "more_body": True})


async def exits(scope, receive, send, name):
    """Raises what is no Exception."""
    raise {"SystemExit": SystemExit(3), "KeyboardInterrupt": KeyboardInterrupt(), "GeneratorExit": GeneratorExit()}[
        name
    ]


async def exits_later(scope, receive, send, name):
    """As exits, when it has waited."""
    await asyncio.sleep(0.01)
    await exits(scope, receive, send, name)


async def cancelled(scope, receive, send, _):
    """Ends as if it were cancelled."""
    raise asyncio.CancelledError


app = routed(
    *[after, generator, generator_ending_full, whole, status, unsized, length, length_in_pieces, length_written, field],
    *[both_framings, coded, closing, own_fields, fail_before, fail_unsent, fail_after, silent, only_start, unfinished],
    *[unfinished_whole, exits, exits_later, cancelled],
)

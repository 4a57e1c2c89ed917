"""Responses that use extensions of ASGI."""

import os
import tempfile

from exchange import answer, answer_json, whole_body
from routing import routed

CONTENT = b"".join(b"%07d\n" % number for number in range(125_000))
folder = tempfile.mkdtemp(prefix="pronghorn-")
path = os.path.join(folder, "million")
with open(path, "wb") as created:
    created.write(CONTENT)


async def start(send, *headers, **more):
    """The start of a response."""
    await send({"type": "http.response.start", "status": 200, "headers": headers, **more})


async def offered(scope, receive, send, _):
    """The names of the extensions."""
    await answer_json(send, sorted(scope.get("extensions") or {}))


async def pathsend(scope, receive, send, length):
    """The file by its path, with or without a length of the application's own."""
    await start(send, *([(b"content-length", length.encode())] if length else []))
    await send({"type": "http.response.pathsend", "path": path})


async def pathsend_wrong(scope, receive, send, which):
    """A path that is no file; then another answer."""
    wrong = {
        "missing": path + "-missing",
        "folder": folder,
        "relative": "million",
        "bytes": path.encode(),
        "nul": path + "\0",
    }[which]
    await start(send)
    try:
        await send({"type": "http.response.pathsend", "path": wrong})
    except Exception as error:
        print(f"{which} raised {type(error).__name__}: {error}")
        raise


async def pathsend_unlinked(scope, receive, send, _):
    """A file whose name is gone when it has been sent."""
    name = os.path.join(folder, "unlinked")
    with open(name, "wb") as file:
        file.write(CONTENT)
    await start(send)
    await send({"type": "http.response.pathsend", "path": name})
    os.unlink(name)


async def pathsend_truncated(scope, receive, send, _):
    """A file that gets shorter while it is sent."""
    name = os.path.join(folder, "truncated")
    with open(name, "wb") as file:
        file.truncate(50_000_000)
    await start(send)
    print("sending")
    await send({"type": "http.response.pathsend", "path": name})


async def truncate(scope, receive, send, _):
    """Makes that file short."""
    os.truncate(os.path.join(folder, "truncated"), 10)
    await answer(send, b"")


async def zerocopy(scope, receive, send, _):
    """Parts of an open file, and bytes between them."""
    await start(send)
    with open(path, "rb") as file:
        file.seek(80)
        await send({"type": "http.response.zerocopysend", "file": file, "count": 16, "more_body": True})
        await send({"type": "http.response.body", "body": b"between\n", "more_body": True})
        await send(
            {"type": "http.response.zerocopysend", "file": file, "offset": 800_000, "count": 100_000, "more_body": True}
        )
        await send({"type": "http.response.zerocopysend", "file": file, "offset": 999_992})


async def zerocopy_closed(scope, receive, send, _):
    """A whole file that the application closes as soon as it has been sent."""
    await start(send, (b"content-length", b"%d" % len(CONTENT)))
    with open(path, "rb") as file:
        await send({"type": "http.response.zerocopysend", "file": file})


async def zerocopy_number(scope, receive, send, _):
    """What is no file."""
    await start(send)
    try:
        await send({"type": "http.response.zerocopysend", "file": "million"})
    except Exception as error:
        print(f"zerocopy raised {type(error).__name__}: {error}")
        raise


async def hints(scope, receive, send, count):
    """Hints, and then the response."""
    for _ in range(int(count or 1)):
        await send({"type": "http.response.early_hint", "links": [b"</a.css>; rel=preload", b"</b.js>; rel=preload"]})
    await answer(send, await whole_body(receive) or b"hinted")


async def hints_late(scope, receive, send, _):
    """A hint behind the start."""
    await start(send)
    try:
        await send({"type": "http.response.early_hint", "links": [b"</a.css>; rel=preload"]})
    except Exception as error:
        print(f"late hint raised {error}")
    await send({"type": "http.response.body", "body": b"body"})


async def hints_injected(scope, receive, send, _):
    """A hint with a line end in it."""
    try:
        await send({"type": "http.response.early_hint", "links": [b"</a>\r\nx-b: c"]})
    except Exception as error:
        print(f"injected hint raised {error}")
    await answer(send, b"body")


async def trailers(scope, receive, send, kind):
    """A body and two fields behind it."""
    length = [(b"content-length", b"4")] if kind == "length" else []
    await start(send, *length, (b"trailer", b"x-sum, x-more"), trailers=True)
    await send({"type": "http.response.body", "body": b"body"})
    await send({"type": "http.response.trailers", "headers": [(b"x-sum", b"1")], "more_trailers": True})
    await send({"type": "http.response.trailers", "headers": [(b"X-More", b"2")]})


async def trailers_missing(scope, receive, send, _):
    """Trailers announced that never come."""
    await start(send, trailers=True)
    await send({"type": "http.response.body", "body": b"body"})


async def trailers_unannounced(scope, receive, send, _):
    """Trailers that nobody announced."""
    await start(send)
    await send({"type": "http.response.body", "body": b"body"})
    try:
        await send({"type": "http.response.trailers", "headers": [(b"x-sum", b"1")]})
    except Exception as error:
        print(f"unannounced raised {error}")


async def debug(scope, receive, send, _):
    """Tells the server of a template, as frameworks do for their test clients."""
    try:
        await send({"type": "http.response.debug", "info": {"template": "a.html"}})
        print("debug was taken")
    except Exception as error:
        print(f"debug raised {error}")
    await answer(send, b"body")


app = routed(
    *[
        offered,
        pathsend,
        pathsend_wrong,
        pathsend_unlinked,
        pathsend_truncated,
        truncate,
        zerocopy,
        zerocopy_closed,
        zerocopy_number,
    ],
    *[hints, hints_late, hints_injected, trailers, trailers_missing, trailers_unannounced, debug],
)

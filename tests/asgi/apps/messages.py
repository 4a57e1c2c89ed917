"""Messages that ASGI does not allow, and unusual ones that it does."""

import http

from exchange import answer, answer_json
from routing import routed

START = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]}
BODY = {"type": "http.response.body", "body": b"body"}


def start(**entries):
    """A start with those entries in it; None takes one out."""
    merged = {"type": "http.response.start", "status": 200, **entries}
    return {key: value for key, value in merged.items() if value is not ...}


def field(name, value=b"v"):
    """A start with one field."""
    return start(headers=[(name, value)])


def body(value):
    """A body message of that."""
    return {"type": "http.response.body", "body": value}


# In place of the start.
BAD_STARTS = {
    "status_99": start(status=99), "status_1000": start(status=1000), "status_0": start(status=0), "status_negative": start(status=-200),
    "status_text": start(status="200"), "status_true": start(status=True), "status_none": start(status=None),
    "status_float": start(status=200.0), "status_missing": start(status=...), "status_huge": start(status=2**70),
    "status_interim": start(status=100), "status_switching": start(status=101),
    "headers_text": start(headers="x-a: b"), "headers_number": start(headers=7), "header_of_one": start(headers=[(b"x-a",)]),
    "header_of_three": start(headers=[(b"x-a", b"b", b"c")]), "header_number": start(headers=[7]), "header_none": start(headers=[None]),
    "name_text": field("x-a"), "value_text": field(b"x-a", "b"), "name_none": field(None), "value_number": field(b"x-a", 7),
    "name_empty": field(b""), "name_space": field(b"x a"), "name_colon": field(b"x:a"), "name_cr": field(b"x\ra"),
    "name_lf": field(b"x\na: b"), "name_nul": field(b"x\0a"), "name_high": field(b"x\xe9"),
    "value_cr": field(b"x-a", b"a\rb"), "value_lf": field(b"x-a", b"a\nb"), "value_crlf": field(b"x-a", b"a\r\nx-b: c"),
    "value_nul": field(b"x-a", b"a\0b"), "value_split": field(b"x-a", b"a\r\n\r\nhello"),
    "type_unknown": {"type": "http.response.begin"}, "type_missing": {"status": 200}, "type_none": {"type": None}, "type_bytes": {"type": b"http.response.start"},
    "type_websocket": {"type": "websocket.accept"}, "type_lifespan": {"type": "lifespan.startup.complete"},
    "type_of_receive": {"type": "http.request"}, "message_none": None, "message_list": [("type", "http.response.start")], "message_text": "http.response.start",
    "body_first": BODY,
    "length_text": start(headers=[(b"content-length", b"four")]), "length_negative": start(headers=[(b"content-length", b"-4")]),
    "length_differs": start(headers=[(b"content-length", b"4"), (b"content-length", b"5")]),
}  # fmt: skip
# After a good start, in place of the body.
BAD_BODIES = {
    "body_text": body("body"), "body_none": body(None), "body_number": body(4), "body_list": body([b"body"]),
    "start_twice": START, "start_twice_other": start(status=404), "unknown_in_body": {"type": "http.response.end"}, "none_in_body": None,
    "pathsend_number": {"type": "http.response.pathsend", "path": 7},
}  # fmt: skip
# After the response.
BAD_ENDS = {"body_after_end": BODY, "empty_after_end": {"type": "http.response.body"}, "start_after_end": START}


async def error_of(send, message):
    """What sending it raises, as text; "" for nothing."""
    try:
        await send(message)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


async def caught(scope, receive, send, name):
    """Sends the wrong start, and then a right response that tells the error."""
    await answer_json(send, await error_of(send, BAD_STARTS[name]))


async def uncaught(scope, receive, send, name):
    """Sends what is wrong and nothing else."""
    if name in BAD_BODIES:
        await send(START)
    await send(BAD_STARTS.get(name) or BAD_BODIES[name])


async def caught_in_body(scope, receive, send, name):
    """Sends a start, what is wrong, and the body; the log has the error."""
    await send(START)
    print(f"{name}: <{await error_of(send, BAD_BODIES[name])}>")
    await send(BODY)


async def caught_after_end(scope, receive, send, name):
    """Sends a whole response and then what is wrong; the log has the error."""
    await answer(send, b"whole")
    print(f"{name}: <{await error_of(send, BAD_ENDS[name])}>")


async def uncaught_after_end(scope, receive, send, name):
    """Sends a whole response and then what is wrong."""
    await answer(send, b"whole")
    await send(BAD_ENDS[name])


def headers_of(kind):
    """Two fields, in every container that gives pairs."""
    pairs = [(b"content-length", b"4"), (b"x-a", b"b")]
    kinds = {
        "tuples": pairs, "lists": [list(pair) for pair in pairs], "tuple": tuple(pairs), "tuple_of_lists": tuple(list(pair) for pair in pairs),
        "generator": (pair for pair in pairs), "iterator": iter(pairs), "items": dict(pairs).items(),
        "mixed": [pairs[0], list(pairs[1])], "upper_case": [(b"Content-Length", b"4"), (b"X-A", b"b")],
        "padded": [(b"content-length", b"4"), (b"x-a", b" b\t")],
    }  # fmt: skip
    return kinds[kind]


async def headers(scope, receive, send, kind):
    """Answers with two fields."""
    await send(start(headers=headers_of(kind)))
    await send(BODY)


async def plain(scope, receive, send, _):
    """A start without headers, a body message that says nothing else."""
    await send({"type": "http.response.start", "status": 200})
    await send(BODY)


async def empty(scope, receive, send, _):
    """No body in the body message."""
    await send({"type": "http.response.start", "status": 200})
    await send({"type": "http.response.body"})


async def status(scope, receive, send, code):
    """That status."""
    await send(start(status=int(code)))
    await send(BODY)


async def enumerated(scope, receive, send, name):
    """A status of the standard library."""
    await send(start(status=http.HTTPStatus[name]))
    await send(BODY)


async def repeated(scope, receive, send, _):
    """The same field several times, and bytes above ASCII."""
    await send(
        start(
            headers=[
                (b"set-cookie", b"a=1"),
                (b"x-a", b"\xe9"),
                (b"set-cookie", b"b=2"),
                (b"x-a", b"\xc3\xa9"),
                (b"x-b", b""),
            ]
        )
    )
    await send(BODY)


async def buffers(scope, receive, send, kind):
    """A body that is no bytes object but has bytes, changed when it has been sent."""
    data = bytearray(b"body" * 20000)
    await send({"type": "http.response.start", "status": 200})
    try:
        await send(
            {"type": "http.response.body", "body": data if kind == "bytearray" else memoryview(data), "more_body": True}
        )
    except TypeError as error:
        print(f"refused: {error}")
        raise
    data[:] = b"x" * len(data)
    await send({"type": "http.response.body", "body": b""})


async def reused(scope, receive, send, _):
    """One dictionary for all messages, changed between them."""
    message = {"type": "http.response.start", "status": 200, "headers": [[b"content-length", b"6"], [b"x-a", b"b"]]}
    await send(message)
    message["headers"][1][1] = b"changed"
    message.clear()
    message.update(type="http.response.body", body=b"one", more_body=True)
    await send(message)
    message["body"] = b"two"
    await send(message)
    message.update(body=b"", more_body=False)
    await send(message)


app = routed(
    *[
        caught,
        uncaught,
        caught_in_body,
        caught_after_end,
        uncaught_after_end,
        headers,
        plain,
        empty,
        status,
        enumerated,
        repeated,
    ],
    *[buffers, reused],
)

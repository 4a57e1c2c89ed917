"""What applications do with a WebSocket again and again."""


async def accepted(receive, send):
    """Waits for the client and accepts it."""
    assert await receive() == {"type": "websocket.connect"}
    await send({"type": "websocket.accept"})


async def echoes(receive, send):
    """Sends each message back until the client goes."""
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message.get("text"), "bytes": message.get("bytes")})


async def raised(function, *arguments):
    """The kinds of exception that what `function` raises is, nearest first, and its text; None when it raises nothing."""
    try:
        await function(*arguments)
    except Exception as error:
        return [[kind.__name__ for kind in type(error).__mro__], str(error)]
    return None

"""python-socketio: events, acknowledgements, rooms, and the end of a session."""

from __future__ import annotations

import socketio

# The poll of a client that has said goodbye ends after the two times together.
server = socketio.AsyncServer(async_mode="asgi", ping_interval=0.3, ping_timeout=3)
app = socketio.ASGIApp(server)
ended: list[str] = []


@server.event
async def connect(sid, environ, auth):
    if auth == "nobody":
        raise socketio.exceptions.ConnectionRefusedError("not you")
    await server.save_session(sid, {"path": environ["PATH_INFO"]})


@server.event
async def disconnect(sid, reason):
    ended.append(sid)


@server.event
async def echo(sid, data):
    await server.emit("echoed", data, to=sid)


@server.event
async def add(sid, one, two):
    """What is returned goes back as the acknowledgement."""
    return one + two


@server.event
async def join(sid, room):
    await server.enter_room(sid, room)


@server.event
async def say(sid, room, text):
    await server.emit("said", text, room=room)


@server.event
async def has_ended(sid, other):
    return other in ended

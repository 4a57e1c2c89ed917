"""A chat over WebSockets, in plain ASGI: rooms, their latest messages, and members who may be slow."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import uuid
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

PAGE = Path(__file__).with_name("page.html").read_bytes()
REMEMBERED = 50  # messages of a room that a newcomer gets to see
UNSENT = 100  # messages that may wait for a member before it counts as too slow
LONGEST_NAME = 30
LONGEST_TEXT = 1000

# What the page is told when its connection is closed: codes from 4000 on are the application's own (RFC 6455, 7.4.2).
REFUSED = 4000
TOO_SLOW = 4001


class Member:
    """One connection in a room. What is said to it waits in a queue with an end, so that nobody waits for a slow reader."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.too_slow = asyncio.Event()
        self._queue: asyncio.Queue[str] = asyncio.Queue(UNSENT)

    def tell(self, event: str) -> None:
        """Gives the member an event to send; one who has not taken the latest hundred is given up."""
        try:
            self._queue.put_nowait(event)
        except asyncio.QueueFull:
            self.too_slow.set()

    async def write(self, send: Send) -> None:
        """Sends what the member is told, as fast as it reads, until it is gone."""
        with contextlib.suppress(OSError):
            while True:
                await send({"type": "websocket.send", "text": await self._queue.get()})


class Room:
    """Who is there, and what was said last."""

    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self._history: deque[str] = deque(maxlen=REMEMBERED)

    def join(self, member: Member) -> None:
        """Tells the newcomer what was said, and everybody who is there now."""
        self.members[member.name] = member
        for event in self._history:
            member.tell(event)
        self._tell_all("joined", member, members=sorted(self.members))

    def leave(self, member: Member) -> None:
        """Tells the others who is left."""
        del self.members[member.name]
        self._tell_all("left", member, members=sorted(self.members))

    def say(self, member: Member, text: str) -> None:
        """Tells everybody, the one who said it too, and remembers it."""
        self._history.append(self._tell_all("said", member, text=text))

    def _tell_all(self, kind: str, member: Member, **more: Any) -> str:
        event = json.dumps({"kind": kind, "id": uuid.uuid4().hex, "name": member.name, "time": time.time(), **more})
        for other in self.members.values():
            other.tell(event)
        return event


rooms: dict[str, Room] = {}


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """The application: the page at `/`, a room at `/rooms/NAME?name=YOURS`."""
    if scope["type"] == "http":
        await serve_page(scope, send)
    elif scope["type"] == "websocket":
        await serve_room(scope, receive, send)
    else:
        raise NotImplementedError(f"there is nothing to do for {scope['type']}")


async def serve_page(scope: Scope, send: Send) -> None:
    """The page, or 404."""
    found = scope["path"] == "/"
    content_type = b"text/html; charset=utf-8" if found else b"text/plain"
    headers = [(b"content-type", content_type), (b"x-content-type-options", b"nosniff")]
    await send({"type": "http.response.start", "status": 200 if found else 404, "headers": headers})
    await send({"type": "http.response.body", "body": PAGE if found else b"There is no such page.\n"})


async def serve_room(scope: Scope, receive: Receive, send: Send) -> None:
    """One connection, from its handshake to its end."""
    await receive()  # websocket.connect
    await send({"type": "websocket.accept"})
    room_name = scope["path"].removeprefix("/rooms/").strip()
    name = parse_qs(scope["query_string"].decode("latin-1")).get("name", [""])[0].strip()
    if refusal := refuse(room_name, name):
        # A page cannot read the answer to a handshake that fails, but it can read why a connection was closed.
        await send({"type": "websocket.close", "code": REFUSED, "reason": refusal})
        return
    room, member = rooms.setdefault(room_name, Room()), Member(name)
    room.join(member)
    try:
        await talk(room, member, receive, send)
    finally:
        room.leave(member)
        if not room.members:
            rooms.pop(room_name)
    if member.too_slow.is_set():
        with contextlib.suppress(OSError):
            await send({"type": "websocket.close", "code": TOO_SLOW, "reason": "You read too slowly."})


def refuse(room_name: str, name: str) -> str | None:
    """Why somebody cannot join, or None."""
    if not 0 < len(room_name) <= LONGEST_NAME or "/" in room_name:
        return f"A room has a name of 1 to {LONGEST_NAME} characters without a slash."
    if not 0 < len(name) <= LONGEST_NAME:
        return f"Your name has 1 to {LONGEST_NAME} characters."
    if room_name in rooms and name in rooms[room_name].members:
        return "Somebody in this room has this name already."
    return None


async def talk(room: Room, member: Member, receive: Receive, send: Send) -> None:
    """Reads and writes at the same time, until the member is gone or too slow."""
    tasks = [
        asyncio.create_task(listen(room, member, receive)),
        asyncio.create_task(member.write(send)),
        asyncio.create_task(member.too_slow.wait()),
    ]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()  # raises what the task raised
    finally:
        for task in tasks:
            task.cancel()


async def listen(room: Room, member: Member, receive: Receive) -> None:
    """Passes on what the member says until it is gone."""
    while (message := await receive())["type"] == "websocket.receive":
        text = (message.get("text") or "").strip()
        if text:
            room.say(member, text[:LONGEST_TEXT])

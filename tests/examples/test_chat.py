"""The chat, by the WebSockets of the `websockets` library."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from harness.server import Server

CHAT = Path(__file__).parents[2] / "examples" / "chat"
SECONDS = 10


@pytest.fixture(scope="module", params=["asyncio", "uvloop"])
def server(serve_module, request):
    """A chat that the tests share: each has a room of its own."""
    return serve_module("chat:app", "--loop", request.param, app_dir=CHAT)


@pytest.fixture
def join(server, request) -> Iterator[Callable[..., Visitor]]:
    """A function that lets somebody join the test's room, or another one."""
    with contextlib.ExitStack() as visits:

        def join(name: str, room: str = request.node.originalname[:30], **options: Any) -> Visitor:
            return Visitor(visits.enter_context(connect(address(server, room, name), **options)))

        yield join


class Visitor:
    """Somebody in a room."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    def say(self, text: str) -> None:
        self.connection.send(text)

    def hears(self) -> tuple[str, ...]:
        """The next event: who, what, and what more."""
        event = json.loads(self.connection.recv(SECONDS))
        what = (event["text"],) if event["kind"] == "said" else tuple(event["members"])
        return (event["name"], event["kind"], *what)

    def is_told_to_go(self) -> tuple[int, str]:
        """The code and reason the connection is closed with; events before it are passed over."""
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                self.connection.recv(SECONDS)
        assert closed.value.rcvd is not None
        return closed.value.rcvd.code, closed.value.rcvd.reason


def address(server: Server, room: str, name: str) -> str:
    return f"ws://{server.host}:{server.port}/rooms/{quote(room)}?name={quote(name)}"


def test_the_page_is_served(server):
    page = httpx.get(server.url)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.content == (CHAT / "page.html").read_bytes()
    assert httpx.get(f"{server.url}/nothing").status_code == 404


def test_everybody_hears_what_is_said(join):
    ann = join("Ann")
    assert ann.hears() == ("Ann", "joined", "Ann")
    zoe = join("Zoë & co")
    assert ann.hears() == zoe.hears() == ("Zoë & co", "joined", "Ann", "Zoë & co")
    zoe.say("Grüße, 世界 <b>")
    assert ann.hears() == zoe.hears() == ("Zoë & co", "said", "Grüße, 世界 <b>")
    zoe.connection.close()
    assert ann.hears() == ("Zoë & co", "left", "Ann")


def test_rooms_hear_nothing_of_each_other(join):
    ann, bob = join("Ann", "here"), join("Bob", "there")
    ann.say("only here")
    assert [ann.hears(), ann.hears()] == [("Ann", "joined", "Ann"), ("Ann", "said", "only here")]
    bob.say("only there")
    assert [bob.hears(), bob.hears()] == [("Bob", "joined", "Bob"), ("Bob", "said", "only there")]


def test_a_newcomer_gets_the_latest_messages(join):
    ann = join("Ann")
    for number in range(60):
        ann.say(f"number {number}")
    assert [ann.hears() for _ in range(61)][-1] == ("Ann", "said", "number 59")
    bob = join("Bob")
    assert [bob.hears() for _ in range(50)] == [("Ann", "said", f"number {number}") for number in range(10, 60)]
    assert bob.hears() == ("Bob", "joined", "Ann", "Bob")


def test_messages_stay_in_their_order_without_compression_too(join):
    ann, bob = join("Ann", compression=None), join("Bob")
    assert [ann.hears()[0], ann.hears()[0], bob.hears()[0]] == ["Ann", "Bob", "Bob"]
    for number in range(50):
        ann.say(f"{number} " + "x" * 500)
    said = [("Ann", "said", f"{number} " + "x" * 500) for number in range(50)]
    assert [ann.hears() for _ in said] == [bob.hears() for _ in said] == said


@pytest.mark.parametrize(
    ("name", "room", "reason"),
    [("", "refused", "Your name"), ("n" * 31, "refused", "Your name"), ("Ann", "a/b", "A room"), ("Ann", "", "A room")],
)
def test_names_that_are_none_are_refused(join, name, room, reason):
    code, said = join(name, room).is_told_to_go()
    assert code == 4000
    assert said.startswith(reason)


def test_a_name_that_is_taken_is_refused_until_it_is_free(join):
    ann, bob = join("Ann"), join("Bob")
    assert bob.hears() == ("Bob", "joined", "Ann", "Bob")
    assert join("Ann").is_told_to_go() == (4000, "Somebody in this room has this name already.")
    ann.connection.close()
    assert bob.hears() == ("Ann", "left", "Bob")
    assert join("Ann").hears() == ("Ann", "joined", "Ann", "Bob")


def test_what_is_no_text_is_passed_over_and_a_long_text_is_cut(join):
    ann = join("Ann")
    assert ann.hears() == ("Ann", "joined", "Ann")
    ann.connection.send(b"bytes")
    ann.say("  ")
    ann.say("x" * 2000)
    assert ann.hears() == ("Ann", "said", "x" * 1000)


def test_a_fragmented_message_is_one_message(join):
    ann = join("Ann")
    assert ann.hears() == ("Ann", "joined", "Ann")
    ann.connection.send(["in ", "three ", "pieces"])
    assert ann.hears() == ("Ann", "said", "in three pieces")


def test_a_ping_is_answered(join):
    assert join("Ann").connection.ping().wait(SECONDS)


def test_a_member_who_does_not_read_holds_up_nobody_and_is_disconnected(join):
    # Its library reads one message ahead, and the kernel's buffers hold some megabytes: the rest waits in its queue. Each letter is
    # six bytes on the wire, as JSON has it.
    slow = join("Slow", max_queue=1, compression=None)
    ann = join("Ann")
    heard = [ann.hears()]
    while heard[-1] != ("Slow", "left", "Ann"):
        ann.say("世" * 1000)
        heard.append(ann.hears())
        assert len(heard) < 10_000, "the slow one is never given up"
    assert slow.is_told_to_go() == (4001, "You read too slowly.")

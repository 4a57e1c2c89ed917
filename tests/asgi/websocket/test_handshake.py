"""How a request becomes a WebSocket, and which do not (RFC 6455 section 4.2)."""

import base64
import time

import pytest

from harness.delivery import DELIVERIES
from harness.request import get, head
from harness.websocket import ACCEPT, CLOSE, KEY, TEXT, Frame, WebSocket, close, frame, handshake, opened

OPENING = "ws_opening:app"


@pytest.fixture
def server(share_asgi, loop):
    return share_asgi(OPENING, "--loop", loop)


@pytest.mark.parametrize("delivery", DELIVERIES.values(), ids=list(DELIVERIES))
def test_a_handshake_is_answered_with_101_however_it_arrives(server, delivery):
    with server.raw() as client:
        assert client.send_pieces(delivery(handshake(target=b"/echo")))
        response = client.read_response()
        assert (response.status, response.get("upgrade"), response.get("connection")) == (101, "websocket", "Upgrade")
        assert response.get("sec-websocket-accept") == ACCEPT
        assert response.get("sec-websocket-protocol") is None
        assert response.get("content-length") is None and response.get("transfer-encoding") is None
        assert response.get("date") is not None
        WebSocket(client, response).shut()


@pytest.mark.parametrize(
    "instead",
    [
        {"upgrade": b"uPgRaDe: WebSocket"},
        {"connection": b"Connection: keep-alive, UPGRADE"},
        {"key": b"sec-websocket-key:\t" + KEY + b" "},
        {"upgrade": b"Upgrade: h2c, websocket"},
    ],
    ids=str,
)
def test_names_have_any_case_and_lists_more_members(server, instead):
    with server.raw() as client:
        response = client.ask(handshake(target=b"/echo", **instead))
        assert response.status == 101
        WebSocket(client, response).shut()


@pytest.mark.parametrize("version", [b"12", b"14", b"8", b"013", b"13, 8", b"", None])
def test_another_version_is_refused_with_426_and_told_the_right_one(server, version):
    line = None if version is None else b"Sec-WebSocket-Version: " + version
    with server.raw() as client:
        response = client.ask(handshake(target=b"/echo", version=line))
        assert (response.status, response.get("sec-websocket-version")) == (426, "13")
        assert response.get("upgrade") == "websocket"
        # RFC 9110 section 7.8.
        options = [option.strip().lower() for option in (response.get("connection") or "").split(",")]
        assert "upgrade" in options and "close" in options


@pytest.mark.parametrize(
    "instead",
    [
        {"key": None},
        {"key": b"Sec-WebSocket-Key: "},
        {"key": b"Sec-WebSocket-Key: not base64 at all!!!!!"},
        {"key": b"Sec-WebSocket-Key: " + base64.b64encode(bytes(15))},
        {"key": b"Sec-WebSocket-Key: " + base64.b64encode(bytes(17))},
        {"key": b"Sec-WebSocket-Key: " + KEY.rstrip(b"=")},
        {"key": b"Sec-WebSocket-Key: " + KEY + b"\r\nSec-WebSocket-Key: " + KEY},
        {"key": b"Sec-WebSocket-Key: " + KEY[:-4] + b"_w=="},
    ],
    ids=str,
)
def test_a_wrong_handshake_is_400(server, instead):
    with server.raw() as client:
        assert client.ask(handshake(target=b"/echo", **instead)).status == 400


@pytest.mark.parametrize(
    "instead",
    [
        {"upgrade": None},
        {"connection": None},
        {"connection": b"Connection: foo"},
        {"line": b"POST / HTTP/1.1"},
        {"line": b"GET / HTTP/1.0"},
    ],
    ids=str,
)
def test_a_request_that_asks_for_no_upgrade_is_an_ordinary_one(share_asgi, instead):
    server = share_asgi("ws_kind:app")
    with server.raw() as client:
        assert client.ask(handshake(**instead)).body == b"http"


def test_a_handshake_may_follow_a_request_on_its_connection(share_asgi):
    server = share_asgi("ws_kind:app")
    with server.raw() as client:
        assert client.ask(get()).body == b"http"
        socket = WebSocket(client, client.ask(handshake()))
        assert socket.read_message() == "websocket"
        socket.shut()


def test_a_frame_in_the_packet_of_the_handshake_is_delivered_after_accept(server):
    with opened(server, "/late/0.2", then=frame(TEXT, b"early")) as socket:
        assert socket.read_message() == "early"
        socket.shut()


def test_many_frames_behind_the_handshake_are_all_delivered(server):
    frames = b"".join(frame(TEXT, b"%d" % number) for number in range(500))
    with opened(server, "/late/0.2", then=frames) as socket:
        assert [socket.read_message() for _ in range(500)] == [str(number) for number in range(500)]
        socket.shut()


def test_part_of_a_frame_behind_the_handshake_is_completed_later(server):
    whole = frame(TEXT, b"in two parts")
    with opened(server, "/echo", then=whole[:7]) as socket:
        socket.send(whole[7:])
        assert socket.read_message() == "in two parts"
        socket.shut()


@pytest.mark.parametrize("path", ["/echo", "/late/0.2"])
def test_a_byte_too_many_fails_that_connection_alone(server, path):
    with opened(server, "/echo") as other:
        with opened(server, path, then=b"x") as socket:
            assert socket.is_failed_with(1002)
        other.send(frame(TEXT, b"still here"))
        assert other.read_message() == "still here"
        other.shut()


def test_a_close_frame_behind_the_handshake_ends_it_after_accept(server):
    with opened(server, "/late/0.2", then=close(1000)) as socket:
        assert socket.read() == Frame(CLOSE, b"\x03\xe8")
        assert socket.client.is_closed()


def test_a_client_that_waits_for_accept_longer_than_the_head_deadline_is_not_cut(serve_asgi):
    server = serve_asgi(OPENING, "--head-timeout", "300ms", "--keep-alive", "300ms", "--body-timeout", "300ms")
    with opened(server, "/late/0.8") as socket:
        time.sleep(0.5)
        socket.send(frame(TEXT, b"later still"))
        assert socket.read_message() == "later still"
        socket.shut()


def test_a_handshake_with_a_body_is_refused(server):
    with server.raw() as client:
        assert client.ask(handshake(b"Content-Length: 5", target=b"/echo") + b"hello").status == 400


def test_wsgi_applications_get_the_request_as_it_is(share):
    server = share("hello:app")
    with server.raw() as client:
        assert client.ask(handshake()).status == 200
        assert client.ask(head(b"GET / HTTP/1.1", b"Host: test")).status == 200

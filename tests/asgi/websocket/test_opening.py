"""What an application may answer to a handshake, and what it is told of the client."""

import json
from urllib.parse import quote

import pytest

from harness.websocket import TEXT, WebSocket, close, frame, handshake, opened

OPENING = "ws_opening:app"


@pytest.fixture
def server(share_asgi, loop):
    return share_asgi(OPENING, "--loop", loop)


def asking(view, literal):
    """The path of a view that reads a Python literal from its query."""
    return f"/{view}?{quote(repr(literal))}"


def refused(server, path):
    """The response to a handshake that is not accepted."""
    with server.raw() as client:
        return client.ask(handshake(target=path.encode()))


def test_the_scope_says_who_asks_for_what(server):
    fields = [b"Sec-WebSocket-Protocol: chat, superchat", b"X-Name: one", b"X-Name: two", b"Sec-WebSocket-Protocol: v2"]
    with opened(server, "/scoped/caf%C3%A9?a=1%20&b", *fields) as socket:
        scope = json.loads(socket.read_message())
        host, port = socket.client.socket.getsockname()
    assert scope["type"] == "websocket"
    assert (scope["asgi"]["version"], scope["asgi"]["spec_version"]) == ("3.0", "2.5")
    assert (scope["http_version"], scope["scheme"]) == ("1.1", "ws")
    assert (scope["path"], scope["raw_path"]) == ("/scoped/café", "/scoped/caf%C3%A9")
    assert (scope["query_string"], scope["root_path"]) == ("a=1%20&b", "")
    assert scope["subprotocols"] == ["chat", "superchat", "v2"]
    assert scope["headers"][0] == ["host", "test"]
    assert [value for name, value in scope["headers"] if name == "x-name"] == ["one", "two"]
    assert (scope["client"], scope["server"]) == ([host, port], [server.host, server.port])
    assert "websocket.http.response" in scope["extensions"]
    assert "method" not in scope


def test_the_path_it_is_mounted_at_is_told(serve_asgi):
    server = serve_asgi(OPENING, "--root-path", "/scoped")
    with opened(server, "/scoped/x") as socket:
        scope = json.loads(socket.read_message())
    assert (scope["root_path"], scope["path"]) == ("/scoped", "/scoped/x")


def test_a_trusted_proxy_says_for_whom_and_how_it_asks(server):
    fields = [b"X-Forwarded-For: 192.0.2.7", b"X-Forwarded-Proto: https"]
    with opened(server, "/scoped", *fields) as socket:
        scope = json.loads(socket.read_message())
    assert (scope["scheme"], scope["client"][0]) == ("wss", "192.0.2.7")


def test_a_unix_socket_serves_websockets_too(serve_asgi, tmp_path):
    server = serve_asgi(OPENING, "--bind", f"unix:{tmp_path}/ws.sock")
    with opened(server, "/scoped") as socket:
        scope = json.loads(socket.read_message())
    assert scope["server"] == [f"{tmp_path}/ws.sock", None]


def test_the_connect_event_comes_first_whenever_it_is_asked_for(server):
    with opened(server, "/hasty") as socket:
        assert json.loads(socket.read_message()) == {"type": "websocket.connect"}
        socket.send(frame(TEXT, b"then"))
        message = json.loads(socket.read_message())
        assert (message["type"], message["text"], message.get("bytes")) == ("websocket.receive", "then", None)


def test_close_in_place_of_accept_is_403(server):
    response = refused(server, asking("answer", [{"type": "websocket.close", "code": 4003, "reason": "no"}]))
    assert (response.status, response.body) == (403, b"")


def test_a_refused_handshake_leaves_the_connection_open(server):
    with server.raw() as client:
        for _ in range(2):
            path = asking("answer", [{"type": "websocket.close"}]).encode()
            assert client.ask(handshake(target=path)).status == 403
        accepted = client.ask(handshake(target=b"/echo"))
        assert accepted.status == 101
        WebSocket(client, accepted).shut()


@pytest.mark.parametrize(("view", "logged"), [("leave", "leave|without"), ("fail", "this view fails on purpose")])
def test_an_application_that_gives_no_answer_is_a_500(serve_asgi, loop, view, logged):
    server = serve_asgi(OPENING, "--loop", loop)
    response = refused(server, f"/{view}")
    assert response.status == 500
    assert b"purpose" not in response.body
    server.wait_for_log(logged)
    with opened(server, "/echo") as socket:
        socket.shut()


def test_an_answer_of_http_takes_the_place_of_accept(server):
    messages = [
        {"type": "websocket.http.response.start", "status": 401, "headers": [(b"WWW-Authenticate", b"Basic"), (b"x-a", b"b")]},
        {"type": "websocket.http.response.body", "body": b"who ", "more_body": True},
        {"type": "websocket.http.response.body", "body": b"are you?"},
    ]  # fmt: skip
    response = refused(server, asking("answer", messages))
    assert (response.status, response.body) == (401, b"who are you?")
    assert (response.get("www-authenticate"), response.get("x-a")) == ("Basic", "b")


def test_an_answer_of_http_may_have_a_length_and_no_body(server):
    with_length = [
        {"type": "websocket.http.response.start", "status": 404, "headers": [(b"content-length", b"4")]},
        {"type": "websocket.http.response.body", "body": b"gone"},
    ]
    response = refused(server, asking("answer", with_length))
    assert (response.status, response.framing, response.body) == (404, "length", b"gone")
    empty = [
        {"type": "websocket.http.response.start", "status": 403},
        {"type": "websocket.http.response.body"},
    ]
    assert refused(server, asking("answer", empty)).body == b""


def test_accept_may_add_fields(server):
    headers = [(b"Set-Cookie", b"a=1"), (b"Set-Cookie", b"b=2"), (b"x-a", b"b")]
    with opened(server, asking("accept", {"headers": headers})) as socket:
        assert socket.response.all("set-cookie") == ["a=1", "b=2"]
        assert socket.response.get("x-a") == "b"


@pytest.mark.parametrize(
    "name",
    [b"Connection", b"Upgrade", b"Content-Length", b"Transfer-Encoding", b"Sec-WebSocket-Accept", b"Sec-WebSocket-Extensions"],
)  # fmt: skip
def test_accept_cannot_change_what_the_handshake_says(server, name):
    path = asking("accept", {"headers": [(name, b"5")]})
    with server.raw() as client:
        client.send(handshake(target=path.encode()))
        response = client.read_response()
        assert response.status in (101, 500)
        if response.status == 101:
            assert "5" not in response.all(name.decode())
            WebSocket(client, response).send(close(1000))


@pytest.mark.parametrize("chosen", ["chat", "v2"])
def test_one_of_the_subprotocols_is_chosen(server, chosen):
    with opened(server, asking("accept", {"subprotocol": chosen}), b"Sec-WebSocket-Protocol: chat, v2") as socket:
        assert socket.response.get("sec-websocket-protocol") == chosen


def test_choosing_no_subprotocol_says_nothing(server):
    with opened(server, "/echo", b"Sec-WebSocket-Protocol: chat, v2") as socket:
        assert socket.response.get("sec-websocket-protocol") is None


@pytest.mark.parametrize("offered", [[], [b"Sec-WebSocket-Protocol: chat"]], ids=["none offered", "another offered"])
def test_a_subprotocol_nobody_offered_is_an_error_of_the_application(serve_asgi, loop, offered):
    server = serve_asgi(OPENING, "--loop", loop)
    with server.raw() as client:
        client.send(handshake(*offered, target=asking("accept", {"subprotocol": "chess"}).encode()))
        kinds, text = json.loads(server.wait_for_log(r"told raised (.*)").group(1))
        assert "Exception" in kinds and "OSError" not in kinds
        assert "chess" in text and "subprotocol" in text
        assert client.read_response().status == 500


# What is wrong with it, a message that takes the place of accept, and what the error must name.
WRONG_BEFORE = [
    ("an unknown type", {"type": "websocket.accepted"}, "websocket.accepted"),
    ("no type", {"text": "hello"}, "type"),
    ("not a dict", ["websocket.accept"], "list"),
    ("of HTTP", {"type": "http.response.start", "status": 200, "headers": []}, "http.response.start"),
    ("a message first", {"type": "websocket.send", "text": "early"}, "websocket.send"),
    ("an event of receive", {"type": "websocket.connect"}, "websocket.connect"),
    ("a body first", {"type": "websocket.http.response.body", "body": b""}, "websocket.http.response.body"),
    ("a subprotocol that is no text", {"type": "websocket.accept", "subprotocol": b"chat"}, "subprotocol"),
    ("a field with a line end", {"type": "websocket.accept", "headers": [(b"x-a", b"b\r\nc: d")]}, "x-a"),
    ("a name with a space", {"type": "websocket.accept", "headers": [(b"x a", b"b")]}, "x a"),
    ("fields that are text", {"type": "websocket.accept", "headers": [("x-a", "b")]}, "x-a|str"),
    ("a status that is no number", {"type": "websocket.http.response.start", "status": "403"}, "status"),
]


@pytest.mark.parametrize(("message", "names"), [pytest.param(*rest, id=name) for name, *rest in WRONG_BEFORE])
def test_a_wrong_message_before_accept_raises_and_says_what_is_wrong(server, message, names):
    with opened(server, asking("before", message)) as socket:
        raised = json.loads(socket.read_message())
    assert raised is not None, "it was taken"
    assert "OSError" not in raised[0] and any(name in raised[1] for name in names.split("|")), raised


WRONG_AFTER = [
    ("an unknown type", {"type": "websocket.sent"}, "websocket.sent"),
    ("accept again", {"type": "websocket.accept"}, "websocket.accept"),
    ("an answer of HTTP", {"type": "websocket.http.response.start", "status": 403, "headers": []}, "websocket.http.response.start"),
    ("neither text nor bytes", {"type": "websocket.send"}, "text"),
    ("both None", {"type": "websocket.send", "text": None, "bytes": None}, "text"),
    ("both text and bytes", {"type": "websocket.send", "text": "a", "bytes": b"b"}, "text"),
    ("text that is bytes", {"type": "websocket.send", "text": b"a"}, "text"),
    ("bytes that are text", {"type": "websocket.send", "bytes": "a"}, "bytes"),
    ("a code nobody may send", {"type": "websocket.close", "code": 1006}, "1006"),
    ("a code out of range", {"type": "websocket.close", "code": 70000}, "70000"),
    ("a code that is no number", {"type": "websocket.close", "code": "1000"}, "code"),
    ("a reason that is no text", {"type": "websocket.close", "code": 1000, "reason": b"bye"}, "reason"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "names"), [pytest.param(*rest, id=name) for name, *rest in WRONG_AFTER])
def test_a_wrong_message_after_accept_raises_and_says_what_is_wrong(server, message, names):
    with opened(server, asking("after", message)) as socket:
        raised = json.loads(socket.read_message())
        assert raised is not None, "it was taken"
        assert "OSError" not in raised[0] and names in raised[1], raised


@pytest.mark.parametrize(
    "message", [{"type": "websocket.send", "bytes": b""}, {"type": "websocket.send", "text": ""}], ids=str
)
def test_a_message_may_be_empty(server, message):
    with opened(server, asking("after", message)) as socket:
        assert socket.read_message() in (b"", "")
        assert json.loads(socket.read_message()) is None

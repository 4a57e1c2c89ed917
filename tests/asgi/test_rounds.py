"""What is sent goes out together with that of other requests, but in order, and without waiting for an application."""

import contextlib

import pytest

from harness.injection import failing
from harness.metrics import Metrics
from harness.request import get, head
from harness.waiting import until
from harness.websocket import PING, PONG, TEXT, close, frame, opened

SIZES = [10, 5000, 10, 70_000, 300, 4096, 10]
PARTS = [b"%c" % (97 + number) * size for number, size in enumerate(SIZES)]


@pytest.fixture
def server(serve_asgi, loop):
    """The application of rounds, on each event loop."""
    return serve_asgi("rounds:app", "--loop", loop)


@pytest.fixture
def held_up(tmp_path):
    """A function that gives the path of a request that holds up the loop, and of its two files."""

    def path(name):
        return str(tmp_path / name)[1:].encode(), tmp_path / f"{name}.began", tmp_path / f"{name}.go"

    return path


def test_an_answer_does_not_wait_for_the_application_behind_it(server, held_up):
    (first, began, go), (second, _, go_too) = held_up("first"), held_up("second")
    with contextlib.ExitStack() as scope:
        clients = [scope.enter_context(server.raw(timeout=20)) for _ in range(6)]
        clients[0].send(get(target=b"/block/" + first))
        until(began.exists, what="the first holds up the loop")
        for client in clients[1:5]:
            client.send(get(target=b"/hello/x"))
        clients[5].send(get(target=b"/block/" + second))
        go.touch()
        # These four begin in one turn with the last, which lets nobody run.
        assert [client.read_response().body for client in clients[:5]] == [b"blocked"] + [b"hello"] * 4
        go_too.touch()
        assert clients[5].read_response().body == b"blocked"


def test_pieces_do_not_wait_for_the_application_that_has_sent_them(server, held_up):
    path, _, _ = held_up("stream")
    with server.raw(timeout=20) as client:
        client.send(get(target=b"/pieces/" + path))
        for number in range(3):
            client.wait_for(b"piece %d\r\n" % number)
            held_up(f"stream{number}")[2].touch()
        assert client.read_response().body == b"piece 0piece 1piece 2"


def test_an_answer_does_not_wait_for_its_own_application(server, held_up):
    path, _, go = held_up("answer")
    with server.raw(timeout=20) as client:
        client.send(get(target=b"/answer_first/" + path))
        assert client.read_response().body == b"answered"
        go.touch()
        assert client.ask(get(target=b"/hello/x")).body == b"hello"


def test_clients_that_go_before_their_answers_leave_nothing_behind(serve_asgi, loop, held_up):
    server = serve_asgi("rounds:app", "--loop", loop, "--metrics", "/metrics")
    path, began, go = held_up("first")
    with contextlib.ExitStack() as scope:
        clients = [scope.enter_context(server.raw()) for _ in range(21)]
        clients[0].send(get(target=b"/block/" + path))
        until(began.exists, what="the loop is held up")
        for client in clients[1:]:
            client.send(get(target=b"/hello/x") * 2)
        for client in clients[1:]:
            client.reset()
        go.touch()
        assert clients[0].read_response().body == b"blocked"
    until(lambda: Metrics(server.get("/metrics")).value("requests_in_flight") == 0, what="all have ended")
    assert server.get("/hello/x").body == b"hello"


@pytest.mark.parametrize("error", ["ECONNRESET", "ETIMEDOUT", "ENOBUFS"])
def test_an_error_of_what_was_kept_is_raised_by_the_next_send(server, error):
    with server.raw() as client, failing(server.pid, "sendto,sendmsg", error, "1"):
        client.send(get(target=b"/sends_on/x"))
        server.wait_for_log("first was taken")
        server.wait_for_log("second (raised OSError, and receive gives http.disconnect|was taken)")
    assert "second was taken" not in server.log()
    assert server.get("/hello/x").body == b"hello"


def test_pieces_of_any_size_keep_their_order(server):
    target = b"/chunks/" + b"/".join(b"%d" % size for size in SIZES)
    with server.raw() as client:
        client.send(get(target=target) * 3)
        for _ in range(3):
            assert client.read_response().body == b"".join(PARTS)


def test_answers_to_pipelined_requests_keep_their_order(server):
    with contextlib.ExitStack() as scope:
        clients = [scope.enter_context(server.raw()) for _ in range(40)]
        for client in clients:
            client.send(
                b"".join(get(target=target) for target in (b"/hello/1", b"/chunks/3", b"/hello/2", b"/chunks/5000"))
            )
        for client in clients:
            bodies = [client.read_response().body for _ in range(4)]
            assert bodies == [b"hello", b"aaa", b"hello", b"a" * 5000]


def test_a_request_that_is_woken_is_still_in_its_task(server):
    with server.raw() as client:
        client.send(head(b"POST /woken/ HTTP/1.1", b"Host: test", b"Transfer-Encoding: chunked"))
        for _ in range(5):
            client.send(b"1\r\nx\r\n")
            assert client.is_silent(0.02)
        client.send(b"0\r\n\r\n")
        seen = client.read_response().json()
    assert seen == [[True, number] for number in range(5)]


def test_messages_of_any_size_keep_their_order_and_do_not_wait(serve_asgi, loop, held_up):
    server = serve_asgi("rounds:sockets", "--loop", loop)
    path, _, go = held_up("chat")
    with contextlib.ExitStack() as scope:
        sockets = [scope.enter_context(opened(server, "/chat" + "/" + path.decode())) for _ in range(20)]
        for _ in range(3):
            for socket in sockets:
                socket.send(frame(TEXT, b"go") + frame(PING, b"ping"))
            for socket in sockets:
                frames = [socket.read() for _ in range(len(SIZES) + 1)]
                assert [one.payload for one in frames if one.opcode != PONG] == PARTS
                assert [one.payload for one in frames if one.opcode == PONG] == [b"ping"]
        sockets[0].send(frame(TEXT, b"stop"))
        assert [sockets[0].read_message() for _ in SIZES] == PARTS
        go.touch()


def test_a_close_behind_messages_ends_the_websocket_when_they_are_answered(serve_asgi, loop):
    server = serve_asgi("rounds:sockets", "--loop", loop, "--ws-ping-interval", "100ms", "--ws-ping-timeout", "100ms")
    with opened(server, "/slow/0.2") as socket:
        socket.send(*(frame(TEXT, b"%d" % number) for number in range(4)), close(1000))
        seen = [socket.read() for _ in range(5)]
        assert [one.payload for one in seen] == [b"0", b"1", b"2", b"3", b"\x03\xe8"]
        assert socket.client.is_closed()
    assert server.wait_for_log("closed with 1000")


def test_answers_to_pings_are_read_behind_messages_that_wait(serve_asgi, loop):
    pings = ("--ws-ping-interval", "300ms", "--ws-ping-timeout", "300ms")
    server = serve_asgi("rounds:sockets", "--loop", loop, "--ws-max-queue", "2", *pings)
    with opened(server, "/slow/0.4", timeout=10) as socket:
        socket.send(*(frame(TEXT, b"%d" % number) for number in range(5)))
        assert [socket.read_message() for _ in range(5)] == ["0", "1", "2", "3", "4"]
        socket.shut()

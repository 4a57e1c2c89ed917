"""The body of a request, as the application receives it."""

import json
import subprocess
import time

import pytest

from harness.delivery import by_byte
from harness.request import chunked, chunks, get, head, post

SIZES = [1, 4095, 4096, 4097, 65535, 65536, 65537]
MIB = 1024 * 1024
ROUNDS = 50


@pytest.fixture
def server(share_asgi, loop):
    """The application that reads in many ways, on each event loop."""
    return share_asgi("bodies:app", "--loop", loop)


def content(size):
    """Bytes that say where they are."""
    return b"".join(b"%07d\n" % number for number in range(size // 8 + 1))[:size]


@pytest.mark.parametrize("size", SIZES)
def test_a_body_in_the_packet_of_the_head(server, size):
    with server.raw() as client:
        for _ in range(3):
            assert client.ask(post(content(size), target=b"/echo")).body == content(size)


@pytest.mark.parametrize("size", SIZES)
def test_a_body_apart_from_the_head(server, size):
    with server.raw() as client:
        for _ in range(3):
            client.send(head(b"POST /echo HTTP/1.1", b"Host: test", b"Content-Length: %d" % size))
            time.sleep(0.02)
            assert client.ask(content(size)).body == content(size)


@pytest.mark.parametrize("size", SIZES)
def test_a_chunked_body(server, size):
    body = content(size)
    with server.raw() as client:
        for data in (chunks(body), chunks(body[: size // 2], body[size // 2 :]) if size > 1 else chunks(body)):
            assert client.ask(chunked(data, target=b"/echo")).body == body


@pytest.mark.parametrize("size", [1, 1000, 65537])
@pytest.mark.parametrize("form", ["length", "chunked"])
def test_a_body_byte_by_byte(server, size, form):
    body = content(size)
    request = post(body, target=b"/echo") if form == "length" else chunked(chunks(body), target=b"/echo")
    with server.raw(timeout=20) as client:
        assert client.send_pieces(by_byte(request))
        assert client.read_response().body == body


@pytest.mark.parametrize(
    "request_bytes",
    [get(target=b"/messages"), post(b"", target=b"/messages"), chunked(chunks(), target=b"/messages")],
    ids=["get", "length 0", "no chunks"],
)
def test_no_body_is_one_empty_message(server, request_bytes):
    with server.raw() as client:
        seen = client.ask(request_bytes).json()
    assert seen["messages"] == [{"type": "http.request", "body": 0, "more_body": False}] and seen["types"] == ["bytes"]


def test_messages_are_bytes_and_only_the_last_says_that_it_is(server):
    with server.raw() as client:
        seen = client.ask(post(content(3 * MIB), target=b"/messages")).json()
    *first, last = seen["messages"]
    assert all(message["more_body"] for message in first) and last["more_body"] is False
    assert sum(message["body"] for message in seen["messages"]) == 3 * MIB and seen["types"] == ["bytes"]


def test_a_small_body_that_comes_with_the_head_is_one_message(server):
    with server.raw() as client:
        seen = client.ask(post(b"x" * 1000, target=b"/messages")).json()
    assert [message["body"] for message in seen["messages"]] == [1000]


def test_pieces_reach_the_application_before_the_body_is_whole(server):
    before = len(server.log())
    with server.raw() as client:
        client.send(head(b"POST /noted HTTP/1.1", b"Host: test", b"Content-Length: 9"))
        for piece in (b"one", b"two", b"six"):
            client.send(piece)
            wait_for_new_log(server, before, f"piece b'{piece.decode()}'")
        assert client.read_response().body == b"done"


def test_chunks_reach_the_application_before_the_body_is_whole(server):
    before = len(server.log())
    with server.raw() as client:
        client.send(head(b"POST /noted HTTP/1.1", b"Host: test", b"Transfer-Encoding: chunked"))
        for piece in (b"1st", b"2nd", b"3rd"):
            client.send(b"3\r\n" + piece + b"\r\n")
            wait_for_new_log(server, before, f"piece b'{piece.decode()}'")
        client.send(b"0\r\n\r\n")
        assert client.read_response().body == b"done"


def test_a_body_is_sent_back_while_it_comes(server):
    with server.raw() as client:
        client.send(head(b"POST /streamed HTTP/1.1", b"Host: test", b"Transfer-Encoding: chunked"))
        for piece in (b"first", b"second", b"third"):
            client.send(b"%x\r\n%s\r\n" % (len(piece), piece))
            client.wait_for(piece)
        client.send(b"0\r\n\r\n")
        assert client.read_response().body == b"firstsecondthird"


def test_a_response_may_begin_before_the_body_is_read(server):
    with server.raw() as client:
        client.send(head(b"POST /answer_first HTTP/1.1", b"Host: test", b"Content-Length: 70000"))
        client.wait_for(b"first ")
        client.send(content(70000))
        assert client.read_response().body == b"first 70000"


@pytest.mark.parametrize("name", ["one", "none"])
def test_a_large_upload_that_is_not_read_gets_its_answer_from_curl_every_time(server, tmp_path, name):
    file = tmp_path / "large"
    file.write_bytes(content(5 * MIB))
    for turn in range(ROUNDS):
        command = ["curl", "-sS", "-i", "-m", "10", "-H", "Expect:", "-F", f"file=@{file}", f"{server.url}/{name}"]
        done = subprocess.run(command, capture_output=True, timeout=20)
        assert done.returncode == 0, f"turn {turn}: {done.stderr.decode()}"
        head_of, _, body = done.stdout.partition(b"\r\n\r\n")
        assert head_of.startswith(b"HTTP/1.1 200 ") and body, f"turn {turn}: {done.stdout[:300]!r}"


@pytest.mark.parametrize("name", ["one", "none"])
@pytest.mark.parametrize("form", ["length", "chunked"])
def test_a_large_upload_that_is_not_read_gets_its_answer_every_time(server, name, form):
    body, target = content(5 * MIB), f"/{name}".encode()
    request = post(body, target=target) if form == "length" else chunked(chunks(*[body[:65536]] * 80), target=target)
    for turn in range(ROUNDS):
        with server.raw(timeout=10) as client:
            sent = client.send_pieces(request[at : at + 65536] for at in range(0, len(request), 65536))
            response = client.read_response()
            assert (response.status, bool(response.body)) == (200, True), f"turn {turn}"
            assert sent, f"turn {turn}: the connection was reset under the upload"


def test_receive_after_the_body_waits(server):
    with server.raw() as client:
        for request in (
            post(b"hello", target=b"/twice"),
            get(target=b"/twice"),
            chunked(chunks(b"hello"), target=b"/twice"),
        ):
            assert client.ask(request).json()["then"] == "nothing"


def test_receive_after_the_body_does_not_take_the_next_request(server):
    with server.raw() as client:
        client.send(post(b"hello", target=b"/twice") + post(b"next one", target=b"/echo"))
        assert client.read_response().json() == {"size": 5, "then": "nothing"}
        assert client.read_response().body == b"next one"


def test_receive_after_the_response_says_disconnect_while_the_connection_goes_on(server):
    before = len(server.log())
    with server.raw() as client:
        assert client.ask(post(b"hello", target=b"/beyond")).body == b"hello"
        wait_for_new_log(server, before, f"beyond {['http.disconnect'] * 3}")
        assert client.ask(post(b"next", target=b"/echo")).body == b"next"


@pytest.mark.parametrize("body", [b'{"a": 1}', content(70000)], ids=["small", "large"])
def test_a_body_comes_whole_beside_an_upgrade_to_http_2(server, body):
    fields = [
        b"Connection: Upgrade, HTTP2-Settings",
        b"Upgrade: h2c",
        b"HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
        b"Content-Type: application/json",
    ]
    with server.raw() as client:
        for _ in range(3):
            response = client.ask(post(body, *fields, target=b"/echo"))
            assert (response.status, response.interim, response.body) == (200, [], body)
            assert not response.closes


def test_curl_with_an_upgrade_to_http_2_posts_json(server):
    command = [
        "curl",
        "-sS",
        "-m",
        "10",
        "--http2",
        "-H",
        "Content-Type: application/json",
        "-d",
        '{"a": 1}',
        f"{server.url}/echo",
    ]
    done = subprocess.run(command, capture_output=True, timeout=20, check=True)
    assert json.loads(done.stdout) == {"a": 1}


def test_100_comes_when_the_application_first_receives_and_only_once(server):
    request = head(b"POST /late/0.4 HTTP/1.1", b"Host: test", b"Content-Length: 10", b"Expect: 100-continue")
    with server.raw() as client:
        client.send(request)
        assert client.is_silent(0.25)
        assert client.wait_for(b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
        for piece in (b"hello", b"there"):
            client.send(piece)
            time.sleep(0.05)
        response = client.read_response()
        assert ([one.status for one in response.interim], response.body) == ([100], b"hellothere")
        assert client.ask(post(b"next", target=b"/echo")).body == b"next"


def test_no_100_when_the_application_answers_without_receiving(server):
    with server.raw() as client:
        client.send(head(b"POST /none HTTP/1.1", b"Host: test", b"Content-Length: 10", b"Expect: 100-continue"))
        response = client.read_response()
        assert (response.interim, response.body) == ([], b"unread")


def test_no_100_in_http_1_0(server):
    with server.raw() as client:
        client.send(head(b"POST /late/0.1 HTTP/1.0", b"Host: test", b"Content-Length: 5", b"Expect: 100-continue"))
        assert client.is_silent(0.3)
        client.send(b"hello")
        response = client.read_response()
        assert (response.interim, response.body) == ([], b"hello")


def test_a_body_that_comes_unasked_is_read(server):
    with server.raw() as client:
        response = client.ask(post(b"hello", b"Expect: 100-continue", target=b"/late/0.1"))
        assert response.body == b"hello"


@pytest.mark.parametrize(
    "request_bytes",
    [
        post(b"hello", target=b"/cut")[:-1],
        chunked(b"5\r\nhel", target=b"/cut"),
        chunked(b"5\r\nhello\r\n", target=b"/cut"),
    ],
)
def test_a_cut_body_ends_in_a_disconnect_never_in_a_short_body(server, request_bytes):
    before = len(server.log())
    with server.raw() as client:
        client.send(request_bytes)
        client.half_close()
        assert [one.status for one in client.read_to_end()] in ([400], [])
    wait_for_new_log(server, before, "'http.disconnect']")


def wait_for_new_log(server, before, wanted):
    """Waits until the text is in the log behind that place."""
    deadline = time.monotonic() + 5
    while wanted not in server.log()[before:]:
        assert time.monotonic() < deadline, f"{wanted!r} is not in {server.log()[before:]!r}"
        time.sleep(0.005)

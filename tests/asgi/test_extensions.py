"""The extensions of ASGI: files by path and by descriptor, early hints, trailers, and debug."""

import pytest

from harness import process
from harness.request import get, head, post
from harness.response import Aborted
from harness.waiting import until

CONTENT = b"".join(b"%07d\n" % number for number in range(125_000))


@pytest.fixture
def server(share_asgi, loop):
    """The application that uses extensions, on each event loop."""
    return share_asgi("extensions:app", "--loop", loop)


def test_the_extensions_that_are_offered(server):
    with server.raw() as client:
        offered = client.ask(get(b"TE: trailers", target=b"/offered")).json()
    wanted = {
        "http.response.pathsend",
        "http.response.zerocopysend",
        "http.response.early_hint",
        "http.response.trailers",
    }
    assert wanted <= set(offered)
    assert "http.response.debug" not in offered and "tls" not in offered


@pytest.mark.parametrize("name", ["pathsend/", "pathsend/1000000", "zerocopy_closed", "pathsend_unlinked"])
def test_a_file_is_sent_whole_with_its_length_and_the_connection_goes_on(server, name):
    descriptors = process.descriptors(server.pid)
    with server.raw() as client:
        for _ in range(3):
            response = client.ask(get(target=f"/{name}".encode()))
            assert response.body == CONTENT and response.framing == "length"
    until(lambda: process.descriptors(server.pid) <= descriptors)


def test_no_more_of_a_file_is_sent_than_its_length(server):
    with server.raw() as client:
        client.send(get(target=b"/pathsend/1000") + get(b"Connection: close", target=b"/offered"))
        first, *rest = client.read_to_end()
    assert first.body == CONTENT[:1000]
    assert len(rest) <= 1


def test_a_file_shorter_than_its_length_aborts(server):
    with server.raw() as client, pytest.raises(Aborted):
        client.ask(get(target=b"/pathsend/2000000"))


def test_head_of_a_file_has_its_length_and_no_body(server):
    with server.raw() as client:
        for _ in range(2):
            response = client.ask(head(b"HEAD /pathsend/ HTTP/1.1", b"Host: test"), "HEAD")
            assert (response.get("content-length"), response.body) in (("1000000", b""), (None, b""))


@pytest.mark.parametrize("which", ["missing", "folder", "relative", "bytes", "nul"])
def test_a_path_that_is_no_file_raises_and_is_a_500(server, which):
    assert server.get(f"/pathsend_wrong/{which}").status == 500
    assert len(server.wait_for_log(f"{which} raised (.*)")[1]) > 15


def test_a_file_cut_while_it_is_sent_aborts_and_does_not_spin(server):
    with server.raw(receive_buffer=8192) as client:
        client.send(get(target=b"/pathsend_truncated"))
        client.wait_for(b"\0")
        assert server.get("/truncate").status == 200
        with pytest.raises(Aborted):
            client.read_response()
    before = process.cpu_seconds(server.pid)
    assert server.get("/offered").status == 200
    assert process.cpu_seconds(server.pid) - before < 0.5


def test_parts_of_a_file_and_bytes_come_in_order(server):
    with server.raw() as client:
        for _ in range(3):
            body = client.ask(get(target=b"/zerocopy")).body
            assert body == CONTENT[80:96] + b"between\n" + CONTENT[800_000:900_000] + CONTENT[999_992:]


def test_what_is_no_file_raises(server):
    assert server.get("/zerocopy_number").status == 500
    assert len(server.wait_for_log("zerocopy raised (.*)")[1]) > 15


def test_hints_come_before_the_response(server):
    with server.raw() as client:
        response = client.ask(get(target=b"/hints/2"))
        assert [one.status for one in response.interim] == [103, 103]
        assert response.interim[0].all("link") == ["</a.css>; rel=preload", "</b.js>; rel=preload"]
        assert response.body == b"hinted" and not response.all("link")
        assert client.ask(post(b"next", target=b"/hints")).body == b"next"


def test_no_hints_in_http_1_0(server):
    with server.raw() as client:
        response = client.ask(head(b"GET /hints HTTP/1.0", b"Host: test"))
        assert (response.interim, response.body) == ([], b"hinted")


def test_hints_behind_the_start_do_no_harm_and_hints_with_line_ends_raise(server):
    assert server.get("/hints_late").body == b"body"
    assert server.get("/hints_injected").body == b"body"
    server.wait_for_log("injected hint raised ..........")


def test_trailers_come_behind_the_body_for_clients_that_take_them(server):
    with server.raw() as client:
        client.send(get(b"TE: trailers", b"Connection: close", target=b"/trailers/"))
        received = client.wait_for(b"\r\n\r\n") + b"".join(iter(client.receive, b""))
    header, _, rest = received.partition(b"\r\n\r\n")
    assert b"transfer-encoding: chunked" in header.lower()
    assert rest.lower() == b"4\r\nbody\r\n0\r\nx-sum: 1\r\nx-more: 2\r\n\r\n"


@pytest.mark.parametrize("name", ["trailers/", "trailers/length", "trailers_unannounced"])
def test_no_trailers_for_others(server, name):
    with server.raw() as client:
        for _ in range(2):
            assert client.ask(get(target=f"/{name}".encode())).body == b"body"


def test_trailers_that_never_come_do_not_leave_a_response_that_looks_whole_or_end_it(server):
    with server.raw() as client:
        client.send(get(b"TE: trailers", b"Connection: close", target=b"/trailers_missing"))
        received = b"".join(iter(client.receive, b""))
    assert received.startswith(b"HTTP/1.1 ")


def test_debug_is_refused_unless_it_is_asked_for(server, serve_asgi):
    assert server.get("/debug").body == b"body"
    server.wait_for_log("debug raised ..........")
    other = serve_asgi("extensions:app", "--debug")
    assert "http.response.debug" in other.get("/offered").json()
    assert other.get("/debug").body == b"body"
    other.wait_for_log("debug was taken")

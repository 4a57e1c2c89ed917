"""What WSGI applications do in the field, and what has to come of it."""

import pytest

from harness.request import get, head, post
from harness.response import Aborted


@pytest.mark.parametrize("kind", ["bytes", "bytearray", "memoryview"])
@pytest.mark.parametrize(("how", "body"), [("lists", b"cdef"), ("generators", b"abcdef")])
def test_bytes_like_pieces_are_sent(share, how, body, kind):
    assert share("bodies:app").get(f"/{how}/{kind}").body == body


@pytest.mark.parametrize("kind", ["str", "None", "int"])
def test_a_piece_that_is_not_bytes_is_an_error_in_the_log(serve, kind):
    server = serve("bodies:app")
    assert server.get(f"/lists/{kind}").status == 500
    server.wait_for_log({"str": "str", "None": "NoneType", "int": "int"}[kind])


@pytest.mark.parametrize("kind", ["str", "None", "int"])
def test_a_late_piece_that_is_not_bytes_aborts_the_response(serve, kind):
    server = serve("bodies:app")
    with server.raw() as client:
        client.send(get(target=f"/generators/{kind}".encode()))
        with pytest.raises(Aborted):
            client.read_response()
    server.wait_for_log("TypeError")


@pytest.mark.parametrize("kind", ["tuple", "map", "bytes"])
def test_any_iterable_of_bytes_is_a_body(share, kind):
    response = share("bodies:app").get(f"/objects/{kind}")
    assert response.status == 500 if kind == "bytes" else response.body == b"abcdef"


def test_an_empty_list_is_an_empty_body(share):
    response = share("bodies:app").get("/objects/nothing")
    assert (response.status, response.body, response.get("content-length")) == (200, b"", "0")


@pytest.mark.parametrize("kind", ["None", "int", "str"])
def test_a_return_value_that_is_no_body_is_a_500(serve, kind):
    server = serve("bodies:app")
    assert server.get(f"/objects/{kind}").status == 500
    server.wait_for_log("TypeError")


@pytest.mark.parametrize(
    "kind",
    [
        "099%20Low",
        "100%20Continue",
        "101%20Switching%20Protocols",
        "1000%20Big",
        "abc",
        "injection",
        "bytes",
        "int",
        "20%20OK",
        "-200%20OK",
    ],
)
def test_a_status_that_is_not_one_is_a_500_that_names_it(serve, kind):
    server = serve("bodies:app")
    response = server.get(f"/statuses/{kind}")
    assert response.status == 500 and response.get("x-b") is None
    server.wait_for_log("(?i)status")
    assert server.get("/lists/bytes").status == 200


@pytest.mark.parametrize(("kind", "reason"), [("kept", "My Reason"), ("404%20Nothing%20here", "Nothing here")])
def test_the_reason_of_the_application_is_kept(share, kind, reason):
    assert share("bodies:app").get(f"/statuses/{kind}").reason == reason


@pytest.mark.parametrize("kind", ["no%20reason", "empty%20reason"])
def test_a_status_without_reason_is_sent_as_it_is_meant_or_refused(share, kind):
    assert share("bodies:app").get(f"/statuses/{kind}").status in (200, 500)


@pytest.mark.parametrize(("kind", "named"), [
    ("space%20in%20name", "X A"), ("outside%20latin-1", "X-A"), ("bytes", "X-A"), ("number", "X-A"), ("injection", "X-A"),
    ("colon%20in%20name", "X:A"), ("empty%20name", "(?i)header|field"), ("not%20a%20pair", "(?i)header|field"), ("None", "(?i)header|field"),
])  # fmt: skip
def test_a_field_that_cannot_be_sent_is_a_500_that_names_it(serve, kind, named):
    server = serve("bodies:app")
    response = server.get(f"/fields/{kind}")
    assert response.status == 500 and response.get("x-b") is None
    server.wait_for_log(named)
    assert server.get("/lists/bytes").status == 200


@pytest.mark.parametrize(("value", "seen"), [(b"\xc3\xa9", "\xc3\xa9"), (b"\xe9", "\xe9")])
def test_header_bytes_arrive_as_latin_1(share, value, seen):
    with share("echo:app").raw() as client:
        assert client.ask(get(b"X-A: " + value)).json()["environ"]["HTTP_X_A"] == seen


def test_what_write_takes_is_on_the_wire_before_the_application_returns(serve):
    server = serve("streams:app")
    with server.raw() as client:
        client.send(get(target=b"/write"))
        assert client.wait_for(b"a\r\n").endswith(b"\r\n\r\n1\r\na\r\n")
        assert server.get("/log").body == b"written"
        assert client.read_response().body == b"ab"


@pytest.mark.parametrize("request_bytes", [get(target=b"/kept"), post(b"hello", target=b"/kept")], ids=["GET", "POST"])
def test_reading_to_the_end_returns_on_a_connection_that_stays_open(share, request_bytes):
    with share("calls:app").raw() as client:
        assert b"/kept read" in client.ask(request_bytes).body
        assert b"/kept read" in client.ask(request_bytes).body


def test_an_application_is_not_run_for_a_body_that_was_cut(serve):
    server = serve("calls:app")
    with server.raw() as client:
        client.send(head(b"POST /cut HTTP/1.1", b"Host: test", b"Content-Length: 100") + b"ten bytes.")
        client.half_close()
        assert client.read_response().status == 400
    assert server.get("/calls").body == b""


def test_reading_a_body_that_is_cut_raises(serve):
    server = serve("calls:app")
    with server.raw() as client:
        client.send(head(b"POST /cut HTTP/1.1", b"Host: test", b"Content-Length: 100", b"Expect: 100-continue"))
        client.wait_for(b"HTTP/1.1 100 ")
        client.send(b"ten bytes.")
        client.half_close()
        client.read_to_end()
    assert server.get("/calls").body == b"/cut raised an OSError"

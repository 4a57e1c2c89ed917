"""What an application sends: messages that are not allowed raise in it and say why; unusual ones that are allowed work."""

import re

import pytest

from harness.request import get, head
from harness.response import Aborted

# What the text of the error has to name.
WRONG_STARTS = {
    "status_99": "99", "status_1000": "1000", "status_0": "0", "status_negative": "-200", "status_text": "status", "status_true": "status",
    "status_none": "status", "status_float": "status", "status_missing": "status", "status_huge": "status", "status_interim": "100", "status_switching": "101",
    "headers_text": "header", "headers_number": "header", "header_of_one": "header", "header_of_three": "header", "header_number": "header", "header_none": "header",
    "name_text": "bytes", "value_text": "bytes", "name_none": "bytes", "value_number": "bytes",
    "name_empty": "name", "name_space": "x a", "name_colon": "x:a", "name_cr": "name", "name_lf": "name", "name_nul": "name", "name_high": "name",
    "value_cr": "x-a", "value_lf": "x-a", "value_crlf": "x-a", "value_nul": "x-a", "value_split": "x-a",
    "type_unknown": "http.response.begin", "type_missing": "type", "type_none": "type", "type_bytes": "type", "type_websocket": "websocket.accept",
    "type_lifespan": "lifespan.startup.complete", "type_of_receive": "http.request", "message_none": "None", "message_list": "list", "message_text": "str",
    "body_first": "http.response.start", "length_text": "content-length", "length_negative": "content-length", "length_differs": "content-length",
}  # fmt: skip
WRONG_BODIES = {
    "body_text": "str", "body_none": "None", "body_number": "int", "body_list": "list", "start_twice": "http.response.start",
    "start_twice_other": "http.response.start", "unknown_in_body": "http.response.end", "none_in_body": "None", "pathsend_number": "path",
}  # fmt: skip
WRONG_ENDS = {
    "body_after_end": "http.response.body",
    "empty_after_end": "http.response.body",
    "start_after_end": "http.response.start",
}
IN_A_BODY = {"body_text", "body_none", "body_number", "body_list", "unknown_in_body", "none_in_body"}


@pytest.fixture
def server(share_asgi):
    """The application of all these messages."""
    return share_asgi("messages:app")


@pytest.mark.parametrize(("name", "word"), WRONG_STARTS.items(), ids=list(WRONG_STARTS))
def test_a_wrong_start_raises_in_the_application_which_may_still_answer(server, name, word):
    response = server.get(f"/caught/{name}")
    assert response.status == 200
    assert_helpful(response.json(), word)


@pytest.mark.parametrize("name", [*WRONG_STARTS, *WRONG_BODIES])
def test_a_wrong_message_that_nobody_catches_is_a_plain_500_and_a_line_in_the_log(server, name):
    with server.raw() as client:
        response = client.ask(get(target=f"/uncaught/{name}".encode()))
    assert response.status == 500
    assert b"Traceback" not in response.body and b"Error" not in response.body.replace(b"Internal Server Error", b"")
    assert not response.all("x-b") and not response.all("x-a")
    server.wait_for_log(rf"GET /uncaught/{name}\b.*\n(?s:.*)Error")
    assert server.get("/plain").body == b"body"


@pytest.mark.parametrize(("name", "word"), WRONG_BODIES.items(), ids=list(WRONG_BODIES))
def test_a_wrong_message_after_the_start_raises_and_does_not_spoil_the_response(server, name, word):
    assert server.get(f"/caught_in_body/{name}").body == b"body"
    assert_helpful(server.wait_for_log(f"{name}: <(.*)>")[1], word)


@pytest.mark.parametrize(("name", "word"), WRONG_ENDS.items(), ids=list(WRONG_ENDS))
def test_a_message_after_the_end_raises_and_the_connection_goes_on(server, name, word):
    with server.raw() as client:
        for _ in range(2):
            assert client.ask(get(target=f"/caught_after_end/{name}".encode())).body == b"whole"
        assert client.ask(get(target=b"/plain")).body == b"body"
    assert_helpful(server.wait_for_log(f"{name}: <(.*)>")[1], word)


@pytest.mark.parametrize("name", WRONG_ENDS)
def test_an_error_after_the_end_is_logged_and_the_response_is_whole(server, name):
    with server.raw() as client:
        assert client.ask(get(target=f"/uncaught_after_end/{name}".encode())).body == b"whole"
    server.wait_for_log(f"GET /uncaught_after_end/{name}")
    assert server.get("/plain").body == b"body"


KINDS = [
    "tuples",
    "lists",
    "tuple",
    "tuple_of_lists",
    "generator",
    "iterator",
    "items",
    "mixed",
    "upper_case",
    "padded",
]


@pytest.mark.parametrize("kind", KINDS)
def test_headers_may_be_any_pairs_in_any_iterable(server, kind):
    response = server.get(f"/headers/{kind}")
    assert (response.get("x-a"), response.get("content-length"), response.body) == ("b", "4", b"body")


def test_a_start_without_headers_and_a_body_without_more_body_are_whole(server):
    with server.raw() as client:
        for target, body in [(b"/plain", b"body"), (b"/empty/0", b""), (b"/plain", b"body")]:
            response = client.ask(get(target=target))
            assert (response.status, response.framing, response.body) == (200, "length", body)


@pytest.mark.parametrize("code", [200, 201, 226, 299, 300, 404, 418, 499, 500, 511, 599, 600, 999])
def test_every_status_from_200_on_is_taken(server, code):
    response = server.get(f"/status/{code}")
    assert (response.status, response.body) == (code, b"body")


@pytest.mark.parametrize(
    ("code", "reason"), [(200, "OK"), (404, "Not Found"), (418, "I'm a Teapot"), (503, "Service Unavailable")]
)
def test_the_reason_is_that_of_the_status(server, code, reason):
    assert server.get(f"/status/{code}").reason.lower() == reason.lower()


def test_a_status_of_the_standard_library_is_a_number(server):
    assert server.get("/enumerated/NOT_FOUND").status == 404


def test_repeated_fields_keep_their_order_and_bytes_stay_what_they_are(server):
    response = server.get("/repeated")
    assert response.all("set-cookie") == ["a=1", "b=2"]
    assert response.all("x-a") == ["\xe9", "\xc3\xa9"]
    assert response.get("x-b") == ""


@pytest.mark.parametrize("kind", ["bytearray", "memoryview"])
def test_what_is_like_bytes_is_taken_as_it_was_or_refused_but_never_cut(server, kind):
    with server.raw() as client:
        try:
            response = client.ask(get(target=f"/buffers/{kind}".encode()))
        except Aborted:
            server.wait_for_log("refused: ")
            return
    assert response.status == 500 or response.body == b"body" * 20000


def test_a_message_may_be_used_again_when_it_has_been_sent(server):
    response = server.get("/reused")
    assert (response.get("x-a"), response.body) == ("b", b"onetwo")


def test_the_worker_lives_through_all_of_it_on_one_connection(server):
    with server.raw() as client:
        for name in WRONG_STARTS:
            assert client.ask(get(target=f"/caught/{name}".encode())).status == 200
        assert client.ask(head(b"HEAD /plain HTTP/1.1", b"Host: test"), "HEAD").get("content-length") == "4"


def assert_helpful(error, word):
    """The application was told by an error that is not OSError, whose text has the word."""
    kind, _, text = error.partition(": ")
    assert kind in {"TypeError", "ValueError", "RuntimeError", "KeyError"}, f"raised {error!r}"
    assert word.lower() in text.lower() and len(text) > 12, f"{word!r} is not in {text!r}"
    assert not re.search(r"panic|unwrap|\.rs\b|downcast", text), text

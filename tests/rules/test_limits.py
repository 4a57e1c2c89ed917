"""Limits and deadlines have the values that are promised, follow their flags, and end nothing sooner."""

import re
import subprocess
import sys
import time

import pytest

from harness.request import chunked, chunks, get, head, post
from harness.site import Site

DEFAULTS = {
    "head-timeout": "10s", "body-timeout": "30s", "body-min-rate": "240", "keep-alive": "15s", "write-timeout": "30s", "linger-timeout": "5s",
    "graceful-timeout": "30s", "max-body": "100MiB", "body-buffer": "1MiB", "limit-request-line": "8KiB", "limit-request-field-size": "8KiB",
    "limit-request-fields": "100", "limit-fields-total": "64KiB", "limit-chunk-extensions": "4KiB", "limit-trailers": "8KiB",
    "max-connections": "20000", "threads": "8", "promote-after": "1ms",
}  # fmt: skip
LIMITED = [
    ("--limit-request-line", get(target=b"/" + b"a" * 100), get(target=b"/" + b"a" * 200), 414),
    ("--limit-request-field-size", get(b"X: " + b"a" * 100), get(b"X: " + b"a" * 200), 431),
    ("--limit-fields-total", get(b"X: " + b"a" * 60), get(*[b"X: " + b"a" * 60] * 3), 431),
    (
        "--limit-chunk-extensions",
        chunked(b"0;" + b"a" * 100 + b"\r\n\r\n"),
        chunked(b"0;" + b"a" * 200 + b"\r\n\r\n"),
        413,
    ),
    (
        "--limit-trailers",
        chunked(b"0\r\nX: " + b"a" * 100 + b"\r\n\r\n"),
        chunked(b"0\r\nX: " + b"a" * 200 + b"\r\n\r\n"),
        413,
    ),
    ("--max-body", post(b"a" * 128), post(b"a" * 129), 413),
    ("--max-body", chunked(chunks(b"a" * 100, b"a" * 28)), chunked(chunks(b"a" * 100, b"a" * 29)), 413),
]


@pytest.fixture(scope="module")
def printed_settings():
    command = [sys.executable, "-m", "pronghorn", "--print-config"]
    text = subprocess.run(command, check=True, capture_output=True, text=True, timeout=20).stdout
    return dict(re.findall(r'^#?\s*([a-z-]+) = "?([^"\s#]*)', text, re.MULTILINE))


@pytest.mark.parametrize(("name", "value"), DEFAULTS.items(), ids=list(DEFAULTS))
def test_the_default_is_the_promised_one(printed_settings, name, value):
    assert printed_settings[name] == value


@pytest.mark.parametrize(
    ("flag", "within", "beyond", "status"), LIMITED, ids=[f"{flag} {status}" for flag, _, _, status in LIMITED]
)
def test_a_limit_is_what_its_flag_says(share, flag, within, beyond, status):
    site = Site(share("echo:app", flag, "128"))
    site.answers(within)
    site.refuses(beyond, status)


def test_the_number_of_fields_is_what_its_flag_says(share):
    site = Site(share("echo:app", "--limit-request-fields", "5"))
    site.answers(get(*[b"X: y"] * 4))
    site.refuses(get(*[b"X: y"] * 5), 431)


def test_a_body_limit_holds_for_an_application_that_was_started_early(share):
    site = Site(share("calls:app", "--max-body", "128"))
    with site.raw() as client:
        client.send(
            head(b"POST /early HTTP/1.1", b"Host: test", b"Transfer-Encoding: chunked", b"Expect: 100-continue")
        )
        client.wait_for(b"HTTP/1.1 100 ")
        client.send(chunks(b"a" * 129))
        client.read_to_end()
    assert site.server.get("/calls").body == b"/early raised an OSError"


@pytest.mark.parametrize(("flag", "begun"), [
    ("--head-timeout", b"GET / HTTP/1.1\r\n"), ("--body-timeout", post(b"hello")[:-1]), ("--keep-alive", get()),
])  # fmt: skip
def test_a_deadline_ends_nothing_sooner(share, flag, begun):
    server = share("hello:app", flag, "600ms")
    with server.raw() as client:
        client.send(begun)
        if flag == "--keep-alive":
            client.read_response()
        started = time.monotonic()
        client.read_to_end()
        assert 0.5 < time.monotonic() - started < 2.5


def test_each_piece_of_a_body_starts_its_deadline_anew(share):
    with share("echo:app", "--body-timeout", "600ms", "--body-min-rate", "0").raw() as client:
        client.send(post(b"x" * 10)[:-10])
        client.drip([b"x"] * 10, 0.2)
        assert client.read_response().json()["body"] == "x" * 10


def test_the_head_deadline_does_not_count_the_time_between_requests(share):
    with share("echo:app", "--head-timeout", "600ms").raw() as client:
        for _ in range(2):
            assert client.ask(get()).status == 200
            assert client.is_silent(0.9)


def test_no_deadline_ends_a_request_that_runs(share):
    deadlines = [
        "--head-timeout",
        "300ms",
        "--body-timeout",
        "300ms",
        "--keep-alive",
        "300ms",
        "--write-timeout",
        "300ms",
    ]
    assert share("slow:app", *deadlines).get("/1").body == b"slept 1.0\n"


def test_a_lingering_close_ends_at_its_deadline(share):
    with share("echo:app", "--linger-timeout", "500ms").raw() as client:
        client.send(b"junk\r\n\r\n")
        assert client.read_response().status == 400
        started = time.monotonic()
        while client.send_pieces([b"x"]):
            time.sleep(0.05)
        assert time.monotonic() - started < 2


def test_connections_beyond_the_most_wait_their_turn(share):
    server = share("hello:app", "--max-connections", "2")
    with server.raw() as first, server.raw() as second, server.raw() as third:
        for client in (first, second):
            assert client.ask(get()).status == 200
        third.send(get())
        assert third.is_silent(0.3)
        first.close()
        assert third.read_response().status == 200

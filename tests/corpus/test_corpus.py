"""The corpus of requests against the running server, every case cut in every way."""

from urllib.parse import unquote_to_bytes

import pytest

from corpus.case import Expected, read_corpus
from harness.delivery import DELIVERIES, at_random
from harness.site import AFTER, is_after

CASES = read_corpus()
WAYS = {**DELIVERIES, "at random": at_random}


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_corpus(share, case, way):
    with share("echo:app").raw() as client:
        more = b"" if case.waits or case.ends else AFTER
        client.send_pieces(way(case.sent + more))
        if case.ends:
            client.half_close()
        for expected in case.expected:
            check(client.read_response(expected.method), expected)
        if case.waits:
            assert client.is_silent(0.05), "the server did not wait for the rest of the request"
            return
        if more and (not case.expected or case.expected[-1].kept):
            assert is_after(client.read_response())
        assert client.is_closed()


def check(response, expected: Expected):
    """The response is the expected one, and so is what the application saw."""
    assert response.status == expected.status
    assert response.closes != expected.kept
    assert not response.interim or expected.has("may-continue")
    if expected.has("says-keep-alive"):
        assert response.get("connection").lower() == "keep-alive"
    if response.status == 426:
        assert response.get("sec-websocket-version") == "13"
    if response.status == 200 and expected.method != "HEAD":
        check_seen(response.json(), expected)


def check_seen(seen, expected: Expected):
    """The application saw that method, path and facts."""
    assert seen["method"] == expected.method
    if expected.path != "-":
        assert seen["path"] == unquote_to_bytes(expected.path.encode("latin-1")).decode("latin-1")
    for fact, value in expected.facts:
        check_fact(seen, fact, value)


def check_fact(seen, fact, value):
    """One fact holds of what the application saw."""
    name, _, field = fact.partition(":")
    environ = seen["environ"]
    if name == "path-length":
        assert len(seen["path"]) == int(value)
    elif name == "body-length":
        assert len(seen["body"]) == int(value)
    elif name in ("query", "body"):
        assert seen[name] == value
    elif name == "host":
        assert environ["HTTP_HOST"] == value
    elif name == "version":
        assert environ["SERVER_PROTOCOL"] == f"HTTP/{value}"
    elif name == "field":
        assert environ[key_of(field)] == value
    elif name == "no-field":
        assert key_of(field) not in environ
    else:
        assert fact in SEEN_BY_CLIENT, f"a fact nobody checks: {fact}"


def key_of(field):
    """The environ key of a field."""
    key = field.upper().replace("-", "_")
    return key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"


SEEN_BY_CLIENT = {"may-continue", "says-keep-alive"}

"""Identifiers of requests: a trusted proxy's or a new one, given to the application, the response and every refusal."""

import contextlib
import json
import re

import pytest

from harness.request import get

NEW = re.compile(r"[0-9a-f]{32}")
UNTRUSTED = ("--forwarded-allow-ips", "192.0.2.1")


def ask(server, *fields):
    """The identifiers in the response and in the environ."""
    with server.raw() as client:
        response = client.ask(get(*fields))
    return response.get("X-Request-ID"), response.json()["environ"].get("HTTP_X_REQUEST_ID")


def test_without_the_setting_it_is_an_ordinary_field(share):
    server = share("echo:app", *UNTRUSTED)
    assert ask(server) == (None, None)
    assert ask(server, b"X-Request-ID: from anyone") == (None, "from anyone")


def test_a_new_one_for_every_request_of_a_connection(share):
    seen = []
    with share("echo:app", "--request-id").raw() as client:
        for _ in range(50):
            response = client.ask(get())
            seen.append(response.get("X-Request-ID"))
            assert response.json()["environ"]["HTTP_X_REQUEST_ID"] == seen[-1]
    assert len(set(seen)) == 50
    assert all(NEW.fullmatch(one) for one in seen)


@pytest.mark.parametrize("value", [b"a", b"6f1e-B_.~+/=", b"x" * 128])
def test_a_trusted_proxys_is_kept(share, value):
    assert ask(share("echo:app", "--request-id"), b"X-Request-ID: " + value) == (value.decode(),) * 2


@pytest.mark.parametrize(
    "fields",
    [
        [b"X-Request-ID:"],
        [b"X-Request-ID: a b"],
        [b"X-Request-ID: a,b"],
        [b'X-Request-ID: a"b'],
        [b"X-Request-ID: <script>"],
        [b"X-Request-ID: caf\xc3\xa9"],
        [b"X-Request-ID: " + b"x" * 129],
        [b"X-Request-ID: one", b"X-Request-ID: two"],
        [b"X_Request_ID: one"],
    ],
)
def test_what_could_mislead_a_log_is_replaced(share, fields):
    answered, given = ask(share("echo:app", "--request-id"), *fields)
    assert answered == given
    assert NEW.fullmatch(answered)


def test_an_untrusted_one_is_replaced(share):
    answered, given = ask(share("echo:app", "--request-id", *UNTRUSTED), b"X-Request-ID: mine")
    assert answered == given
    assert NEW.fullmatch(answered)


def test_the_same_head_again_gets_an_identifier_of_its_own(share):
    with share("echo:app", "--request-id", *UNTRUSTED).raw() as client:
        seen = [client.ask(get(b"X-Request-ID: mine")).json()["environ"]["HTTP_X_REQUEST_ID"] for _ in range(6)]
    assert len(set(seen)) == 6


def test_refusals_carry_one(share):
    server = share("echo:app", "--request-id", "--max-body", "10")
    for request in [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n",
        b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
    ]:
        with server.raw() as client:
            response = client.ask(request)
            assert response.status >= 400
            assert NEW.fullmatch(response.get("X-Request-ID"))


def test_a_refused_request_keeps_its_proxys(share):
    with share("echo:app", "--request-id", "--max-body", "10").raw() as client:
        response = client.ask(b"POST / HTTP/1.1\r\nHost: a\r\nX-Request-ID: kept\r\nContent-Length: 11\r\n\r\n")
    assert (response.status, response.get("X-Request-ID")) == (413, "kept")


def test_a_late_head_is_refused_with_one(serve):
    with serve("echo:app", "--request-id", "--head-timeout", "100ms").raw() as client:
        response = client.ask(b"GET / HTTP/1.1\r\n")
    assert response.status == 408
    assert NEW.fullmatch(response.get("X-Request-ID"))


def test_a_failure_carries_one(serve, tmp_path):
    (tmp_path / "failing.py").write_text("def app(environ, start_response):\n    raise RuntimeError('on purpose')\n")
    with serve("failing:app", "--request-id", app_dir=tmp_path).raw() as client:
        response = client.ask(get())
    assert response.status == 500
    assert NEW.fullmatch(response.get("X-Request-ID"))


def test_the_applications_own_goes_out_alone(serve, tmp_path):
    (tmp_path / "own.py").write_text(
        "def app(environ, start_response):\n"
        "    start_response('200 OK', [('x-request-id', 'own'), ('Content-Length', '0')])\n"
        "    return [b'']\n"
    )
    with serve("own:app", "--request-id", app_dir=tmp_path).raw() as client:
        assert client.ask(get()).all("X-Request-ID") == ["own"]


def test_pipelined_requests_have_different_ones(share):
    with share("echo:app", "--request-id").raw() as client:
        client.send(get() * 3)
        seen = [client.read_response().get("X-Request-ID") for _ in range(3)]
    assert len(set(seen)) == 3


def test_workers_never_give_the_same(serve, tmp_path):
    (tmp_path / "pids.py").write_text(
        "import os\n"
        "def app(environ, start_response):\n"
        "    start_response('200 OK', [])\n"
        "    return [f'{os.getpid()} {environ[\"HTTP_X_REQUEST_ID\"]}'.encode()]\n"
    )
    server = serve("pids:app", "--request-id", "--workers", "3", app_dir=tmp_path, supervised=True)
    seen: dict[str, set[str]] = {}
    with contextlib.ExitStack() as open_ones:
        for _ in range(50):
            client = open_ones.enter_context(server.raw())
            for _ in range(3):
                worker, given = client.ask(get()).body.decode().split()
                seen.setdefault(worker, set()).add(given)
    assert len(seen) > 1, "one worker answered all"
    assert len(set.union(*seen.values())) == 150


def test_the_access_log_has_identifier_and_trace(serve, tmp_path):
    path = tmp_path / "access.log"
    server = serve("hello:app", "--request-id", "--access-log", str(path), "--access-log-format", "json")
    trace = b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    with server.raw() as client:
        given = client.ask(get(b"traceparent: " + trace)).get("X-Request-ID")
        client.ask(get(b"X-Request-ID: kept", b"traceparent: " + trace.upper()))
        client.ask(get(b"traceparent: " + trace, b"traceparent: " + trace))
    server.stop()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["traceparent"] for line in lines] == [trace.decode(), None, None]
    assert [line["request_id"] for line in lines[:2]] == [given, "kept"]

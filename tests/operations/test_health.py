"""Health: what balancers are told, without Python."""

import signal
import socket
import sys
import time
from pathlib import Path

import pytest

from harness.client import Client
from harness.request import get
from harness.server import Server

APPS = Path(__file__).parent / "apps"


def test_a_server_that_is_ready_says_so(serve):
    server = serve("hello:app", "--health", "/-/health")
    answer = server.get("/-/health?probe=1")
    assert (answer.status, answer.body) == (200, b"ok\n")
    assert answer.get("cache-control") == "no-store"
    assert server.get("/-/health/").body == b"Hello, world!\n"
    with server.raw() as client:
        head = client.ask(get(target=b"/-/health").replace(b"GET", b"HEAD"), "HEAD")
        assert (head.status, head.get("content-length")) == (200, "3")
        assert client.ask(b"PUT /-/health HTTP/1.1\r\nHost: a\r\n\r\n").status == 405


def test_health_fails_while_the_server_drains(serve):
    server = serve("naps:app", "--health", "/health")
    with server.raw() as busy, server.raw() as balancer:
        assert balancer.ask(get(target=b"/health")).status == 200
        busy.send(get(target=b"/busy/1"))
        server.wait_for_log("napping /busy")
        server.signal(signal.SIGTERM)
        server.wait_for_log("SIGTERM")
        answer = balancer.ask(get(target=b"/health"))
        assert (answer.status, answer.body, answer.closes) == (503, b"draining\n", True)
        assert busy.read_response().status == 200
    assert server.wait() == 0


def test_with_a_delay_health_fails_first_and_everything_is_served_on(serve):
    server = serve("hello:app", "--health", "/health", "--drain-delay", "1s")
    begun = time.monotonic()
    server.signal(signal.SIGTERM)
    server.wait_for_log("the health check fails from now on")
    assert server.get("/health").status == 503
    # New connections are accepted, and kept.
    with server.raw() as client:
        answer = client.ask(get())
        assert answer.status == 200 and not answer.closes
    assert server.wait() == 0
    assert 1 <= time.monotonic() - begun < 5


def test_a_second_term_and_an_interrupt_do_not_wait(serve):
    for signals in ([signal.SIGTERM, signal.SIGTERM], [signal.SIGINT]):
        server = serve("hello:app", "--health", "/health", "--drain-delay", "60s")
        for number in signals:
            server.signal(number)
            server.wait_for_log("SIGTERM|SIGINT")
        assert server.wait(10) == 0


@pytest.mark.parametrize("interface", [["app"], ["asgi"], ["asgi", "--loop", "uvloop"]], ids=" ".join)
def test_before_the_application_is_imported_health_fails_and_requests_wait(tmp_path, interface):
    path, gate = str(tmp_path / "socket"), tmp_path / "imported"
    application, *loop = interface
    command = [
        "-m",
        "pronghorn",
        f"slow_import:{application}",
        *loop,
        "--no-supervisor",
        "--app-dir",
        str(APPS),
        "--bind",
        f"unix:{path}",
    ]
    server = Server(
        [sys.executable, *command, "--health", "/health", "--metrics", "/metrics"],
        env={"IMPORT_WAITS_FOR": str(gate)},
    )
    try:
        server.wait_for_log("importing")
        with Client(path) as early, Client(path) as silent, Client(path) as cut:
            early.send(get(target=b"/early"))
            cut.send(b"GET /c")
            assert silent.is_silent(0.1)
            for _ in range(3):
                with Client(path) as balancer:
                    answer = balancer.ask(get(target=b"/health"))
                    assert (answer.status, answer.body) == (503, b"starting\n")
                    assert answer.closes and balancer.is_closed()
            with Client(path) as prometheus:
                assert b'pronghorn_workers{state="starting"} 1\n' in prometheus.ask(get(target=b"/metrics")).body
            assert early.is_silent(0.1)
            gate.touch()
            assert early.read_response().body == b"/early"
            cut.send(b"ut HTTP/1.1\r\nHost: a\r\n\r\n")
            assert cut.read_response().body == b"/cut"
            assert silent.ask(get(target=b"/silent")).body == b"/silent"
            assert silent.ask(get(target=b"/health")).status == 200
        assert server.stop() == 0
    finally:
        server.kill()


def test_an_application_that_cannot_be_imported_is_told_once_and_its_clients_see_the_end(tmp_path):
    path = str(tmp_path / "socket")
    (tmp_path / "broken.py").write_text("import socket_that_is_not_there\n")
    server = Server(
        [sys.executable, "-m", "pronghorn", "broken", "--no-supervisor", "--bind", f"unix:{path}", "--health", "/h"],
        cwd=tmp_path,
    )
    assert server.wait() == 1
    assert server.log().count("socket_that_is_not_there") <= 3
    assert server.log().count("pronghorn: error:") == 1
    with pytest.raises(OSError), socket.socket(socket.AF_UNIX) as client:
        client.connect(path)


def test_one_path_is_for_one_thing(serve):
    with pytest.raises(AssertionError, match="The health check has this path already"):
        serve("hello:app", "--health", "/x", "--metrics", "/x")

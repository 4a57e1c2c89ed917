"""System calls that fail cost at most the request they were made for: no exit, no spin, no wrong answer."""

import contextlib
import time
from pathlib import Path

import pytest

from harness import process
from harness.injection import failing
from harness.request import get, post
from harness.response import Aborted
from harness.waiting import until

TESTS = Path(__file__).parent.parent
EPOLL = "?epoll_wait,?epoll_pwait,?epoll_pwait2"
SENDS = "sendto,sendmsg"
RECEIVES = "?recv,recvfrom"
MIB = 1024 * 1024

# Nobody may notice these: what was to be done is done a moment later.
HARMLESS = [
    *(("accept4", error, "1+2") for error in ("EMFILE", "ENFILE", "ENOMEM", "ENOBUFS", "ECONNABORTED", "EINTR", "EPROTO", "EPERM")),
    *((calls, "EINTR", when) for calls in (EPOLL, RECEIVES, SENDS) for when in ("1+2", "2+3")),
]  # fmt: skip
# A connection may be lost by these, never another one's answer.
COSTLY = [(calls, error) for calls in (RECEIVES, SENDS) for error in ("ENOMEM", "ENOBUFS", "ECONNRESET", "ETIMEDOUT")]


@pytest.mark.parametrize(("calls", "error", "when"), HARMLESS, ids=[" ".join(one) for one in HARMLESS])
def test_a_fault_that_passes_is_not_noticed(serve, calls, error, when):
    server = serve("echo:app")
    with server.raw() as kept:
        assert kept.ask(get()).status == 200
        used = process.cpu_seconds(server.pid)
        with failing(server.pid, calls, error, when):
            for number in range(10):
                assert echoed(kept, b"/kept/%d" % number)
                with server.raw() as fresh:
                    assert echoed(fresh, b"/fresh/%d" % number)
    assert process.cpu_seconds(server.pid) - used < 1.0, "it spins"


@pytest.mark.parametrize("when", ["1+2", "2+2"])
@pytest.mark.parametrize("folder", ["apps", "asgi/apps"], ids=["wsgi", "asgi"])
def test_a_signal_is_obeyed_though_calls_are_interrupted(serve, folder, when):
    server = serve("hello:app", app_dir=TESTS / folder)
    with failing(server.pid, "?read,?recvfrom", "EINTR", when):
        assert server.stop() == 0


@pytest.mark.parametrize("error", ["EMFILE", "ENFILE", "ENOMEM", "ENOBUFS"])
def test_connections_that_cannot_be_accepted_wait_without_a_spin(serve, error):
    server = serve("echo:app")
    with server.raw() as kept:
        assert kept.ask(get()).status == 200
        with failing(server.pid, "accept4", error):
            waiting = server.raw()
            waiting.send(get(target=b"/waiting"))
            used = process.cpu_seconds(server.pid)
            assert waiting.is_silent(1.0)
            assert process.cpu_seconds(server.pid) - used < 0.25, "it spins"
            assert echoed(kept, b"/kept")
    with waiting:
        waiting.extend()
        assert waiting.read_response().json()["path"] == "/waiting"


@pytest.mark.parametrize(("calls", "error"), COSTLY, ids=[" ".join(one) for one in COSTLY])
def test_a_fault_on_a_connection_costs_no_other_one(serve, calls, error):
    server = serve("echo:app")
    answered = 0
    with failing(server.pid, calls, error, "3+4"):
        for number in range(20):
            with server.raw() as client, contextlib.suppress(Aborted, OSError):
                answered += echoed(client, b"/%d" % number)
    assert answered >= 10
    assert server.get("/after").json()["path"] == "/after"


@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "EDQUOT"])
def test_a_body_that_the_disk_does_not_take_is_refused(serve, error):
    server = serve("calls:app", "--body-buffer", "64KiB")
    with failing(server.pid, "pwrite64", error, "2"), server.raw() as client:
        client.send_pieces([post(b"x" * MIB)])
        response = client.read_response()
        assert response.status == 503 and response.closes
    assert server.get("/calls").body == b"", "the application was run for a body that was not there"
    assert_takes_a_body(server)


@pytest.mark.parametrize("error", ["ENOSPC", "EMFILE", "EROFS", "EACCES"])
def test_a_body_for_which_no_file_can_be_made_is_refused(serve, error):
    server = serve("calls:app", "--body-buffer", "64KiB")
    assert_takes_a_body(server)
    with failing(server.pid, "?open,openat", error), server.raw() as client:
        client.send_pieces([post(b"x" * MIB)])
        response = client.read_response()
        assert response.status == 503 and response.closes
    assert_takes_a_body(server)


def test_an_access_log_on_a_full_disk_holds_up_nothing_and_goes_on_later(serve, tmp_path):
    log = tmp_path / "access.log"
    server = serve("echo:app", "--access-log", str(log))
    assert server.get("/before").status == 200
    appears(log, "/before")
    with failing(server.pid, "write", "ENOSPC", on=log):
        for number in range(20):
            started = time.monotonic()
            assert server.get(f"/during/{number}").status == 200
            assert time.monotonic() - started < 1.0
        used = process.cpu_seconds(server.pid)
        time.sleep(0.5)
        assert process.cpu_seconds(server.pid) - used < 0.25, "it spins"
    assert server.get("/later").status == 200
    appears(log, "/later")
    assert "access log" in server.log(), "nobody was told"


def test_threads_that_cannot_be_started_leave_one_that_serves(serve):
    server = serve("naps:app")
    with failing(server.pid, "?clone,?clone3", "EAGAIN"):
        with server.raw() as first, server.raw() as second:
            first.send(get(target=b"/first/0.5"))
            second.send(get(target=b"/second/0"))
            assert first.read_response().status == 200
            assert second.read_response().status == 200
    assert server.get("/after/0").status == 200


def echoed(client, path):
    """Whether ECHO answers with the path it was asked for."""
    response = client.ask(get(target=path))
    assert response.status == 200 and response.json()["path"] == path.decode()
    return True


def assert_takes_a_body(server):
    """A body that goes to a file arrives whole."""
    with server.raw() as client:
        assert client.ask(post(b"x" * MIB)).body == b"/ read %d bytes" % MIB


def appears(log, text):
    """The log has the text soon."""
    until(lambda: text in log.read_text(), 5, f"{text} is in {log}")

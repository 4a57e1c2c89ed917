"""What a person tells a server by signals, and what of it is for the supervisor alone."""

import os
import signal
import time
from pathlib import Path

import pytest

from harness import fleet, process
from harness.request import get
from harness.response import Aborted
from harness.waiting import until

APPS = Path(__file__).parent / "apps"
READY = r"worker (\d+) is ready"


def workers(server):
    """The process ids of the workers that have said that they are ready, in that order."""
    return [int(line.split("worker ")[1].split()[0]) for line in server.log().splitlines() if "is ready" in line]


@pytest.mark.parametrize("threads", ["1", "8"])
def test_a_second_quit_prints_the_stacks_and_ends_the_process(serve, threads):
    server = serve("greedy:app", "--threads", threads, app_dir=APPS)
    with server.raw() as client:
        client.send(get(target=b"/nap/30"))
        server.wait_for_log("begin nap")
        assert server.quit_twice() == 131
    assert "GET /nap/30 of 127.0.0.1:" in server.log()
    assert 'greedy.py", line' in server.log()


def test_a_second_quit_prints_the_stacks_of_the_workers(serve):
    server = serve("greedy:app", app_dir=APPS, supervised=True)
    with server.raw() as client:
        client.send(get(target=b"/nap/30"))
        server.wait_for_log("begin nap")
        server.signal(signal.SIGQUIT)
        server.wait_for_log("SIGQUIT: finishing what ends within a second")
        server.signal(signal.SIGQUIT)
        assert server.wait(5) == 131
    assert "GET /nap/30 of 127.0.0.1:" in server.log()


@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_a_second_interrupt_ends_supervisor_and_workers_at_once(serve, first):
    server = serve("naps:app", supervised=True)
    with server.raw() as client:
        client.send(get(target=b"/long/30"))
        server.wait_for_log("napping /long")
        server.signal(first)
        server.wait_for_log("finishing")
        started = time.monotonic()
        server.signal(signal.SIGINT)
        assert server.wait(3) == 130
        assert time.monotonic() - started < 0.9
        with pytest.raises(Aborted):
            client.read_response()


@pytest.mark.parametrize("workers", [["--workers", "2"], []], ids=["workers", "alone"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
def test_a_quick_stop_gives_requests_a_second(serve, number, workers):
    server = serve("naps:app", *workers, supervised=bool(workers))
    with server.raw() as short, server.raw() as long:
        short.send(get(target=b"/short/0.5"))
        long.send(get(target=b"/long/30"))
        server.wait_for_log("napping /short")
        server.wait_for_log("napping /long")
        server.signal(number)
        assert short.read_response().status == 200
        assert server.wait(4) == 0
        with pytest.raises(Aborted):
            long.read_response()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGUSR2])
def test_what_a_terminal_sends_to_all_a_worker_lets_pass(serve, number):
    server = serve("naps:app", supervised=True)
    (worker,) = workers(server)
    with server.raw() as client:
        client.send(get(target=b"/one/0.5"))
        server.wait_for_log("napping /one")
        os.kill(worker, number)
        assert client.read_response().status == 200
    assert server.get("/two/0").status == 200
    assert workers(server) == [worker]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGQUIT, 0)])
def test_a_worker_that_is_told_to_end_finishes_and_is_replaced(serve, number, code):
    server = serve("naps:app", supervised=True)
    (worker,) = workers(server)
    with server.raw() as client:
        client.send(get(target=b"/one/0.3"))
        server.wait_for_log("napping /one")
        os.kill(worker, number)
        response = client.read_response()
        assert response.status == 200 and response.closes
    server.wait_for_log(rf"worker {worker} ended with exit code {code}")
    server.wait_for_log(rf"{READY}[\s\S]*{READY}")
    assert server.get("/two/0").status == 200


def test_a_worker_that_has_drained_ends_as_the_application_wants_whatever_it_is_sent(serve, tmp_path):
    (tmp_path / "last.py").write_text(LAST_WORDS)
    server = serve("last:app", app_dir=tmp_path, supervised=True)
    (worker,) = workers(server)
    server.signal(signal.SIGTERM)
    server.wait_for_log("first of the last words")
    os.kill(worker, signal.SIGTERM)
    before = process.cpu_seconds(server.pid)
    time.sleep(1)
    assert process.cpu_seconds(server.pid) - before < 0.4, "the supervisor sleeps meanwhile"
    assert server.wait() == 0
    assert "last of the last words" in server.log()


LAST_WORDS = """
import atexit, sys, time

def app(environ, start_response):
    start_response("204 No Content", [])
    return []

@atexit.register
def end():
    print("first of the last words", file=sys.stderr, flush=True)
    time.sleep(1.5)
    print("last of the last words", file=sys.stderr, flush=True)
"""


def test_more_and_fewer_workers(serve):
    server = serve("hello:app", supervised=True)
    server.signal(signal.SIGTTOU)
    server.wait_for_log("SIGTTOU: there is one worker at least")
    server.signal(signal.SIGTTIN)
    server.wait_for_log(r"SIGTTIN: 2 workers from now on[\s\S]*is ready")
    server.signal(signal.SIGTTOU)
    server.wait_for_log(r"SIGTTOU: 1 workers from now on[\s\S]*has ended")
    assert server.get().status == 200


def test_more_workers_are_there_until_the_next_hup(serve):
    server = serve("hello:app", supervised=True)
    server.signal(signal.SIGTTIN)
    before = fleet.wait_for_count(server.pid, 2)
    server.signal(signal.SIGHUP)
    fleet.wait_for_others(server.pid, before, 1)


def test_winch_drains_the_workers_until_hup(serve):
    server = serve("naps:app", supervised=True)
    (worker,) = workers(server)
    with server.raw() as client:
        client.send(get(target=b"/one/0.3"))
        server.wait_for_log("napping /one")
        server.signal(signal.SIGWINCH)
        assert client.read_response().status == 200
    server.wait_for_log(rf"worker {worker} has ended")
    with server.raw() as waiting:
        waiting.send(get(target=b"/two/0"))
        server.signal(signal.SIGHUP)
        assert waiting.read_response().status == 200


def test_usr1_reopens_the_logs_of_workers_that_serve_and_of_those_that_start(serve, tmp_path):
    log, gate = tmp_path / "access", tmp_path / "gate"
    gate.touch()
    to_the_log = ["--access-log", str(log), "--access-log-format", "%(U)s"]
    waits = {"IMPORT_WAITS_FOR": str(gate)}
    server = serve("slow_import:app", *to_the_log, app_dir=APPS, env=waits, supervised=True)
    gate.unlink()
    server.signal(signal.SIGHUP)
    server.wait_for_log(r"importing[\s\S]*importing")
    log.rename(tmp_path / "old")
    server.signal(signal.SIGUSR1)
    until(log.exists, 5, "the worker that serves has opened its log")
    gate.touch()
    server.wait_for_log(r"worker \d+ has ended")
    server.get("/new")
    until(lambda: log.read_text() == "/new\n", 5, "the line is in the new file")


def test_abrt_prints_what_every_worker_does(serve):
    server = serve("naps:app", supervised=True)
    with server.raw() as client:
        client.send(get(target=b"/one/1"))
        server.wait_for_log("napping /one")
        server.signal(signal.SIGABRT)
        server.wait_for_log(r"GET /one/1 of 127\.0\.0\.1:")
        assert client.read_response().status == 200

"""The lifespan protocol: start, end, what goes wrong in them, and who does not speak it."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.request import get

APPS = Path(__file__).parent / "apps"


@pytest.fixture
def lives(serve_asgi, loop):
    """A function that starts a server of an application in lifespans.py."""

    def start(name, *args, **more):
        return serve_asgi(f"lifespans:{name}", "--loop", loop, *args, **more)

    return start


def failed_start(name, *args):
    """What the command prints and its exit code when it cannot start, and how many seconds it took."""
    command = [
        sys.executable,
        "-m",
        "pronghorn",
        f"lifespans:{name}",
        "--app-dir",
        str(APPS),
        "--bind",
        "127.0.0.1:0",
        *args,
    ]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout + done.stderr, time.monotonic() - began


ALONE = pytest.mark.parametrize("alone", [["--no-supervisor"], []], ids=["one process", "supervised"])


def test_start_and_end_come_once_and_frame_all_requests(lives):
    server = lives("good")
    assert "got {'type': 'lifespan.startup'}" in server.log()
    assert server.get("/").body == b"served"
    assert "lifespan.shutdown" not in server.log()
    assert server.stop() == 0
    assert server.log().count("lifespan.shutdown") == 1 and "cleaned up" in server.log()


def test_the_server_listens_when_the_application_has_started(lives):
    server = lives("slow")
    log = server.log()
    assert log.index("started") < log.index("Listening at")


@ALONE
@pytest.mark.parametrize(("name", "text"), [
    ("raises", "RuntimeError: no database"), ("fails", "no database"), ("fails_and_raises", "Traceback of its own"), ("exits", "configuration is wrong"),
])  # fmt: skip
def test_a_start_that_fails_ends_the_command_with_the_reason_once(name, text, alone):
    code, output, seconds = failed_start(name, "--lifespan", "on", *alone)
    assert code == 1, output
    assert text in output
    assert output.count("Traceback (most recent call last)") <= 1, output
    assert output.count("pronghorn: error:") == 1, output
    assert "Listening at" not in output and "panicked" not in output
    assert seconds < 10


@pytest.mark.parametrize("name", ["fails", "fails_silently", "fails_and_raises"])
def test_a_start_that_says_it_failed_ends_the_command_in_auto_too(name):
    code, output, _ = failed_start(name, "--no-supervisor")
    assert code == 1, output
    assert "start" in output


def test_a_start_that_raises_after_it_has_received_ends_the_command_in_auto_too_or_is_told(serve_asgi):
    code, output, _ = failed_start("fails_and_raises", "--no-supervisor")
    assert code == 1 and "Traceback of its own" in output


@pytest.mark.parametrize("name", ["raises_at_once", "returns_at_once"])
def test_an_application_without_lifespan_is_served(lives, name):
    server = lives(name)
    assert server.get("/").body == b"served"
    assert server.stop() == 0
    assert "Traceback" not in server.log() and "ERROR" not in server.log()


@pytest.mark.parametrize("name", ["raises_at_once", "returns_at_once", "returns", "wrong"])
def test_an_application_without_lifespan_cannot_start_when_it_is_asked_for(name):
    code, output, _ = failed_start(name, "--lifespan", "on", "--no-supervisor")
    assert code == 1, output
    assert "lifespan" in output.lower() and "Listening at" not in output


@pytest.mark.parametrize("name", ["raises", "fails", "silent", "good", "never_ends"])
def test_without_lifespan_the_application_is_not_asked(lives, name):
    server = lives(name, "--lifespan", "off")
    assert server.get("/").body == b"served"
    assert server.stop() == 0
    assert "got" not in server.log()


@ALONE
@pytest.mark.parametrize("lifespan", ["auto", "on"])
def test_a_start_that_never_ends_is_given_up(alone, lifespan):
    code, output, seconds = failed_start("silent", "--start-timeout", "1s", "--lifespan", lifespan, *alone)
    assert code == 1, output
    assert "start-timeout" in output and "lifespan" in output, output
    assert 0.9 < seconds < 12


def test_a_signal_ends_a_start_that_never_ends():
    command = [
        sys.executable,
        "-m",
        "pronghorn",
        "lifespans:silent",
        "--app-dir",
        str(APPS),
        "--bind",
        "127.0.0.1:0",
        "--no-supervisor",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        time.sleep(1.5)
        process.terminate()
        try:
            assert process.wait(5) in (0, 1, -15)
        finally:
            process.kill()


@pytest.mark.parametrize("name", ["raises_at_the_end", "fails_at_the_end"])
def test_an_end_that_fails_is_told_and_the_exit_code_says_so(lives, name):
    server = lives(name)
    assert server.get("/").body == b"served"
    code = server.stop()
    assert "cannot clean up" in server.log()
    assert code in (0, 1)


def test_an_end_that_never_ends_is_cut_at_the_graceful_timeout(lives):
    server = lives("never_ends", "--graceful-timeout", "1s")
    assert server.get("/").body == b"served"
    began = time.monotonic()
    code = server.stop()
    assert 0.9 < time.monotonic() - began < 6
    assert code in (0, 1)
    assert "lifespan.shutdown in time" in server.log()
    server.kill()


def test_lifespan_that_returns_early_is_no_harm(lives):
    server = lives("returns_started")
    assert server.get("/").body == b"served"
    assert server.stop() == 0


def test_lifespan_that_raises_while_serving_is_told_and_requests_go_on(lives):
    server = lives("raises_started")
    server.wait_for_log("RuntimeError: lost the database")
    assert server.get("/").body == b"served"
    server.stop()


def test_a_message_out_of_turn_raises(lives):
    server = lives("twice")
    assert len(server.wait_for_log("twice raised (.*)")[1]) > 10
    assert server.get("/").body == b"served"


def test_context_variables_of_the_start_are_seen_by_requests_or_are_not_but_always_the_same(lives):
    server = lives("context")
    bodies = set()
    with server.raw() as client:
        for _ in range(5):
            bodies.add(client.ask(get()).body)
    assert len(bodies) == 1


def test_tasks_of_the_start_run_while_requests_are_served(lives):
    server = lives("tasks")
    first = int(server.get("/").body)
    time.sleep(0.3)
    assert int(server.get("/").body) > first + 5
    assert server.stop() == 0
    assert "worked True" in server.log()


def test_the_end_comes_behind_the_requests_in_flight(lives):
    server = lives("in_flight")
    with server.raw() as client:
        client.send(get())
        server.wait_for_log("request begins")
        assert server.stop() == 0
        assert client.read_response().body == b"served"
    log = server.log()
    assert log.index("request ends") < log.index("shutdown begins")


def test_each_worker_has_its_own_lifespan(lives):
    server = lives("good", "--workers", "2", supervised=True)
    assert server.log().count("lifespan.startup") == 2
    assert server.stop() == 0
    assert server.log().count("cleaned up") == 2


def test_a_worker_that_takes_the_place_of_another_has_started_first(lives):
    server = lives("slow", supervised=True)
    server.signal(1)
    for _ in range(30):
        assert server.get("/").body == b"served"
        time.sleep(0.1)
    assert server.log().count("started") >= 2


def test_a_restart_whose_lifespan_fails_leaves_the_old_worker(serve_asgi, tmp_path):
    source = (APPS / "lifespans.py").read_text()
    (tmp_path / "exchange.py").write_text((APPS / "exchange.py").read_text())
    (tmp_path / "lifespans.py").write_text(source)
    server = serve_asgi("lifespans:good", app_dir=tmp_path, supervised=True)
    (tmp_path / "lifespans.py").write_text(
        source.replace('print("got", await receive())', 'raise RuntimeError("no database")', 1).replace(
            "raise RuntimeError", "await receive(); raise RuntimeError", 1
        )
    )
    server.signal(1)
    server.wait_for_log("no database", within=10)
    assert server.get("/").body == b"served"

"""The server's own messages: on standard error, in a file, or in the application's logging."""

from __future__ import annotations

import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.client import Client
from harness.request import get
from harness.server import APPS, READY_WITHIN
from harness.waiting import until

OWN_APPS = Path(__file__).parent / "apps"
FAILED = b"GET /fails HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"


class Quiet:
    """A server on a Unix socket, whose messages go elsewhere than to standard error."""

    def __init__(self, socket: Path, *arguments: str, how: str = ""):
        app = ["logged:app", "--app-dir", str(OWN_APPS)] if how else ["hello:app", "--app-dir", str(APPS)]
        command = [sys.executable, "-m", "pronghorn", *app, "--bind", f"unix:{socket}", "--no-supervisor", *arguments]
        self.socket = socket
        self.process = subprocess.Popen(command, env={"HOW": how}, stderr=subprocess.PIPE, text=True)
        until(self._answers, READY_WITHIN)

    def _answers(self) -> bool:
        assert self.process.poll() is None, self.process.communicate()
        try:
            return self.ask(get(b"Connection: close")) == 200
        except OSError:
            return False

    def ask(self, request: bytes) -> int:
        """The status of the response."""
        with Client(str(self.socket)) as client:
            return client.ask(request).status

    def end(self) -> tuple[int, str]:
        """Stops it; the exit code and what it wrote to standard error."""
        self.process.terminate()
        _, text = self.process.communicate(timeout=15)
        return self.process.returncode, text


@pytest.fixture
def quiet(tmp_path) -> Iterator[Callable[..., Quiet]]:
    """A function that starts a quiet server, which has ended when the test is over."""
    servers: list[Quiet] = []

    def start(*arguments: str, how: str = "") -> Quiet:
        servers.append(Quiet(tmp_path / "socket", *arguments, how=how))
        return servers[-1]

    yield start
    for server in servers:
        server.process.kill()
        server.process.wait()


def test_a_file_takes_the_messages_and_is_reopened(quiet, tmp_path):
    path, old = tmp_path / "log", tmp_path / "old"
    server = quiet("--error-log", str(path))
    until(lambda: "Listening at: " in path.read_text())
    path.rename(old)
    server.process.send_signal(signal.SIGUSR1)
    until(path.exists)
    code, errors = server.end()
    assert (code, errors) == (0, "")
    assert re.search(r"^\[[-0-9]+ [:0-9]+ \+0000\] \[\d+\] \[INFO\] Listening at: ", old.read_text(), re.M)
    assert "SIGTERM" in path.read_text() and "SIGTERM" not in old.read_text()


def test_a_file_that_cannot_be_opened_ends_the_start():
    for check in ([], ["--check-config"]):
        command = [
            sys.executable,
            "-m",
            "pronghorn",
            "hello:app",
            "--app-dir",
            str(APPS),
            "--error-log",
            "/nowhere/log",
        ]
        ended = subprocess.run([*command, *check], capture_output=True, text=True, timeout=30, check=False)
        assert ended.returncode == 1
        assert ended.stderr == (
            "pronghorn: error: cannot open the log /nowhere/log. Its folder does not exist. Check error-log.\n"
        )


def test_a_full_disk_loses_messages_counts_them_and_recovers(quiet, tmp_path):
    path = tmp_path / "log"
    server = quiet("--error-log", str(path), how=str(tmp_path / "unused"))
    _, hard = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (path.stat().st_size + 9, hard))
    for _ in range(3):
        assert server.ask(FAILED) == 500
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
    assert server.ask(FAILED) == 500
    assert server.end() == (0, "")
    lines = path.read_text().splitlines()
    at = lines.index("[3 log messages were lost]")
    assert len(lines[at - 1]) <= 9 and lines[at + 1].endswith("GET /fails: the application failed")


def test_messages_go_through_the_logging_that_the_application_configured(quiet, tmp_path):
    path = tmp_path / "log"
    server = quiet(how=str(path))
    assert server.ask(FAILED) == 500
    code, errors = server.end()
    assert code == 0
    assert errors == ""
    text = path.read_text()
    assert f"INFO|pronghorn.error|{server.process.pid}|Listening at: unix:" in text
    assert "ERROR|pronghorn.error|" in text and "ValueError: asked to: 100% %s" in text
    assert "SIGTERM" in text.splitlines()[-1]


def test_the_level_that_the_application_gave_the_logger_counts(quiet, tmp_path):
    path = tmp_path / "log"
    server = quiet(how=f"{path}|ERROR")
    assert server.ask(FAILED) == 500
    server.end()
    assert path.read_text().startswith("ERROR|pronghorn.error|")


def test_a_file_that_was_asked_for_goes_before_the_logging_of_the_application(quiet, tmp_path):
    path, unused = tmp_path / "log", tmp_path / "unused"
    server = quiet("--error-log", str(path), how=str(unused))
    assert server.ask(FAILED) == 500
    server.end()
    assert "asked to" in path.read_text() and unused.read_text() == ""


def test_a_handler_that_never_comes_back_holds_up_neither_a_request_nor_the_end(quiet):
    server = quiet(how="blocks")
    for _ in range(20):
        assert server.ask(FAILED) == 500
    begin = time.monotonic()
    code, errors = server.end()
    assert code == 0
    assert time.monotonic() - begin < 6
    # All but the one that was taken, and the one that is being taken.
    assert errors.count("ValueError: asked to") >= 18


def test_a_handler_that_raises_costs_no_message(quiet):
    server = quiet(how="raises")
    assert server.ask(FAILED) == 500
    code, errors = server.end()
    assert code == 0
    assert "ValueError: asked to" in errors
    assert "the application's logging failed: LookupError: no room for pronghorn.error" in errors


def test_a_process_that_the_application_forks_writes_to_standard_error(quiet, tmp_path):
    server = quiet(how=str(tmp_path / "log"))
    assert server.ask(get(b"Connection: close", target=b"/forks")) == 200
    code, errors = server.end()
    assert code == 0
    assert "a process that the application forked came back" in errors


def test_logging_is_not_imported_for_the_server(tmp_path):
    (tmp_path / "bare.py").write_text(
        "import sys\n"
        "def app(environ, start_response):\n"
        "    start_response('200 OK', [])\n"
        "    return [str('logging' in sys.modules).encode()]\n"
    )
    socket = tmp_path / "socket"
    command = [sys.executable, "-m", "pronghorn", "bare:app", "--app-dir", str(tmp_path), "--bind", f"unix:{socket}"]
    with subprocess.Popen([*command, "--no-supervisor"], stderr=subprocess.DEVNULL) as server:
        until(socket.exists, READY_WITHIN)
        with Client(str(socket), timeout=20) as client:
            assert client.ask(get()).body == b"False"
        server.terminate()
        assert server.wait(15) == 0

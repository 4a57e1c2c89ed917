"""A server process: started, ready, talked to, stopped, and judged on how it went."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from harness import process
from harness.client import Address, Client
from harness.response import Response
from harness.systemd import handing_over

APPS = Path(__file__).parent.parent / "apps"
READY_WITHIN = 20.0
STOPS_WITHIN = 15.0
LISTENING = re.compile(r"Listening at: (?:http://(\[[^\]]*\]|[^:]*):(\d+)|unix:(\S+))")
PANIC = re.compile(r"panicked at|stack backtrace:|RUST_BACKTRACE")


class Server:
    """A running server.

    `process` is the subprocess; `addresses` has one entry per listener, in the order they were announced: (host, port)
    or the path of a Unix socket; `host`, `port` and `url` are those of the first that is TCP.
    """

    def __init__(
        self,
        command: Sequence[str],
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        sockets: Sequence[socket.socket] = (),
    ):
        self.command = handing_over(sockets, command) if sockets else list(command)
        self.process = subprocess.Popen(
            self.command,
            cwd=cwd,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=[one.fileno() for one in sockets],
        )
        self.addresses: list[Address] = []
        self._lines: list[str] = []
        self._log_ended = False
        self._changed = threading.Condition()
        self._stopped = False
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self.process.pid

    @property
    def host(self) -> str:
        """The host of the first TCP listener."""
        return self._tcp()[0]

    @property
    def port(self) -> int:
        """The port of the first TCP listener."""
        return self._tcp()[1]

    @property
    def url(self) -> str:
        """The base URL of the first TCP listener, without a slash at its end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def wait_ready(self, listeners: int = 1) -> None:
        """Waits until so many listeners were announced; raises AssertionError with the log when that does not happen."""
        if not self._wait(lambda: len(self.addresses) >= listeners, READY_WITHIN):
            self.kill()
            raise AssertionError(f"{' '.join(self.command)} did not get ready; its log:\n{self.log()}")

    def log(self) -> str:
        """What the server has printed so far."""
        with self._changed:
            return "".join(self._lines)

    def wait_for_log(self, pattern: str, within: float = 5.0) -> re.Match[str]:
        """The first match of the regular expression in the log, waiting for it; AssertionError when it does not come."""
        if not self._wait(lambda: re.search(pattern, "".join(self._lines)) is not None, within):
            raise AssertionError(f"{pattern!r} is not in the log after {within} s:\n{self.log()}")
        match = re.search(pattern, self.log())
        assert match is not None
        return match

    def raw(self, timeout: float = 5.0, receive_buffer: int | None = None) -> Client:
        """A new connection to the first listener."""
        return Client(self.addresses[0], timeout, receive_buffer)

    def get(self, path: str = "/", timeout: float = 5.0) -> Response:
        """The response to a GET on a connection of its own."""
        with self.raw(timeout) as client:
            return client.ask(f"GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n".encode())

    def signal(self, number: int) -> None:
        """Sends the process a signal."""
        self.process.send_signal(number)

    def quit_twice(self) -> int:
        """Sends QUIT, and QUIT again, waits for the end and gives the exit code."""
        self.signal(signal.SIGQUIT)
        # Two that came at once would count as one.
        time.sleep(0.2)
        self.signal(signal.SIGQUIT)
        return self.wait(5)

    def stop(self, within: float = STOPS_WITHIN) -> int:
        """Sends TERM, waits for the end and gives the exit code. Kills and raises AssertionError when it does not end."""
        self._stopped = True
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        return self.wait(within)

    def wait(self, within: float = STOPS_WITHIN) -> int:
        """Waits for the process to end by itself, as after a signal a test sent, and gives the exit code."""
        self._stopped = True
        try:
            code = self.process.wait(within)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the server still ran {within} s after it should end; log:\n{self.log()}") from None
        self._reader.join(within)
        return code

    def kill(self) -> None:
        """Ends the process and everything it started, at once."""
        self._stopped = True
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self._reader.join(STOPS_WITHIN)

    def faults(self) -> list[str]:
        """What went wrong with the process so far, a line each: died by itself, panicked, left a process behind."""
        faults = []
        code = self.process.poll()
        if code is not None and not self._stopped:
            faults.append(f"the server ended by itself with exit code {code}")
        if PANIC.search(self.log()):
            faults.append("the server panicked")
        if code is not None and (left := process.group_members(self.pid)):
            faults.append(f"the server left processes behind: {left}")
        return faults

    def _tcp(self) -> tuple[str, int]:
        return next(address for address in self.addresses if not isinstance(address, str))

    def _wait(self, reached: Callable[[], bool], within: float) -> bool:
        deadline = time.monotonic() + within
        with self._changed:
            while not reached():
                remaining = deadline - time.monotonic()
                if remaining <= 0 or self._log_ended:
                    return reached()
                self._changed.wait(remaining)
        return True

    def _read_log(self) -> None:
        assert self.process.stdout is not None
        for raw in self.process.stdout:
            line = raw.decode("utf-8", "replace")
            with self._changed:
                self._lines.append(line)
                self._note_listener(line)
                self._changed.notify_all()
        with self._changed:
            self._log_ended = True
            self._changed.notify_all()

    def _note_listener(self, line: str) -> None:
        match = LISTENING.search(line)
        if match is None:
            return
        host, port, path = match.groups()
        self.addresses.append(path if path else (host.strip("[]"), int(port)))


def pronghorn(
    app: str,
    *args: str,
    app_dir: Path | None = None,
    env: dict[str, str] | None = None,
    supervised: bool = False,
    sockets: Sequence[socket.socket] = (),
) -> Server:
    """Starts `python -m pronghorn APP` and waits until it is ready.

    Binds 127.0.0.1 on a port the kernel chooses unless `args` say where to listen. `app_dir` is where the application's
    module is: tests/apps by default. One process that serves by itself, unless `supervised`. `sockets` are handed over as systemd does, and
    then nothing says where to listen unless `args` do.
    """
    listeners = sum(arg.split("=")[0] in ("--bind", "-b", "--uds", "--fd") for arg in args)
    where = [] if listeners or sockets else ["--bind", "127.0.0.1:0"]
    alone = [] if supervised else ["--no-supervisor"]
    directory = str(app_dir or APPS)
    command = [sys.executable, "-m", "pronghorn", app, *where, *alone, "--app-dir", directory, *args]
    server = Server(command, env=env, sockets=sockets)
    server.wait_ready(listeners or len(sockets) or 1)
    return server

"""Plays systemd: opens sockets for a server, and hears what the server tells."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Sequence
from types import TracebackType

# Run with the numbers of descriptors, `--` and a command: they become the sockets from 3 on of the command, which keeps this
# process's id, as systemd names it.
HANDS_OVER = """
import fcntl, os, sys
at = sys.argv.index("--")
passed = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 100) for number in sys.argv[1:at]]
for place, number in enumerate(passed, 3):
    os.dup2(number, place)
os.environ["LISTEN_PID"] = os.environ.get("LISTEN_PID", str(os.getpid()))
os.environ["LISTEN_FDS"] = str(len(passed))
os.environ["LISTEN_FDNAMES"] = ":".join("web" for _ in passed)
if "WATCHDOG_USEC" in os.environ:
    os.environ["WATCHDOG_PID"] = str(os.getpid())
os.execvp(sys.argv[at + 1], sys.argv[at + 1:])
"""


def handing_over(sockets: Sequence[socket.socket], command: Sequence[str]) -> list[str]:
    """The command that starts `command` as systemd does for a service with sockets."""
    numbers = [str(one.fileno()) for one in sockets]
    return [sys.executable, "-c", HANDS_OVER, *numbers, "--", *command]


class Manager:
    """A service manager that is told of a service, at `address` (a path, or `@` and a name)."""

    def __init__(self, address: str):
        self.address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + address[1:] if address.startswith("@") else address)

    def hears(self, within: float = 10.0) -> dict[str, str]:
        """The next message; TimeoutError when none comes."""
        self._socket.settimeout(within)
        lines = self._socket.recv(65536).decode().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def waits_for(self, name: str, within: float = 10.0) -> dict[str, str]:
        """The next message that says something of `name`, past others."""
        end = time.monotonic() + within
        while True:
            message = self.hears(max(end - time.monotonic(), 0.001))
            if name in message:
                return message

    def is_told_nothing(self, seconds: float) -> bool:
        """Whether no message comes for so long."""
        try:
            self.hears(seconds)
        except TimeoutError:
            return True
        return False

    def __enter__(self) -> Manager:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()
        if not self.address.startswith("@"):
            os.unlink(self.address)

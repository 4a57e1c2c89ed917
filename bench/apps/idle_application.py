"""What WebSockets take that no server can leave out: `idle_application.py COUNT`.

Runs the application of the idle workload so many times, each in a task as an event loop has it, with a scope of its own
and a future that stands for the next message. Prints the bytes each, by the proportional set size.
"""

import asyncio
import sys
from pathlib import Path

from asgi_app import ws_echo

HEADERS = ("host", "upgrade", "connection", "sec-websocket-key", "sec-websocket-version")
STEPS = 5  # more than the application awaits before it waits


class Idle:
    """The `receive` and `send` of a WebSocket of which nothing comes but the connection."""

    __slots__ = ("_connected",)

    def __init__(self):
        """Begin unconnected."""
        self._connected = False

    def receive(self):
        """Return an awaitable: the connection, then something that never comes."""
        future = asyncio.get_running_loop().create_future()
        if not self._connected:
            self._connected = True
            future.set_result({"type": "websocket.connect"})
        return future

    async def send(self, message):
        """Take what is sent."""


def scope_of(number):
    """Return a scope such as servers make for the load generator's handshake; only constants are shared."""
    return {
        "type": "websocket",
        "asgi": ASGI,
        "http_version": "1.1",
        "scheme": "ws",
        "path": "/",
        "raw_path": b"/",
        "query_string": b"",
        "root_path": "",
        "headers": [(name, b"value of connection %d" % number) for name in NAMES],
        "client": (f"127.0.0.{number % 8 + 2}", 10_000 + number),
        "server": SERVER,
        "subprotocols": [],
        "state": {},
        "extensions": {},
    }


async def measure(count):
    """Return the bytes that each of `count` waiting applications takes."""
    tasks = []
    before = proportional_bytes()
    for number in range(count):
        idle = Idle()
        tasks.append(asyncio.ensure_future(ws_echo(scope_of(number), idle.receive, idle.send)))
    for _ in range(STEPS):
        await asyncio.sleep(0)
    grown = proportional_bytes() - before
    if any(task.done() for task in tasks):
        raise AssertionError("an application ended instead of waiting")
    return grown / count


def proportional_bytes():
    """Return this process's proportional set size."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    raise OSError("/proc/self/smaps_rollup does not tell the Pss")


ASGI = {"version": "3.0", "spec_version": "2.5"}
SERVER = ("127.0.0.1", 8000)
NAMES = [name.encode() for name in HEADERS]

if __name__ == "__main__":
    print(round(asyncio.run(measure(int(sys.argv[1])))))
    sys.stdout.flush()
    sys.exit()

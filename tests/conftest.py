"""The fixtures of every test: servers that are started when asked for, and judged when the test is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.server import Server, pronghorn


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """A function that starts a server: `serve(app, *args, app_dir=None, env=None, supervised=False, sockets=()) -> Server`, ready when it
    returns.

    `app` is `module:attribute`, found in `app_dir` (a path; tests/apps by default); `args` are flags; one process serves by
    itself unless it is `supervised`; `sockets` are handed over as systemd does. When the test is over
    each server is stopped with TERM, and the test fails when one died by itself, panicked, did not end or left a process
    behind. What the servers printed is shown with a failure.
    """
    yield from started()


@pytest.fixture(scope="module")
def serve_module() -> Iterator[Callable[..., Server]]:
    """As `serve`, for servers that the tests of a module share: each test must leave alone what others look at.

    They are stopped and judged after the last test of the module.
    """
    yield from started()


@pytest.fixture(scope="session")
def running_servers() -> Iterator[dict[tuple[str, ...], Server]]:
    """The servers that tests share, by application and flags; stopped and judged when all tests are over."""
    servers: dict[tuple[str, ...], Server] = {}
    yield servers
    retire(list(servers.values()))


@pytest.fixture
def share(running_servers: dict[tuple[str, ...], Server]) -> Iterator[Callable[..., Server]]:
    """As `serve`, but a server with the same arguments is used again: for tests that leave no trace in it.

    After each test every server it used must still run.
    """
    used: list[Server] = []

    def get(app: str, *args: str, app_dir: Path | None = None) -> Server:
        key = (str(app_dir), app, *args)
        if key not in running_servers:
            running_servers[key] = pronghorn(app, *args, app_dir=app_dir)
        used.append(running_servers[key])
        return used[-1]

    yield get
    report([(server, server.faults()) for server in used])


def started() -> Iterator[Callable[..., Server]]:
    """The function of `serve`; when it is done with, the servers are stopped and judged."""
    servers: list[Server] = []

    def start(app: str, *args: str, **more: Any) -> Server:
        server = pronghorn(app, *args, **more)
        servers.append(server)
        return server

    yield start
    retire(servers)


def retire(servers: list[Server]) -> None:
    """Stops the servers and fails the test for each that did not run and end as it should."""
    judged = []
    for server in servers:
        faults = server.faults()
        ended = server.process.poll() is not None
        try:
            code = server.stop()
        except AssertionError as error:
            judged.append((server, [*faults, str(error)]))
            continue
        if code != 0 and not ended:
            faults.append(f"exit code {code} after TERM")
        judged.append((server, list(dict.fromkeys([*faults, *server.faults()]))))
        server.kill()
    report(judged)


def report(judged: list[tuple[Server, list[str]]]) -> None:
    """Prints every log (pytest shows it with a failure) and fails when there are faults."""
    for server, _ in judged:
        print(f"--- {' '.join(server.command)}\n{server.log()}")
    faults = [fault for _, faults in judged for fault in faults]
    if faults:
        pytest.fail("; ".join(faults), pytrace=False)

"""The fixture of applications that start slowly or are asked often."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from harness.server import Server, pronghorn


@pytest.fixture(scope="module")
def serve_module() -> Iterator[Callable[..., Server]]:
    """As `serve`, for servers that the tests of a module share: each test must leave alone what others look at.

    They are stopped and judged after the last test of the module.
    """
    servers: list[Server] = []

    def start(*arguments: str, **options: object) -> Server:
        servers.append(pronghorn(*arguments, **options))
        return servers[-1]

    yield start
    faults = [fault for server in servers for fault in server.faults()]
    assert ([server.stop() for server in servers], faults) == ([0] * len(servers), [])

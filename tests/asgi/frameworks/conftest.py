"""The server of a test module that names its application as `APP`, on each event loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from harness.server import Server

pytest.register_assert_rewrite("asgi.frameworks.contract")

APPS = Path(__file__).parent / "apps"


@pytest.fixture(scope="session")
def served_file(tmp_path_factory) -> Path:
    """A file of some size for the applications to send, and for clients to upload."""
    path = tmp_path_factory.mktemp("served") / "paper.bin"
    path.write_bytes(bytes(range(251)) * 8_000)
    return path


@pytest.fixture(scope="module", params=["asyncio", "uvloop"])
def loop(request) -> str:
    """The event loop the module's application runs on."""
    return request.param


@pytest.fixture(scope="module")
def server(serve_module, served_file, loop, request) -> Server:
    """A running application that the tests of the module share."""
    return serve_module(request.module.APP, "--loop", loop, app_dir=APPS, env={"SERVED_FILE": str(served_file)})


@pytest.fixture
def client(server) -> Iterator[httpx.Client]:
    """An HTTP client of the running application. It reads no certificates, which would take longer than most tests."""
    with httpx.Client(base_url=server.url, verify=False) as client:
        yield client


@pytest.fixture
def start(serve, request) -> Callable[[], Server]:
    """A function that starts the module's application for one test."""
    return lambda: serve(request.module.APP, app_dir=APPS)

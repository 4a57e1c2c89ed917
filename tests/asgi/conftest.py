"""What the tests of ASGI share: servers of the applications in `apps`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.server import Server

APPS = Path(__file__).parent / "apps"


@pytest.fixture
def serve_asgi(serve: Callable[..., Server]) -> Callable[..., Server]:
    """As `serve`, of an application in tests/asgi/apps."""

    def start(app: str, *args: str, app_dir: Path = APPS, **more: Any) -> Server:
        return serve(app, *args, app_dir=app_dir, **more)

    return start


@pytest.fixture
def share_asgi(share: Callable[..., Server]) -> Callable[..., Server]:
    """As `share`, of an application in tests/asgi/apps."""

    def get(app: str, *args: str) -> Server:
        return share(app, *args, app_dir=APPS)

    return get


@pytest.fixture(params=["asyncio", "uvloop"])
def loop(request: pytest.FixtureRequest) -> str:
    """The name of an event loop; a test that asks for it is run with each."""
    return str(request.param)

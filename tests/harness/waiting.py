"""Waiting for what another process does."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(reached: Callable[[], bool], within: float = 10.0, what: str = "what is waited for") -> None:
    """Looks again and again until it is so; AssertionError when it is not in time."""
    deadline = time.monotonic() + within
    while not reached():
        assert time.monotonic() < deadline, f"{what}: not so after {within} s"
        time.sleep(0.01)

"""Tasks that go on without their client, for as long as disconnect-grace says."""

from __future__ import annotations

import time

from harness.server import Server

GRACE = 0.4
SHORT_GRACE = ("--disconnect-grace", "400ms")


def assert_ends_by_grace(server: Server, label: str, began: float) -> None:
    """The task of the request that the regular expression tells is cancelled when the grace is over, and that is told once."""
    server.wait_for_log(f"{label}: goes on without its client for longer than disconnect-grace")
    server.wait_for_log("was cancelled")
    assert GRACE - 0.1 < time.monotonic() - began < 3
    assert server.log().count("goes on without") == 1
    assert "ERROR" not in server.log() and "Traceback" not in server.log()

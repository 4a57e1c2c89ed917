"""The workers of a supervisor, as the kernel shows them."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from harness.waiting import until


def workers(supervisor: int) -> set[int]:
    """The children of the process that have not ended."""
    try:
        children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    except OSError:
        return set()
    return {int(child) for child in children if state(int(child)) not in ("Z", "X", None)}


def state(pid: int) -> str | None:
    """The letter the kernel has for what the process does; None when there is none such."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return None


def wait_for_count(supervisor: int, count: int, within: float = 20.0) -> set[int]:
    """The workers, once there are so many."""
    until(lambda: len(workers(supervisor)) == count, within, f"there are {count} workers")
    return workers(supervisor)


def wait_for_others(supervisor: int, before: set[int], count: int, within: float = 60.0) -> set[int]:
    """The workers, once all of those `before` have ended and there are so many others."""

    def replaced() -> bool:
        now = workers(supervisor)
        return len(now) == count and not now & before

    until(replaced, within, f"{count} workers other than {sorted(before)}")
    return workers(supervisor)


def reload(supervisor: int, count: int, within: float = 60.0) -> set[int]:
    """Sends HUP and waits until all workers are new; gives them."""
    before = workers(supervisor)
    os.kill(supervisor, signal.SIGHUP)
    return wait_for_others(supervisor, before, count, within)


def proportional(pid: int) -> int:
    """The memory of the process in bytes, each page it shares divided among those who share it."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"process {pid} has no memory")

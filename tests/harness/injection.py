"""System calls that fail on order: strace makes them (strace(1), "Tampering")."""

from __future__ import annotations

import contextlib
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ATTACHED_WITHIN = 10.0


@contextlib.contextmanager
def failing(pid: int, calls: str, error: str, when: str = "1+", on: Path | None = None) -> Iterator[None]:
    """For a while calls of the process fail with that error, without being made.

    `calls` are names with commas between, a "?" before one that not every machine has; `when` counts the calls of each thread ("3" is
    the third, "2+3" the second and each third after it, "1+" all); `on` limits it to calls on that file. It is an error when none was made.
    """
    place = ["-P", str(on)] if on else []
    order = [f"--trace={calls}", f"--inject={calls}:error={error}:when={when}"]
    with tempfile.NamedTemporaryFile() as trace:
        command = ["strace", "--follow-forks", f"--output={trace.name}", *place, *order, "--attach", str(pid)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as strace:
            try:
                _wait_until_attached(strace)
                yield
            finally:
                strace.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    strace.communicate(timeout=ATTACHED_WITHIN)
                strace.kill()
        assert b"(INJECTED)" in trace.read(), f"no {calls} was made"


def _wait_until_attached(strace: subprocess.Popen[bytes]) -> None:
    assert strace.stderr is not None
    deadline = time.monotonic() + ATTACHED_WITHIN
    while select.select([strace.stderr], [], [], max(0.0, deadline - time.monotonic()))[0]:
        line = strace.stderr.readline()
        if b" attached" in line:
            return
        assert line, "strace ended instead of attaching: it has to be allowed to (root, or kernel.yama.ptrace_scope)"
        assert b"strace: Process" in line, line.decode()
    raise AssertionError(f"strace did not attach within {ATTACHED_WITHIN} s")

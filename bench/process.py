"""Running a server pinned to a core and reading what it costs from /proc."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

SERVER_CORE = 0
LOAD_CORE = 1
START_SECONDS = 15
STOP_SECONDS = 5
TICKS = os.sysconf("SC_CLK_TCK")


class NotReady(Exception):
    """A server that ended, or did not accept connections, within `START_SECONDS`."""


@dataclass(frozen=True)
class CpuClock:
    """Seconds of processor time at one moment.

    `tree` is what the server's processes were charged (user and system). `core` is all that the server's core spent
    busy, so it holds interrupt work charged to nobody, and whatever else ran there.
    """

    tree: float
    core: float


class Server:
    """One server process tree on `SERVER_CORE`, stopped when the `with` block ends."""

    def __init__(self, command, port, environment, cwd, output):
        """Start `command` (a list) in `cwd`; its output goes to the open file `output`."""
        self.port = port
        self._output = output
        self._process = subprocess.Popen(
            ["taskset", "-c", str(SERVER_CORE), *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=os.environ | environment,
            preexec_fn=os.setpgrp,  # a group, to signal it; a session would have its own priority: sched(7), autogroup
        )

    def __enter__(self):
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_exception):
        self.stop()

    def clock(self):
        """Return a `CpuClock` of now."""
        return CpuClock(sum(map(cpu_seconds, self._tree())), _core_busy_seconds(SERVER_CORE))

    def memory(self):
        """Return the proportional and the resident set size of the whole tree, in KiB, as a dict."""
        sizes = [_memory_kib(pid) for pid in self._tree()]
        return {"pss_kib": sum(size["Pss"] for size in sizes), "rss_kib": sum(size["Rss"] for size in sizes)}

    def spread(self):
        """Let the server have every core; return the id of its first process."""
        for pid in self._tree():
            os.sched_setaffinity(pid, range(os.cpu_count()))
        return self._process.pid

    def stop(self):
        """End the process group: politely, then by force."""
        self._signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_SECONDS)
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _tree(self):
        """Return the ids of the server's process and all its descendants."""
        children = {}
        for pid, fields in _all_stat_fields():
            children.setdefault(int(fields[STAT_PPID]), []).append(pid)
        tree, pending = [], [self._process.pid]
        while pending:
            pid = pending.pop()
            tree.append(pid)
            pending.extend(children.get(pid, ()))
        return tree

    def _wait_until_ready(self):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise NotReady(f"it ended with status {self._process.returncode}: {self._last_words()}")
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.02)  # between two attempts to connect, not instead of them
        raise NotReady(f"no connection within {START_SECONDS} s: {self._last_words()}")

    def _last_words(self):
        self._output.seek(0)
        lines = self._output.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it printed nothing"

    def _signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


@contextlib.contextmanager
def priority(nice):
    """Run what the block starts at priority `nice`, against this session's processes and against other sessions'."""
    os.setpriority(os.PRIO_PROCESS, 0, nice)
    _set_autogroup_priority(nice)
    try:
        yield
    finally:
        _set_autogroup_priority(0)  # it belongs to the session, which may outlive this process


def _set_autogroup_priority(nice):
    with contextlib.suppress(FileNotFoundError):  # a kernel without autogroups (sched(7))
        Path("/proc/self/autogroup").write_text(str(nice))


def free_port():
    """Return a TCP port of 127.0.0.1 that was free a moment ago."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def cpu_seconds(pid):
    """User and system time of a process, its ended threads and its waited-for children."""
    fields = _stat_fields(pid)
    return sum(int(fields[index]) for index in STAT_TIMES) / TICKS if fields else 0.0


def _all_stat_fields():
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat_fields(entry.name)):
            yield int(entry.name), fields


def _stat_fields(pid):
    """Fields of /proc/PID/stat from the third on, or None when the process is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return text.rpartition(")")[2].split()  # the name before may hold spaces and brackets


def _memory_kib(pid):
    sizes = {"Pss": 0, "Rss": 0}
    with contextlib.suppress(OSError):  # it ended meanwhile
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
            name, size, _unit = line.split()
            sizes[name.rstrip(":")] = int(size)
    return sizes


def _core_busy_seconds(core):
    for line in Path("/proc/stat").read_text().splitlines():
        if line.startswith(f"cpu{core} "):
            user, nice, system, _idle, _iowait, irq, softirq = map(int, line.split()[1:8])
            return (user + nice + system + irq + softirq) / TICKS
    raise ValueError(f"/proc/stat does not list core {core}: the benchmarks need two cores")


# Indexes into `_stat_fields`: proc(5) numbers the fields from 1 and the third is our first.
STAT_PPID = 4 - 3
STAT_TIMES = (14 - 3, 15 - 3, 16 - 3, 17 - 3)

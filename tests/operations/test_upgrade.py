"""USR2 under load: another supervisor takes over, and no request is lost."""

import os
import signal
from pathlib import Path

import pytest

from harness import fleet, process
from harness.load import Load
from harness.waiting import until

APPS = Path(__file__).parent / "apps"
IMPORTING = "2"


@pytest.mark.timeout(120)
def test_a_new_supervisor_takes_over_and_loses_nothing(supervised, tmp_path):
    pid_file = tmp_path / "pid"
    server = supervised(2, "--pid", str(pid_file), importing=IMPORTING)
    supervisor = server.pid
    with Load(server.addresses[0]) as load:
        for _ in range(4):
            before = supervisor
            os.kill(before, signal.SIGUSR2)
            until(lambda before=before: fleet.state(before) in (None, "Z"), 30, "the supervisor before has ended")
            supervisor = int(pid_file.read_text())
            assert supervisor != before
            fleet.wait_for_count(supervisor, 2)
    load.stop().assert_nothing_lost()
    assert server.process.wait(1) == 0
    os.kill(supervisor, signal.SIGTERM)
    assert server.wait() == 0
    until(lambda: not process.group_members(server.pid), 10, "all have ended")
    assert not pid_file.exists()


def test_a_new_supervisor_that_cannot_start_changes_nothing(supervised, numbered):
    good = numbered.read_text()
    server = supervised(2, app_dir=numbered.parent)
    before = fleet.workers(server.pid)
    with Load(server.addresses[0]) as load:
        numbered.write_text("def app(:\n")
        server.signal(signal.SIGUSR2)
        server.wait_for_log("ended before it was ready", 20)
        until(lambda: fleet.workers(server.pid) == before, 5, "the old workers are there alone")
        numbered.write_text(good)
        fleet.reload(server.pid, 2)
    load.stop().assert_nothing_lost()


def test_signals_reach_the_workers_of_a_new_supervisor(supervised, tmp_path):
    pid_file = tmp_path / "pid"
    server = supervised(1, "--pid", str(pid_file))
    (before,) = fleet.workers(server.pid)
    blocked = blocked_signals(before)
    server.signal(signal.SIGUSR2)
    assert server.process.wait(10) == 0
    supervisor = int(pid_file.read_text())
    (worker,) = fleet.wait_for_count(supervisor, 1)
    assert blocked_signals(worker) == blocked
    os.kill(worker, signal.SIGTERM)
    fleet.wait_for_others(supervisor, {worker}, 1)
    os.kill(supervisor, signal.SIGTERM)
    assert server.wait() == 0
    fleet.until(lambda: not process.group_members(server.pid), 10, "all have ended")


def blocked_signals(pid: int) -> str:
    """The signals that wait, as the kernel has it."""
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigBlk:")]
    return line

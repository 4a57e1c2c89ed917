"""What a supervisor does at an end: of a worker that takes its time, of the server, of a handover that is broken off."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from harness import fleet, process

APPS = Path(__file__).parent / "apps"
TICKS = os.sysconf("SC_CLK_TCK")


def seconds_of_cpu(pid):
    """The processor time the process has taken so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def blocked(pid):
    """The signals that the main thread of the process lets wait."""
    status = Path(f"/proc/{pid}/status").read_text()
    mask = int(status.split("SigBlk:")[1].split()[0], 16)
    return {number for number in range(1, 65) if mask >> (number - 1) & 1}


def test_a_worker_that_takes_its_time_to_end_costs_the_supervisor_nothing(supervised):
    server = supervised(1, app="lingering:app")
    worker = int(server.get("/thread").body)
    before = seconds_of_cpu(server.pid)
    server.signal(signal.SIGHUP)
    server.wait_for_log(rf"worker {worker} has ended", 10)
    assert seconds_of_cpu(server.pid) - before < 1


@pytest.mark.parametrize("reloads", [0, 1])
def test_the_address_is_free_at_the_end_whatever_the_application_has_forked(supervised, reloads):
    server = supervised(2, app="lingering:app")
    server.get("/process")
    for _ in range(reloads):
        fleet.reload(server.pid, 2)
    assert server.stop() == 0
    left = process.group_members(server.pid)
    assert left
    try:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(server.addresses[0], 2)
    finally:
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        fleet.until(lambda: not process.group_members(server.pid), 5, "all have ended")


def test_what_was_cut_by_a_replacement_is_no_failure_of_the_end(supervised):
    server = supervised(1, "--graceful-timeout", "1s", app="lingering:app")
    with server.raw() as client:
        client.send(b"GET /slow HTTP/1.1\r\nHost: test\r\n\r\n")
        server.signal(signal.SIGHUP)
        server.wait_for_log("while it was ending", 10)
    assert server.stop() == 0


def test_an_end_ends_the_supervisor_that_was_to_take_over(supervised):
    server = supervised(1, importing="1")
    server.signal(signal.SIGUSR2)
    server.wait_for_log("is started to take over")
    assert server.stop() == 0
    fleet.until(lambda: not process.group_members(server.pid), 10, "all have ended")


def test_workers_hear_signals_after_a_handover(supervised, tmp_path):
    pid_file = tmp_path / "pid"
    server = supervised(1, "--pid", str(pid_file))
    server.signal(signal.SIGUSR2)
    fleet.until(lambda: fleet.state(server.pid) in (None, "Z"), 20, "the supervisor before has ended")
    supervisor = int(pid_file.read_text())
    (worker,) = fleet.wait_for_count(supervisor, 1)
    assert not blocked(worker)
    os.kill(worker, signal.SIGTERM)
    fleet.wait_for_others(supervisor, {worker}, 1)
    os.kill(supervisor, signal.SIGTERM)
    assert server.wait() == 0
    fleet.until(lambda: not process.group_members(server.pid), 10, "all have ended")


def test_threads_of_an_application_imported_before_the_fork_take_no_signals(supervised):
    server = supervised(1, "--preload", app="lingering:app")
    fleet.reload(server.pid, 1)
    assert server.stop() == 0


def test_a_reload_does_not_wait_for_a_reader_of_its_warnings(free_pipe):
    reader, writer = free_pipe
    command = [sys.executable, "-m", "pronghorn", "numbered:app", "--app-dir", str(APPS), "--bind", "127.0.0.1:0"]
    environment = {**os.environ, "PRONGHORN_NO_SUCH_SETTING": "1"}
    with subprocess.Popen(command, stderr=writer, env=environment, start_new_session=True) as server:
        try:
            said = b""
            while b"Listening at" not in said:
                said += os.read(reader, 4096)
            assert b"PRONGHORN_NO_SUCH_SETTING" in said
            fill(writer)
            fleet.reload(server.pid, 1)
            server.send_signal(signal.SIGTERM)
            assert server.wait(15) == 0
        finally:
            process_group_killed(server.pid)


@pytest.fixture
def free_pipe():
    """Both ends of a pipe."""
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def fill(writer):
    """Leaves no room in the pipe."""
    os.set_blocking(writer, False)
    for size in (4096, 1):
        try:
            while True:
                os.write(writer, b"x" * size)
        except BlockingIOError:
            pass
    os.set_blocking(writer, True)


def process_group_killed(group):
    """Ends what is left of it."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def test_one_worker_less_than_none_is_none(supervised):
    server = supervised(2)
    server.signal(signal.SIGWINCH)
    fleet.wait_for_count(server.pid, 0)
    server.signal(signal.SIGTTOU)
    server.wait_for_log("SIGTTOU: there is no worker")
    assert not fleet.workers(server.pid)
    server.signal(signal.SIGHUP)
    fleet.wait_for_count(server.pid, 2)
    assert server.stop() == 0


def test_workers_end_with_a_supervisor_that_dies_before_it_hears_them(supervised):
    server = supervised(1, "--max-requests", "1")
    server.signal(signal.SIGSTOP)
    fleet.until(lambda: fleet.state(server.pid) == "T", 10, "the supervisor is stopped")
    for _ in range(5):
        # With the first one the worker asks to be replaced.
        assert server.get().status == 200
    server.signal(signal.SIGKILL)
    server.wait()
    fleet.until(lambda: not process.group_members(server.pid), 5, "all have ended")

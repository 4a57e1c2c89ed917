"""System calls of the supervisor that fail: it and its workers go on."""

import contextlib
import os
import resource
import signal
import time

import pytest

from harness import fleet, process
from harness.injection import failing
from harness.load import Load
from harness.request import get
from harness.waiting import until
from rules.exhaustion import limited


@pytest.mark.parametrize(("calls", "error"), [("?clone,?clone3,?fork,?vfork", "EAGAIN"), ("socketpair", "EMFILE")])
def test_a_worker_that_cannot_be_started_is_tried_again(supervised, calls, error):
    server = supervised(2)
    victim = fleet.workers(server.pid).pop()
    with Load(server.addresses[0], kept=0, fresh=50) as load:
        with failing(server.pid, calls, error):
            server.signal(signal.SIGHUP)
            server.wait_for_log("could not be started")
        used = process.cpu_seconds(server.pid)
        fleet.reload(server.pid, 2)
        assert process.cpu_seconds(server.pid) - used < 1.0, "it spins"
    load.stop().assert_nothing_lost()
    assert victim not in fleet.workers(server.pid)


@pytest.mark.parametrize("when", ["1+2", "2+2"])
@pytest.mark.parametrize(
    "calls", ["?poll,?ppoll", "?wait4,?waitid", "?read,?recvfrom,?recvmsg", "?write,?sendto,?sendmsg"]
)
def test_a_call_that_is_interrupted_is_made_again(supervised, calls, when):
    """Each second one: whichever of them matters, it is among those of one `when`."""
    server = supervised(2)
    with Load(server.addresses[0]) as load, failing(server.pid, calls, "EINTR", when):
        fleet.reload(server.pid, 2)
        worker = fleet.workers(server.pid).pop()
        kills = [(time.monotonic(), worker)]
        os.kill(worker, signal.SIGKILL)
        server.wait_for_log("was killed")
        fleet.wait_for_count(server.pid, 2)
        # Before strace lets go of the workers: a call it has replaced may then fail as one that the system does not have.
        load.stop().assert_lost_to(kills)
    assert process.cpu_seconds(server.pid) < 2.0


def test_an_end_is_seen_though_the_look_for_it_is_interrupted(supervised):
    """All that tells of the end has come when the supervisor looks: it looks once."""
    server = supervised(2)
    worker = fleet.workers(server.pid).pop()
    with failing(server.pid, "?wait4,?waitid", "EINTR", "1"):
        server.signal(signal.SIGSTOP)
        until(lambda: fleet.state(server.pid) in ("T", "t"), 10.0, "the supervisor is stopped")
        os.kill(worker, signal.SIGKILL)
        until(lambda: fleet.state(worker) == "Z", 10.0, "the worker has ended")
        server.signal(signal.SIGCONT)
        server.wait_for_log(f"worker {worker} was killed")
    fleet.wait_for_count(server.pid, 2)


@pytest.mark.parametrize("when", ["1+2", "2+2"])
def test_a_successor_takes_over_though_calls_are_interrupted(supervised, tmp_path, when):
    pid_file = tmp_path / "pid"
    server = supervised(1, "--pid", str(pid_file))
    with failing(server.pid, "?recvfrom,?recvmsg", "EINTR", when):
        server.signal(signal.SIGUSR2)
        server.wait_for_log("has taken over")
    assert server.process.wait(10) == 0
    successor = int(pid_file.read_text())
    fleet.wait_for_count(successor, 1)
    os.kill(successor, signal.SIGTERM)
    assert server.wait() == 0
    until(lambda: not process.group_members(server.pid), 10, "all have ended")


def test_no_connection_waits_for_a_worker_that_is_out_of_descriptors(supervised):
    server = supervised(2)
    worker = fleet.workers(server.pid).pop()
    with contextlib.ExitStack() as scope:
        scope.enter_context(limited(worker, resource.RLIMIT_NOFILE, process.descriptors(worker) + 5))
        for _ in range(40):
            client = scope.enter_context(server.raw())
            started = time.monotonic()
            assert client.ask(get(target=b"/x")).status == 200
            assert time.monotonic() - started < 1.0

"""The process that watches over the workers: what it costs, what it does when they or it die."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness import fleet, process
from harness.load import Load
from harness.request import get
from harness.response import Aborted
from harness.server import Server
from harness.waiting import until

APPS = Path(__file__).parent / "apps"
MIB = 1024 * 1024


@pytest.mark.parametrize("count", [1, 4])
def test_the_supervisor_takes_little_beside_its_workers(supervised, count):
    server = supervised(count)
    with Load(server.addresses[0]) as load:
        fleet.reload(server.pid, count)
        time.sleep(1)
    load.stop().assert_nothing_lost()
    assert fleet.proportional(server.pid) <= 4 * MIB


def test_the_supervisor_imports_nothing_of_the_application(supervised):
    server = supervised(1)
    maps = Path(f"/proc/{server.pid}/maps").read_text()
    assert process.threads(server.pid) == 1
    assert "numbered" not in maps
    assert server.get("/x").body != b"%d x" % server.pid


@pytest.mark.parametrize("broken", ["import nowhere_to_be_found", "raise ValueError('not today')", "def app(:"])
def test_an_application_that_cannot_be_imported_ends_the_start_with_one_traceback(tmp_path, broken):
    (tmp_path / "broken.py").write_text(f"{broken}\n")
    done = start(tmp_path, "broken:app", "--workers", "4")
    assert done.returncode not in (0, None)
    told = re.findall(r"^(?:ModuleNotFoundError|ValueError|SyntaxError): ", done.stderr, re.MULTILINE)
    assert len(told) == 1 and done.stderr.count('broken.py", line 1') == 1, done.stderr


def test_a_worker_that_dies_at_its_start_ends_the_start(tmp_path):
    (tmp_path / "broken.py").write_text("import os\nos._exit(7)\n")
    done = start(tmp_path, "broken:app", "--workers", "2")
    assert done.returncode not in (0, None)
    assert done.stderr == (
        "pronghorn: error: a worker ended with exit code 7 before it was ready. Something ended it while it imported the "
        "application. See what that does when it is imported.\n"
    )


SLOW_START = (
    "pronghorn: error: a worker was not ready within start-timeout. Importing the application, or its lifespan start-up, "
    "takes longer. "
)


def test_a_first_worker_that_takes_too_long_ends_the_start_and_says_so(tmp_path):
    (tmp_path / "endless.py").write_text("import time\ntime.sleep(60)\n")
    done = start(tmp_path, "endless:app", "--start-timeout", "300ms")
    assert done.returncode == 1
    assert done.stderr.startswith(SLOW_START), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


def test_a_loop_of_crashes_slows_down_and_says_why(supervised, numbered):
    good = numbered.read_text()
    server = supervised(2, app_dir=numbered.parent)
    victim, other = sorted(fleet.workers(server.pid))
    numbered.write_text("raise ValueError('not today')\n")
    with Load(server.addresses[0], kept=0, fresh=50) as load:
        time.sleep(1.1)
        os.kill(victim, signal.SIGKILL)
        server.wait_for_log(f"worker {victim} .*SIGKILL")
        server.wait_for_log("ValueError: not today")
        time.sleep(6)
        assert fleet.workers(server.pid) >= {other}
        tries = server.log().count("could not start")
        assert 3 <= tries <= 5, "it is tried again, but not at once each time"
        numbered.write_text(good)
        until(lambda: len(fleet.workers(server.pid)) == 2, 20, "the worker is back")
        server.wait_for_log("is ready", 20)
    report = load.stop()
    assert all(failure.failed < load.report.answers[-1].due for failure in report.failures)
    assert len(report.failures) <= 2


def test_workers_of_a_killed_supervisor_answer_and_end(supervised):
    server = supervised(2)
    workers = fleet.workers(server.pid)
    with server.raw() as client:
        client.send(get(target=b"/1/last"))
        time.sleep(0.2)
        server.signal(signal.SIGKILL)
        response = client.read_response()
        assert response.status == 200 and response.closes and response.body.endswith(b" last")
    until(lambda: all(fleet.state(worker) in (None, "Z") for worker in workers), 10, "the workers have ended")
    assert server.wait() == -signal.SIGKILL
    with pytest.raises(ConnectionRefusedError):
        server.raw()


def test_a_worker_that_is_stopped_holds_up_no_new_connection(supervised):
    server = supervised(2)
    worker = fleet.workers(server.pid).pop()
    with Load(server.addresses[0], kept=0, fresh=100) as load:
        time.sleep(0.5)
        os.kill(worker, signal.SIGSTOP)
        stopped = time.monotonic()
        time.sleep(2)
        os.kill(worker, signal.SIGCONT)
    report = load.stop()
    report.assert_nothing_lost()
    late = [answer for answer in report.answers if answer.due > stopped and answer.seconds > 1]
    assert len(late) <= 2, "only what it had in flight waits"


def test_a_stop_lets_requests_end_and_a_quick_one_does_not_wait(supervised):
    server = supervised(2)
    with server.raw() as client:
        client.send(get(target=b"/1/last"))
        time.sleep(0.2)
        server.signal(signal.SIGTERM)
        assert client.read_response().status == 200
    assert server.wait(5) == 0
    quick = supervised(2)
    with quick.raw() as client:
        client.send(get(target=b"/30/last"))
        time.sleep(0.2)
        started = time.monotonic()
        quick.signal(signal.SIGQUIT)
        quick.wait(5)
        assert time.monotonic() - started < 4
        with pytest.raises(Aborted):
            client.read_response()


def test_an_interrupt_of_the_terminal_ends_all_of_the_group(supervised):
    server = supervised(2)
    os.killpg(server.pid, signal.SIGINT)
    assert server.wait(5) == 0
    assert not process.group_members(server.pid)


def test_process_1_looks_after_what_others_leave_behind():
    command = [sys.executable, "-m", "pronghorn", "parenting:app", "--app-dir", str(APPS), "--bind", "127.0.0.1:0"]
    server = Server(["unshare", "--pid", "--fork", "--mount-proc", *command, "--workers", "2"])
    try:
        server.wait_ready()
        (supervisor,) = fleet.wait_for_count(server.pid, 1)
        workers = fleet.wait_for_count(supervisor, 2)
        for _ in range(20):
            assert int(server.get().body) > 1
        until(lambda: all_children(supervisor) == workers, 10, "only the workers are left")
        os.kill(supervisor, signal.SIGTERM)
        assert server.wait(10) == 0
    finally:
        server.kill()


def all_children(pid):
    """Those that have ended too, and wait to be looked after."""
    return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def start(folder, *arguments):
    """The end of a start that fails."""
    command = [sys.executable, "-m", "pronghorn", *arguments, "--bind", "127.0.0.1:0"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=30)


@pytest.mark.parametrize("threads", ["1", "8"])
@pytest.mark.parametrize("is_supervised", [True, False])
def test_the_application_is_told_the_truth_about_threads_and_processes(serve, threads, is_supervised):
    server = serve("environment:app", "--threads", threads, supervised=is_supervised)
    seen = server.get().json()
    assert seen["wsgi.multithread"] is (threads == "8")
    assert seen["wsgi.multiprocess"] is is_supervised

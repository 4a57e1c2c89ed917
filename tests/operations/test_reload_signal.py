"""HUP under load: settings and code are read anew, workers are replaced one by one, and no request is lost."""

import os
import signal
import time
from pathlib import Path

import pytest

from harness import fleet, process
from harness.load import Load
from harness.waiting import until

APPS = Path(__file__).parent / "apps"
HUPS = int(os.environ.get("HUPS", "50"))
SLOW_HUPS = int(os.environ.get("SLOW_HUPS", "50"))
IMPORTING = "2"
MIB = 1024 * 1024


@pytest.mark.timeout(400)
def test_reloads_of_an_application_that_takes_long_to_import_lose_nothing(supervised):
    server = supervised(1, importing=IMPORTING)
    with Load(server.addresses[0]) as load:
        for _ in range(SLOW_HUPS):
            fleet.reload(server.pid, 1)
    load.stop().assert_nothing_lost()
    assert len(load.report.workers()) > SLOW_HUPS


@pytest.mark.timeout(400)
def test_reloads_of_four_workers_lose_nothing_and_leave_nothing_in_the_supervisor(supervised):
    server = supervised(4)
    with Load(server.addresses[0]) as load:
        for _ in range(5):
            fleet.reload(server.pid, 4)
        descriptors, memory = process.descriptors(server.pid), fleet.proportional(server.pid)
        for _ in range(HUPS):
            fleet.reload(server.pid, 4)
        assert process.descriptors(server.pid) <= descriptors
        assert fleet.proportional(server.pid) - memory < MIB
    load.stop().assert_nothing_lost()
    assert len(load.report.workers()) > 2 * HUPS


def test_the_supervisor_waits_for_workers_without_a_spin(supervised):
    server = supervised(3, importing="1")
    used = process.cpu_seconds(server.pid)
    fleet.reload(server.pid, 3)
    assert process.cpu_seconds(server.pid) - used < 0.5, "it spins"


def test_reloads_that_overtake_each_other_lose_nothing(supervised):
    server = supervised(2, importing="0.5")
    before = fleet.workers(server.pid)
    with Load(server.addresses[0]) as load:
        for _ in range(20):
            server.signal(signal.SIGHUP)
            time.sleep(0.25)
        fleet.wait_for_others(server.pid, before, 2)
    load.stop().assert_nothing_lost()


def test_slow_requests_survive_a_reload(supervised):
    server = supervised(2)
    with Load(server.addresses[0], kept=20, fresh=20, path="/0.5/{id}") as load:
        for _ in range(5):
            fleet.reload(server.pid, 2)
    load.stop().assert_nothing_lost()


def test_a_unix_socket_outlives_its_workers(serve, tmp_path):
    server = serve("numbered:app", "--bind", f"unix:{tmp_path}/socket", "--workers", "2", app_dir=APPS, supervised=True)
    fleet.wait_for_count(server.pid, 2)
    with Load(server.addresses[0]) as load:
        for _ in range(5):
            fleet.reload(server.pid, 2)
    load.stop().assert_nothing_lost()


def test_an_application_that_was_imported_before_the_fork_is_served_on(supervised):
    server = supervised(3, "--preload", importing="0.5")
    with Load(server.addresses[0]) as load:
        for _ in range(5):
            fleet.reload(server.pid, 3)
        worker = fleet.workers(server.pid).pop()
    load.stop().assert_nothing_lost()
    os.kill(worker, signal.SIGKILL)
    until(lambda: worker not in fleet.workers(server.pid), 5, "it has ended")
    fleet.wait_for_count(server.pid, 3)


def test_a_stop_in_the_middle_of_a_reload_answers_what_is_in_flight(supervised):
    server = supervised(2, importing="1")
    with Load(server.addresses[0], kept=20, fresh=0, path="/0.5/{id}") as load:
        time.sleep(0.6)
        server.signal(signal.SIGHUP)
        time.sleep(0.5)
        server.signal(signal.SIGTERM)
        assert server.wait(5) == 0
    report = load.stop()
    assert {failure.reason.partition(":")[0] for failure in report.failures} <= {"ConnectionRefusedError"}, report


def test_a_worker_that_does_not_get_ready_in_time_is_given_up_and_the_old_one_stays(supervised, numbered):
    good = numbered.read_text()
    server = supervised(2, "--start-timeout", "1s", app_dir=numbered.parent)
    before = fleet.workers(server.pid)
    with Load(server.addresses[0]) as load:
        numbered.write_text("import time\ntime.sleep(600)\n")
        server.signal(signal.SIGHUP)
        server.wait_for_log("before it was ready")
        assert fleet.workers(server.pid) == before
        numbered.write_text(good)
        fleet.reload(server.pid, 2)
    load.stop().assert_nothing_lost()


@pytest.mark.timeout(120)
def test_a_broken_version_leaves_the_old_workers_and_is_told_of(supervised, numbered):
    good = numbered.read_text()
    server = supervised(3, app_dir=numbered.parent)
    before = fleet.workers(server.pid)
    with Load(server.addresses[0]) as load:
        for broken, told in (("def app(:\n", "SyntaxError"), ("import nowhere_to_be_found\n", "ModuleNotFoundError")):
            numbered.write_text(broken)
            server.signal(signal.SIGHUP)
            server.wait_for_log(rf"{told}[\s\S]*exit code 3 before it was ready; the reload is given up")
            time.sleep(0.5)
            assert fleet.workers(server.pid) == before
        numbered.write_text("import os\nos._exit(7)\n")
        server.signal(signal.SIGHUP)
        server.wait_for_log("exit code 7")
        time.sleep(0.5)
        assert fleet.workers(server.pid) == before
        numbered.write_text(good)
        fleet.reload(server.pid, 3)
    load.stop().assert_nothing_lost()


def test_a_reload_reads_the_settings(serve, tmp_path):
    settings = tmp_path / "pronghorn.toml"
    settings.write_text("workers = 1\n")
    server = serve("numbered:app", "-c", str(settings), app_dir=APPS, supervised=True)
    fleet.wait_for_count(server.pid, 1)
    with Load(server.addresses[0]) as load:
        settings.write_text("workers = 3\n")
        fleet.reload(server.pid, 3)
        settings.write_text("workers = 'many'\n")
        server.signal(signal.SIGHUP)
        server.wait_for_log("many")
        time.sleep(0.5)
        assert len(fleet.workers(server.pid)) == 3
    load.stop().assert_nothing_lost()

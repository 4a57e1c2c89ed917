"""Workers that are replaced for what they have done, or killed, under load: no request is lost but those that a killed one had."""

import os
import random
import signal
import time

import pytest

from harness import fleet, process
from harness.load import Load
from harness.waiting import until

IMPORTING = "2"
MIB = 1024 * 1024


@pytest.mark.parametrize(("importing", "count"), [("0", 30), (IMPORTING, 8)])
def test_max_requests_loses_nothing(supervised, importing, count):
    server = supervised(2, "--max-requests", "50", "--max-requests-jitter", "10", importing=importing)
    with Load(server.addresses[0]) as load:
        until(lambda: len(load.report.workers()) >= count, 50, f"{count} workers have answered")
    load.stop().assert_nothing_lost()
    assert "is started to replace one that has served max-requests" in server.log()


def test_max_lifetime_loses_nothing(supervised):
    server = supervised(2, "--max-lifetime", "1s", "--max-lifetime-jitter", "500ms", importing="0.5")
    with Load(server.addresses[0]) as load:
        until(lambda: len(load.report.workers()) >= 8, 50, "8 workers have answered")
    load.stop().assert_nothing_lost()
    assert "is started to replace one that has reached max-lifetime" in server.log()


def test_max_memory_loses_nothing(supervised):
    server = supervised(2, "--max-memory", "100MiB", app="growing:app")
    with Load(server.addresses[0], kept=30, fresh=30) as load:
        until(lambda: len(load.report.workers()) >= 6, 50, "workers were replaced for their memory")
    load.stop().assert_nothing_lost()
    assert "is started to replace one that takes more than max-memory" in server.log()


def test_workers_that_drain_for_winch_come_back_with_a_reload(supervised):
    server = supervised(2)
    with Load(server.addresses[0]) as load:
        time.sleep(0.5)
        server.signal(signal.SIGWINCH)
        fleet.wait_for_count(server.pid, 0)
        time.sleep(0.5)
        server.signal(signal.SIGHUP)
        fleet.wait_for_count(server.pid, 2)
        time.sleep(0.5)
    load.stop().assert_nothing_lost()


def test_killed_idle_workers_cost_nothing(supervised):
    server = supervised(2, importing="0.3")
    for turn in range(1, 6):
        for worker in fleet.workers(server.pid):
            os.kill(worker, signal.SIGKILL)
        with Load(server.addresses[0], kept=50, fresh=50) as load:
            wait_for_ready(server, 2 + 2 * turn)
            # A worker that ends within a second of its start is not replaced at once.
            time.sleep(1.1)
        load.stop().assert_nothing_lost()


@pytest.mark.timeout(120)
def test_workers_killed_under_load_cost_what_they_had_in_flight(supervised):
    server = supervised(3, importing=IMPORTING)
    kills = []
    with Load(server.addresses[0]) as load:
        for worker in fleet.workers(server.pid):
            time.sleep(1)
            kills.append((time.monotonic(), worker))
            os.kill(worker, signal.SIGKILL)
            server.wait_for_log(f"worker {worker} was killed")
            wait_for_ready(server, 3 + len(kills))
    load.stop().assert_lost_to(kills)
    assert load.report.percentile(1.0) < 1.5, "the others had answered meanwhile"


def test_more_and_fewer_workers_lose_nothing(supervised):
    server = supervised(1, importing="0.3")
    with Load(server.addresses[0]) as load:
        for number, count in [(signal.SIGTTIN, 2), (signal.SIGTTIN, 3), (signal.SIGTTOU, 2), (signal.SIGTTOU, 1)] * 3:
            server.signal(number)
            fleet.wait_for_count(server.pid, count)
    load.stop().assert_nothing_lost()


def test_fewer_than_one_worker_are_not_to_be_had(supervised):
    server = supervised(1)
    only = fleet.workers(server.pid)
    server.signal(signal.SIGTTOU)
    server.wait_for_log("SIGTTOU")
    with Load(server.addresses[0]) as load:
        time.sleep(1)
    load.stop().assert_nothing_lost()
    assert fleet.workers(server.pid) == only


@pytest.mark.timeout(150)
def test_a_minute_of_kills_costs_what_was_in_flight(supervised):
    seconds = float(os.environ.get("KILLING_SECONDS", "60"))
    server = supervised(4, importing="0.2")
    descriptors, memory = process.descriptors(server.pid), fleet.proportional(server.pid)
    kills = []
    chance = random.Random(int(os.environ.get("STRESS_SEED", "1")))
    with Load(server.addresses[0], path="/0.02/{id}") as load:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(chance.uniform(0.0, 1.0))
            alive = sorted(fleet.workers(server.pid))
            if len(alive) > 1:
                worker = chance.choice(alive)
                kills.append((time.monotonic(), worker))
                os.kill(worker, signal.SIGKILL)
        # One that is killed again and again is started again later and later, but for a reload.
        fleet.reload(server.pid, 4)
    load.stop().assert_lost_to(kills)
    assert process.descriptors(server.pid) <= descriptors
    assert fleet.proportional(server.pid) - memory < MIB
    assert process.cpu_seconds(server.pid) < seconds / 4, "the supervisor spins"


def wait_for_ready(server, count):
    """So many workers have said that they are ready."""
    until(lambda: server.log().count("is ready") >= count, 10, f"{count} workers were ready")

"""Metrics and health of a server with several workers: one answer for all, whichever worker gives it."""

import os
import re
import signal
import sys
import threading
from pathlib import Path

import pytest

from harness import process
from harness.client import Client
from harness.metrics import Metrics, metrics_once
from harness.request import get
from harness.server import Server

APPS = Path(__file__).parent / "apps"


def scrape(server):
    return server.get("/metrics")


def answered(metrics):
    return metrics.value("requests_total", method="GET", status="2xx")


def workers(server):
    return [int(pid) for pid in re.findall(r"worker (\d+) is ready", server.log())]


def test_one_answer_is_that_of_all_workers(serve):
    server = serve("hello:app", "--workers", "3", "--metrics", "/metrics", supervised=True)
    for _ in range(30):
        assert server.get("/").status == 200
    for _ in range(5):
        metrics = metrics_once(lambda: scrape(server), lambda metrics: answered(metrics) == 30)
        assert metrics.value("request_duration_seconds_count") == 30
        assert metrics.value("workers", state="ready") == 3
        assert metrics.value("threads", state="idle") == 3 * 8
    for number in range(3):
        assert metrics.value("worker_resident_memory_bytes", worker=str(number)) > 1_000_000
    resident = metrics.value("supervisor_resident_memory_bytes")
    assert resident == pytest.approx(process.resident(server.pid), rel=0.2)


@pytest.mark.parametrize("reason", ["hup", "crash", "requests"])
def test_no_counter_goes_back_when_workers_are_replaced(serve, reason):
    limit = ["--max-requests", "40"] if reason == "requests" else []
    server = serve("hello:app", "--workers", "2", "--metrics", "/metrics", *limit, supervised=True)
    for _ in range(20):
        server.get("/")
    before = metrics_once(lambda: scrape(server), lambda metrics: answered(metrics) == 20)
    assert before.value("worker_restarts_total", reason=reason) == 0
    seen = [20.0]
    done = threading.Event()

    def watch():
        while not done.is_set():
            seen.append(answered(Metrics(scrape(server))))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        if reason == "hup":
            server.signal(signal.SIGHUP)
        elif reason == "crash":
            os.kill(workers(server)[0], signal.SIGKILL)
        else:
            for _ in range(100):
                assert server.get("/").status == 200
        count = 4 if reason == "hup" else 3
        server.wait_for_log(rf"(?s)(worker \d+ is ready.*){{{count}}}", 20)
    finally:
        done.set()
        watcher.join()
    assert seen == sorted(seen), "a counter went back"
    wanted = {"hup": 2, "crash": 1, "requests": 1}[reason]
    metrics = metrics_once(
        lambda: scrape(server), lambda metrics: metrics.value("worker_restarts_total", reason=reason) >= wanted
    )
    if reason != "requests":
        assert answered(metrics) == 20


def test_an_address_of_their_own_is_answered_by_whichever_worker(serve):
    server = serve("hello:app", "--workers", "2", "--metrics", "127.0.0.1:0", supervised=True)
    server.wait_ready(listeners=2)
    application, own = server.addresses
    for _ in range(10):
        assert server.get("/").status == 200
    server.addresses = [own]
    metrics_once(lambda: scrape(server), lambda metrics: answered(metrics) == 10)
    assert server.get("/").status == 404
    # The listener stays what it is when the workers are new.
    server.signal(signal.SIGHUP)
    server.wait_for_log(r"(?s)(worker \d+ is ready.*){4}", 20)
    for _ in range(5):
        assert server.get("/").status == 404
    server.addresses = [application, own]


def test_with_a_delay_the_health_of_all_workers_fails_before_they_drain(serve):
    server = serve("hello:app", "--workers", "2", "--health", "/health", "--drain-delay", "3s", supervised=True)
    assert server.get("/health").status == 200
    server.signal(signal.SIGTERM)
    server.wait_for_log("SIGTERM")
    # Each worker hears of it for itself.
    in_a_row, asked = 0, 0
    while in_a_row < 10:
        in_a_row = in_a_row + 1 if server.get("/health").status == 503 else 0
        asked += 1
        assert asked < 200, "the health check does not fail"
    assert server.get("/").status == 200
    assert server.wait() == 0


def test_before_the_first_worker_is_ready_health_fails_and_requests_wait(tmp_path):
    path, gate = str(tmp_path / "socket"), tmp_path / "imported"
    command = ["-m", "pronghorn", "slow_import:app", "--workers", "2", "--app-dir", str(APPS), "--bind", f"unix:{path}"]
    server = Server([sys.executable, *command, "--health", "/health"], env={"IMPORT_WAITS_FOR": str(gate)})
    try:
        server.wait_for_log("importing")
        with Client(path) as early:
            early.send(get(target=b"/early"))
            for _ in range(3):
                with Client(path) as balancer:
                    assert balancer.ask(get(target=b"/health")).status == 503
            assert early.is_silent(0.1)
            gate.touch()
            assert early.read_response().body == b"/early"
            server.wait_for_log(r"(?s)(worker \d+ is ready.*){2}")
            assert early.ask(get(target=b"/health")).status == 200
        assert server.stop() == 0
    finally:
        server.kill()

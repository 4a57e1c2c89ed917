"""The load that other tests judge by counts what it is there to count."""

import signal
import time
from pathlib import Path

from harness.load import Load

APPS = Path(__file__).parent / "apps"


def test_a_load_keeps_its_rate_and_tells_who_answered(serve):
    server = serve("numbered:app", app_dir=APPS)
    with Load(server.addresses[0], kept=100, fresh=100) as load:
        time.sleep(2)
    report = load.stop()
    assert report.failures == []
    assert 300 <= len(report.answers) <= 420
    assert list(report.workers()) == [server.pid]
    assert 0 < report.percentile(0.5) <= report.percentile(0.99)


def test_a_load_counts_what_is_cut_refused_and_wrong(serve):
    server = serve("numbered:app", app_dir=APPS)
    load = Load(server.addresses[0], kept=20, fresh=20, path="/0.3/{id}")
    load.start()
    time.sleep(1)
    server.signal(signal.SIGKILL)
    server.wait()
    time.sleep(0.5)
    report = load.stop()
    reasons = {failure.reason.partition(":")[0] for failure in report.failures}
    assert "ConnectionRefusedError" in reasons
    assert reasons & {"ConnectionError", "ConnectionResetError"}
    assert any(failure.worker == server.pid for failure in report.failures)


def test_an_answer_that_is_not_the_right_one_is_a_failure(serve):
    server = serve("hello:app")
    with Load(server.addresses[0], kept=20, fresh=20) as load:
        time.sleep(0.5)
    report = load.stop()
    assert report.answers == [] and report.failures

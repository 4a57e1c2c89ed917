"""Metrics: what is counted is what happened, and they are there whatever the application does."""

import time
from pathlib import Path

import pytest

from harness.metrics import Metrics, metrics_once
from harness.request import get, post

APPS = Path(__file__).parent / "apps"

FAMILIES = {
    "pronghorn_requests": "counter",
    "pronghorn_request_duration_seconds": "histogram",
    "pronghorn_request_queue_seconds": "histogram",
    "pronghorn_requests_in_flight": "gauge",
    "pronghorn_requests_queued": "gauge",
    "pronghorn_requests_shed": "counter",
    "pronghorn_timeouts": "counter",
    "pronghorn_threads": "gauge",
    "pronghorn_promotions": "counter",
    "pronghorn_interpreter_wait_seconds": "histogram",
    "pronghorn_loop_lag_seconds": "histogram",
    "pronghorn_connections": "gauge",
    "pronghorn_connections_accepted": "counter",
    "pronghorn_received_bytes": "counter",
    "pronghorn_sent_bytes": "counter",
    "pronghorn_access_log_dropped_lines": "counter",
    "pronghorn_workers": "gauge",
    "pronghorn_worker_restarts": "counter",
    "pronghorn_worker_resident_memory_bytes": "gauge",
    "pronghorn_build_info": "gauge",
}

TABLE = Path(__file__).parent.parent.parent / "docs" / "metrics.md"


def scrape(server):
    return server.get("/metrics")


def test_every_family_is_valid_and_in_the_table_of_the_documentation(serve):
    metrics = Metrics(scrape(serve("hello:app", "--metrics", "/metrics")))
    assert {name: family.type for name, family in metrics.families.items()} == FAMILIES
    assert all(family.documentation for family in metrics.families.values())
    documented = TABLE.read_text()
    for name, kind in FAMILIES.items():
        name += "_total" if kind == "counter" else ""
        assert f"| `{name}` | {kind} |" in documented, name


def test_requests_are_counted_by_method_and_class(serve):
    server = serve("echo:app", "--metrics", "/metrics")
    with server.raw() as client:
        for _ in range(3):
            client.ask(get())
        client.ask(post(b"12345"))
        for method in (b"BREW", b"WHEN", b"PROPFIND"):
            client.ask(method + b" / HTTP/1.1\r\nHost: a\r\n\r\n")
    with server.raw() as client:
        assert client.ask(b"GET / HTTP/1.1\r\n\r\n").status == 400
    metrics = metrics_once(lambda: scrape(server), lambda metrics: metrics.value("request_duration_seconds_count") == 7)
    assert metrics.value("requests_total", method="GET", status="2xx") == 3
    assert metrics.value("requests_total", method="POST", status="2xx") == 1
    # Clients cannot make up series.
    assert metrics.value("requests_total", method="other", status="2xx") == 3
    assert metrics.value("requests_total", method="GET", status="4xx") == 1
    assert metrics.value("request_queue_seconds_count") == 7
    assert metrics.value("connections_accepted_total") >= 3
    assert metrics.value("interpreter_wait_seconds_count") >= 1
    assert metrics.value("loop_lag_seconds_count") >= 1
    assert metrics.value("received_bytes_total") > 300
    assert metrics.value("sent_bytes_total") > 1000
    assert metrics.value("workers", state="ready") == 1


def test_durations_are_in_seconds_and_in_their_bucket(serve):
    server = serve("slow:app", "--metrics", "/metrics")
    server.get("/0.3")
    metrics = metrics_once(lambda: scrape(server), lambda metrics: metrics.value("request_duration_seconds_count") == 1)
    assert 0.3 <= metrics.value("request_duration_seconds_sum") < 3
    assert metrics.value("request_duration_seconds_bucket", le="0.25") == 0
    assert metrics.value("request_duration_seconds_bucket", le="+Inf") == 1


def test_a_scrape_is_not_counted_and_not_logged(serve, tmp_path):
    log = tmp_path / "access.log"
    server = serve("hello:app", "--metrics", "/metrics", "--health", "/health", "--access-log", str(log))
    server.get("/health")
    server.get("/served")
    metrics = metrics_once(lambda: scrape(server), lambda metrics: metrics.value("request_duration_seconds_count") > 0)
    assert metrics.value("requests_total", method="GET", status="2xx") == 1
    server.stop()
    assert [line.split('"')[1] for line in log.read_text().splitlines()] == ["GET /served HTTP/1.1"]


def test_deadlines_that_pass_are_counted(serve):
    server = serve("hello:app", "--metrics", "/metrics", "--head-timeout", "200ms", "--keep-alive", "200ms")
    with server.raw() as late, server.raw() as idle:
        late.send(b"GET / HTTP/1.1\r\n")
        idle.ask(get())
        assert late.read_response().status == 408
        assert idle.is_closed()
    metrics = Metrics(scrape(server))
    assert metrics.value("timeouts_total", kind="head") == 1
    assert metrics.value("timeouts_total", kind="keep_alive") >= 1
    assert metrics.value("requests_total", method="GET", status="4xx") == 1


def test_connections_are_counted_by_what_they_do(serve):
    server = serve("hello:app", "--metrics", "/metrics")
    with server.raw() as first, server.raw() as second, server.raw() as third:
        first.ask(get())
        second.ask(get())
        third.send(b"GET / HTTP/1.1\r\n")

        def reached(metrics):
            states = [metrics.value("connections", state=state) for state in ("idle", "reading")]
            # The one that asks had said nothing before.
            return states == [2, 1]

        metrics_once(lambda: scrape(server), reached)


def test_shed_requests_are_counted(serve):
    server = serve("naps:app", "--metrics", "/metrics", "--max-concurrency", "1")
    with server.raw() as busy:
        busy.send(get(target=b"/busy/1"))
        server.wait_for_log("napping /busy")
        assert server.get("/shed/0").status == 503
        metrics = Metrics(scrape(server))
        assert metrics.value("requests_shed_total", reason="max_concurrency") == 1
        assert metrics.value("requests_total", method="GET", status="5xx") == 1
        assert busy.read_response().status == 200


def test_saturation_shows(serve):
    server = serve("naps:app", "--metrics", "/metrics", "--threads", "2")
    clients = [server.raw() for _ in range(3)]
    for number, client in enumerate(clients):
        client.send(get(target=b"/%d/1" % number))

    def reached(metrics):
        return metrics.value("threads", state="busy") == 2 and metrics.value("requests_queued") == 1

    metrics = metrics_once(lambda: scrape(server), reached)
    assert metrics.value("threads", state="idle") == 0
    assert metrics.value("requests_in_flight") == 3
    assert metrics.value("promotions_total") >= 1
    assert all(client.read_response().status == 200 for client in clients)
    for client in clients:
        client.close()


@pytest.mark.parametrize("kind", ["sleeping", "holding"])
def test_metrics_and_health_are_answered_at_once_while_all_threads_are_stuck(serve, kind):
    app, path, said = {
        "sleeping": ("naps:app", b"/nap/3", "(?s)(napping.*){4}"),
        "holding": ("gil:app", b"/3", "holding"),
    }[kind]
    folder = APPS if kind == "holding" else None
    server = serve(app, "--metrics", "/metrics", "--health", "/health", "--threads", "4", app_dir=folder)
    clients = [server.raw(20) for _ in range(4)]
    for client in clients:
        client.send(get(target=path))
    server.wait_for_log(said)
    for path in ("/health", "/metrics"):
        begun = time.monotonic()
        assert server.get(path).status == 200
        assert time.monotonic() - begun < 0.1, path
    assert Metrics(scrape(server)).value("requests_in_flight") == 4
    assert all(client.read_response().status == 200 for client in clients)
    for client in clients:
        client.close()


def test_an_address_of_their_own_serves_nothing_else(serve):
    server = serve("hello:app", "--metrics", "127.0.0.1:0", "--health", "/health")
    server.wait_ready(listeners=2)
    application, own = server.addresses
    server.addresses = [own]
    assert Metrics(scrape(server)).value("build_info", version=version(server)) == 1
    assert server.get("/health").status == 200
    assert server.get("/").status == 404
    server.addresses = [application]
    assert server.get("/metrics").body == b"Hello, world!\n"
    server.addresses = [application, own]


def version(server):
    return server.wait_for_log(r"pronghorn (\d\S+)").group(1)


def test_only_get_and_head_are_answered(serve):
    server = serve("hello:app", "--metrics", "/metrics")
    with server.raw() as client:
        head = client.ask(get(target=b"/metrics").replace(b"GET", b"HEAD"), "HEAD")
        assert head.status == 200 and int(head.get("content-length")) > 1000
        refused = client.ask(b"DELETE /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
        assert (refused.status, refused.get("allow")) == (405, "GET, HEAD")
        refused = client.ask(post(b"abc", target=b"/metrics"))
        assert refused.status == 405 and refused.closes
        assert client.is_closed()


def test_without_the_setting_the_application_has_the_path(serve):
    assert serve("hello:app").get("/metrics").body == b"Hello, world!\n"

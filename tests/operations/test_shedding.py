"""Load beyond what a worker may take on: the surplus is answered 503 at once, and who waited too long without running."""

import contextlib

from harness.request import get


def test_more_than_max_concurrency_is_answered_503_and_its_connection_goes_on(serve):
    server = serve("naps:app", "--threads", "2", "--max-concurrency", "2")
    with contextlib.ExitStack() as scope:
        busy = [nap(scope, server, f"busy{number}", 1) for number in range(2)]
        client = scope.enter_context(server.raw())
        assert_shed(client.ask(get(target=b"/surplus/0")))
        assert [one.read_response().status for one in busy] == [200, 200]
        assert client.ask(get(target=b"/after/0")).status == 200
    assert "napping /surplus" not in server.log()
    assert "answered 503 without running, as max-concurrency others ran or waited: 1" in server.log()


def test_who_waits_longer_than_queue_timeout_is_answered_503_while_all_threads_are_busy(serve):
    server = serve("naps:app", "--threads", "2", "--queue-timeout", "300ms")
    with contextlib.ExitStack() as scope:
        busy = [nap(scope, server, f"busy{number}", 2) for number in range(2)]
        client = scope.enter_context(server.raw(timeout=1.5))
        assert_shed(client.ask(get(target=b"/late/0")))
        assert [one.read_response().status for one in busy] == [200, 200]
        assert client.ask(get(target=b"/after/0")).status == 200
    assert "napping /late" not in server.log()
    assert "answered 503 without running, as no thread was free for them within queue-timeout: 1" in server.log()


def test_a_queue_timeout_of_0_lets_requests_wait(serve):
    server = serve("naps:app", "--threads", "2", "--queue-timeout", "0")
    with contextlib.ExitStack() as scope:
        clients = [nap(scope, server, f"busy{number}", 0.6) for number in range(2)]
        clients.append(scope.enter_context(server.raw()))
        clients[-1].send(get(target=b"/patient/0"))
        assert [one.read_response().status for one in clients] == [200, 200, 200]


def nap(scope, server, name, seconds):
    """A client whose request runs by now."""
    client = scope.enter_context(server.raw())
    client.send(get(target=f"/{name}/{seconds}".encode()))
    server.wait_for_log(f"napping /{name}")
    return client


def assert_shed(response):
    assert response.status == 503
    assert response.get("Retry-After") == "1"

"""start_response, write and the input are good for one request, in the thread that was called."""

from pathlib import Path

import pytest

from harness.request import get, head, post

APPS = Path(__file__).parent / "apps"
ENDED = "RuntimeError: used after its request ended"
ELSEWHERE = "RuntimeError: used in another thread"


@pytest.fixture
def lifetimes(serve):
    """A server of the application that misuses what it gets."""
    return serve("lifetimes:app", app_dir=APPS)


@pytest.mark.parametrize("name", ["late_start", "late_write"])
def test_a_callable_kept_beyond_its_request_is_refused(lifetimes, name):
    assert lifetimes.get("/keep").body == b"kept"
    assert lifetimes.get(f"/{name}").body.decode().startswith(ENDED)
    assert lifetimes.get(f"/{name}").body.decode().startswith(ENDED)


def test_a_body_that_was_received_can_be_read_after_its_request(lifetimes):
    with lifetimes.raw() as client:
        assert client.ask(post(b"hello", target=b"/keep")).body == b"kept"
        assert client.ask(get(target=b"/late_read")).body == b"b'hello'"


def test_an_expected_body_is_not_received_after_its_request(lifetimes):
    with lifetimes.raw() as client:
        client.ask(head(b"POST /keep HTTP/1.1", b"Host: test", b"Content-Length: 5", b"Expect: 100-continue"))
    assert lifetimes.get("/late_read").body.decode().startswith(ENDED)


def test_another_thread_is_refused(lifetimes):
    assert lifetimes.get("/start_elsewhere").body.decode().startswith(ELSEWHERE)
    with lifetimes.raw() as client:
        request = head(b"POST /read_elsewhere HTTP/1.1", b"Host: test", b"Content-Length: 5", b"Expect: 100-continue")
        assert client.ask(request).body.decode().startswith(ELSEWHERE)


def test_start_response_takes_its_arguments_by_name(lifetimes):
    response = lifetimes.get("/by_keyword")
    assert (response.status, response.reason, response.get("x-a")) == (202, "Named", "1")


def test_wrong_arguments_are_type_errors_and_change_nothing(lifetimes):
    response = lifetimes.get("/wrong_arguments")
    lines = response.body.decode().splitlines()
    assert response.status == 200 and len(lines) == 6
    assert all(line.startswith("TypeError: ") for line in lines)


def test_start_response_may_be_called_while_it_reads_the_headers(lifetimes):
    response = lifetimes.get("/start_within")
    assert response.body.startswith(b"<pronghorn.write object")
    assert (response.status, response.get("x-a")) == (200, "outer")

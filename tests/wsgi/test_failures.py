"""An application that fails: the log says all, the client learns nothing, and the worker lives."""

from pathlib import Path

import pytest

from harness.request import get
from harness.response import Aborted

APPS = Path(__file__).parent / "apps"


@pytest.fixture
def failing(serve):
    """A server of the application that fails."""
    return serve("failing:app", app_dir=APPS)


@pytest.mark.parametrize(("name", "error"), [
    ("raises", "ValueError: on purpose"), ("exits", "SystemExit: 3"), ("interrupts", "KeyboardInterrupt"),
    ("never_starts", "RuntimeError: the application did not call start_response"),
])  # fmt: skip
def test_the_log_names_request_and_error_and_the_client_gets_a_plain_500(failing, name, error):
    response = failing.get(f"/{name}")
    assert response.status == 500 and error.encode() not in response.body
    failing.wait_for_log(error)
    assert f"GET /{name}: the application failed" in failing.log()
    assert failing.get("/closed").status == 200


def test_a_traceback_is_in_the_log_as_the_interpreter_prints_it(failing):
    failing.get("/raises")
    failing.wait_for_log("ValueError: on purpose")
    assert "Traceback (most recent call last):\n" in failing.log()
    assert 'raise ValueError("on purpose")' in failing.log()


def test_an_error_after_the_first_chunk_aborts(failing):
    with failing.raw() as client:
        client.send(get(target=b"/late"))
        with pytest.raises(Aborted):
            client.read_response()
    failing.wait_for_log("ValueError: too late")


def test_an_error_in_close_is_logged_and_spoils_no_response(failing):
    assert failing.get("/close_raises").body == b"chunk"
    failing.wait_for_log(r"GET /close_raises: close\(\) of the response raised")


def test_a_client_that_goes_away_ends_the_generator_and_is_no_error(failing):
    with failing.raw() as client:
        client.send(get(target=b"/endless"))
        client.wait_for(b"xxxx")
        client.reset()
    assert eventually(lambda: failing.get("/closed").body == b"endless")
    assert "ERROR" not in failing.log()


def test_failing_requests_leave_no_objects_behind(failing):
    names = ["raises", "exits", "late", "never_starts", "close_raises"]
    for_warmth, *rounds = [survivors(failing, names) for _ in range(4)]
    assert max(rounds) - min(rounds) < 20, (for_warmth, rounds)


def survivors(server, names):
    """How many objects live after 50 requests of each kind."""
    for _ in range(50):
        for name in names:
            with server.raw() as client:
                client.send(get(b"Connection: close", target=f"/{name}".encode()))
                while client.receive():
                    pass
    return int(server.get("/objects").body)


def eventually(holds):
    """Whether `holds` does within a hundred requests."""
    return any(holds() for _ in range(100))

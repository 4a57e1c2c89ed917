"""A body that the socket does not take at once is held until it is sent, and no longer."""

from pathlib import Path

import pytest

from harness.request import get

APPS = Path(__file__).parent / "apps"
BODY = bytes(range(256)) * 80_000


@pytest.fixture
def retained(serve):
    """A server of the application with a large body."""
    return serve("retained:app", app_dir=APPS)


def holders(server):
    """How many hold the body."""
    return int(server.get("/holders").body)


def test_a_slow_reader_gets_all_of_a_body(retained):
    before = holders(retained)
    with retained.raw(receive_buffer=4096) as client:
        client.send(get(target=b"/body"))
        client.wait_for(b"\r\n\r\n")
        assert holders(retained) == before + 1
    with retained.raw() as client:
        assert client.ask(get(target=b"/body")).body == BODY
    assert any(holders(retained) == before for _ in range(1000))


def test_bodies_of_clients_that_go_away_are_let_go(retained):
    before = holders(retained)
    for _ in range(20):
        with retained.raw(receive_buffer=4096) as client:
            client.send(get(target=b"/body"))
            client.wait_for(b"\r\n\r\n")
            client.reset()
    assert any(holders(retained) == before for _ in range(1000))

"""A process that the application forks neither serves nor acts for the server."""

import os
import select
import signal
import socket
import time
from pathlib import Path

import pytest

from harness.request import get

APPS = Path(__file__).parent / "apps"


@pytest.fixture
def forking(serve):
    """A server of the application that forks."""
    return serve("forking:app", app_dir=APPS)


def test_a_child_ends_by_a_signal_and_the_server_does_not(forking):
    forking.get("/start")
    assert forking.get("/terminate").body == b"-15"
    assert forking.get("/come_back").status == 200
    assert "SIGTERM" not in forking.log()


def test_an_interrupt_of_the_whole_group_counts_once(forking):
    forking.get("/start")
    with forking.raw() as client:
        client.send(get(target=b"/wait"))
        forking.wait_for_log("waiting for the child")
        os.killpg(forking.pid, signal.SIGINT)
        assert client.read_response().body == b"1"
    assert forking.wait() == 0


def test_a_connection_ends_though_a_child_holds_it(forking):
    with forking.raw() as client:
        client.ask(get(b"Connection: close", target=b"/start"))
        assert client.is_closed()
    forking.get("/terminate")


def test_a_port_is_free_at_the_end_though_a_child_holds_it(forking):
    child = int(forking.get("/abandon").body)
    forking.signal(signal.SIGTERM)
    assert forking.process.wait(5) == 0
    with pytest.raises(ConnectionRefusedError):
        forking.raw()
    socket.create_server((forking.host, forking.port)).close()
    end(child)
    forking.stop()


@pytest.mark.parametrize("name", ["come_back", "fail"])
def test_a_child_that_comes_back_is_ended_and_answers_nothing(forking, name):
    with forking.raw() as client:
        client.send(get(b"Connection: close", target=f"/{name}".encode()))
        assert [response.body for response in client.read_to_end()] == [b"1"]
    forking.wait_for_log(f"GET /{name}: a process that the application forked came back into the server")


def test_a_signal_after_the_drain_does_what_it_does_by_default(forking):
    forking.get("/outlive")
    until = time.monotonic() + 5
    while forking.process.poll() is None and time.monotonic() < until:
        forking.signal(signal.SIGTERM)
        time.sleep(0.01)
    assert forking.wait() == -signal.SIGTERM


def end(child):
    """Kills a process that is not ours to wait for, and waits until it has ended."""
    descriptor = os.pidfd_open(child)
    signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    assert select.select([descriptor], [], [], 5)[0]
    os.close(descriptor)

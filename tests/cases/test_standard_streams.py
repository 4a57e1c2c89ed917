"""Standard streams that are closed, or that nobody reads."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness.client import Client
from harness.request import get

APPS = Path(__file__).parent.parent / "wsgi" / "apps"
CLOSED = ["sh", "-c", 'exec "$@" 0<&- 1>&- 2>&-', "sh"]


@pytest.fixture
def listener():
    """A socket that listens before the server is there, so that nothing has to be read from it to know where it is."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@contextlib.contextmanager
def failing(listener, *prefix, **streams):
    """A server of an application that fails, on that listener; it has ended, in whatever way, when the block is left."""
    app = ["failing:app", "--app-dir", str(APPS), "--fd", str(listener.fileno())]
    command = [*prefix, sys.executable, "-m", "pronghorn", *app]
    with subprocess.Popen(command, pass_fds=[listener.fileno()], **streams) as server:
        try:
            yield server
        finally:
            server.kill()


def test_no_socket_takes_the_place_of_a_closed_stream(listener):
    with failing(listener, *CLOSED) as server:
        for target, status in ((b"/raises", 500), (b"/closed", 200)):
            with Client(listener.getsockname(), timeout=20) as client:
                assert client.ask(get(target=target)).status == status
        streams = [os.readlink(f"/proc/{server.pid}/fd/{number}") for number in range(3)]
        server.terminate()
        assert server.wait(5) == 0
    assert streams == ["/dev/null"] * 3


def test_a_log_that_nobody_reads_holds_up_no_other_request(listener):
    with failing(listener, stderr=subprocess.PIPE) as server:
        with Client(listener.getsockname(), timeout=20) as stuck, Client(listener.getsockname()) as other:
            stuck.send(get(target=b"/raises_at_length"))
            seen = b""
            while b"ValueError: x" not in seen:
                seen += os.read(server.stderr.fileno(), 256)
            assert other.ask(get(target=b"/closed")).status == 200
            reader = threading.Thread(target=server.stderr.read)
            reader.start()
            assert stuck.read_response().status == 500
        server.terminate()
        assert server.wait(5) == 0
        reader.join()


def test_a_log_that_nobody_ever_reads_stops_neither_a_request_nor_the_drain(listener):
    with failing(listener, stderr=subprocess.PIPE) as server:
        for _ in range(3):
            with Client(listener.getsockname(), timeout=20) as client:
                assert client.ask(get(target=b"/raises_at_length")).status == 500
        server.terminate()
        assert server.wait(5) == 0
        assert b"log messages were lost" not in server.stderr.read()


def test_lost_messages_are_counted_for_who_reads_on(listener):
    with failing(listener, stderr=subprocess.PIPE) as server:
        with Client(listener.getsockname(), timeout=20) as client:
            assert client.ask(get(target=b"/raises_at_length")).status == 500
        reader = server.stderr
        os.set_blocking(reader.fileno(), False)
        while reader.read():
            pass
        os.set_blocking(reader.fileno(), True)
        server.terminate()
        assert server.wait(5) == 0
        assert b"[1 log messages were lost]" in reader.read()

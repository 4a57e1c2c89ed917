"""systemd: sockets that it opened, and what it is told."""

import ast
import signal
import socket
import time
from pathlib import Path

import pytest

from harness.client import Client
from harness.injection import failing
from harness.request import get
from harness.systemd import Manager

APPS = Path(__file__).parent / "apps"


@pytest.fixture
def manager(tmp_path):
    """A service manager to be told things."""
    with Manager(str(tmp_path / "notify")) as manager:
        yield manager


@pytest.fixture
def tcp():
    """A listening TCP socket."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.fixture
def unix(tmp_path):
    """A listening Unix socket."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "web.sock"))
        listening.listen()
        yield listening


def status(address):
    """The status of a GET at the address."""
    with Client(address) as client:
        return client.ask(get(b"Connection: close")).status


def test_all_sockets_that_systemd_opened_are_served_and_left_behind(serve, tcp, unix):
    server = serve("hello:app", sockets=[tcp, unix])
    assert server.addresses == [tcp.getsockname(), unix.getsockname()]
    assert status(tcp.getsockname()) == 200
    assert status(unix.getsockname()) == 200
    assert server.stop() == 0
    assert Path(unix.getsockname()).is_socket()
    # They listen on: the next start serves who comes now.
    with Client(tcp.getsockname()) as waiting, Client(unix.getsockname()) as waiting_too:
        waiting.send(get())
        waiting_too.send(get())
        serve("hello:app", sockets=[tcp, unix])
        assert waiting.read_response().status == 200
        assert waiting_too.read_response().status == 200


def test_the_application_does_not_see_that_there_were_sockets(serve, tcp, manager):
    told = {"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "60000000"}
    server = serve("identity:app", app_dir=APPS, sockets=[tcp], env=told)
    seen = ast.literal_eval(server.get("/").body.decode())["environment"]
    assert not {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_PID"} & seen.keys()


def test_one_of_the_sockets_may_be_named(serve, tcp, unix):
    server = serve("hello:app", "--bind", "fd://4", sockets=[tcp, unix])
    assert server.addresses == [unix.getsockname()]
    assert status(unix.getsockname()) == 200
    server.wait_for_log("fd://3 of systemd is not used")


@pytest.mark.parametrize("supervised", [False, True])
def test_what_bind_says_wins_over_systemd(serve, tcp, supervised):
    server = serve("hello:app", "--bind", "127.0.0.1:0", sockets=[tcp], supervised=supervised)
    assert server.get("/").status == 200
    assert server.addresses != [tcp.getsockname()]
    server.wait_for_log("fd://3 of systemd is not used")


def test_sockets_for_another_process_are_left_alone(serve, tcp):
    server = serve("hello:app", "--bind", "127.0.0.1:0", sockets=[tcp], env={"LISTEN_PID": "1"})
    assert server.get("/").status == 200
    server.wait_for_log("the sockets of systemd are for process 1, not for this one")


def test_systemd_is_told_when_the_service_is_ready_and_when_it_ends(serve, manager):
    server = serve("hello:app", env={"NOTIFY_SOCKET": manager.address})
    ready = manager.hears()
    assert ready["READY"] == "1"
    assert ready["STATUS"].endswith(server.url)
    server.stop()
    assert manager.hears()["STOPPING"] == "1"


@pytest.mark.parametrize("when", ["1+2", "2+2"])
def test_systemd_is_told_though_the_call_is_interrupted(serve, manager, when):
    server = serve("hello:app", env={"NOTIFY_SOCKET": manager.address}, supervised=True)
    manager.waits_for("READY")
    with failing(server.pid, "?sendto,?sendmsg,?write", "EINTR", when):
        server.signal(signal.SIGTERM)
        assert manager.hears()["STOPPING"] == "1"
        assert server.wait() == 0


def test_systemd_is_told_nothing_when_the_application_cannot_be_imported(command, manager):
    assert command("no_such_module", NOTIFY_SOCKET=manager.address).returncode == 1
    assert manager.is_told_nothing(0.1)


def test_the_address_of_systemd_may_be_abstract(serve):
    with Manager("@pronghorn-test-notify") as manager:
        serve("hello:app", env={"NOTIFY_SOCKET": manager.address})
        assert manager.hears()["READY"] == "1"


def test_signs_of_life_come_twice_in_the_time_that_systemd_allows(serve, manager):
    server = serve("hello:app", env={"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "400000"})
    manager.waits_for("READY")
    for _ in range(5):
        manager.waits_for("WATCHDOG", within=0.4)
    assert server.get("/").status == 200


def test_signs_of_life_are_not_sent_for_another_process(serve, manager):
    serve("hello:app", env={"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "100000", "WATCHDOG_PID": "1"})
    manager.waits_for("READY")
    assert manager.is_told_nothing(0.5)


def test_a_service_manager_that_is_not_there_is_no_reason_not_to_serve(serve, tmp_path):
    server = serve("hello:app", env={"NOTIFY_SOCKET": str(tmp_path / "nobody")})
    assert server.get("/").status == 200
    server.wait_for_log("systemd is not told of this process")


def test_the_supervisor_tells_of_a_reload_and_of_its_end(serve, manager):
    server = serve("hello:app", "--workers", "2", supervised=True, env={"NOTIFY_SOCKET": manager.address})
    assert manager.waits_for("READY")["STATUS"] == f"2 workers serve at {server.url}"
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    server.signal(signal.SIGHUP)
    reloading = manager.waits_for("RELOADING")
    assert before <= int(reloading["MONOTONIC_USEC"]) <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    manager.waits_for("READY")
    server.stop()
    manager.waits_for("STOPPING")


def test_the_supervisor_gives_signs_of_life_while_its_workers_are_busy(serve, manager):
    told = {"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "400000"}
    server = serve("naps:app", "--threads", "1", supervised=True, env=told)
    manager.waits_for("READY")
    with server.raw() as client:
        client.send(get(target=b"/long/1"))
        for _ in range(5):
            manager.waits_for("WATCHDOG", within=0.4)
        assert client.read_response().status == 200


def test_the_sockets_of_systemd_outlive_a_reload_of_the_supervisor(serve, manager, tcp, unix):
    told = {"NOTIFY_SOCKET": manager.address}
    server = serve("hello:app", sockets=[tcp, unix], supervised=True, env=told)
    manager.waits_for("READY")
    server.signal(signal.SIGHUP)
    manager.waits_for("RELOADING")
    manager.waits_for("READY")
    assert status(tcp.getsockname()) == 200
    assert status(unix.getsockname()) == 200
    assert server.stop() == 0
    assert Path(unix.getsockname()).is_socket()

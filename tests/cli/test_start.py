"""A server that cannot listen says where, why and what to do."""

import re
import socket

import pytest


def failure(done):
    """The message of a start that failed."""
    assert done.returncode == 1
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("[")]
    assert len(lines) == 1, done.stderr
    assert "os error" not in lines[0]
    return lines[0].removeprefix("pronghorn: error: ")


def test_a_port_in_use(command):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        message = failure(command("hello", "--bind", address))
    assert message == (
        f"cannot listen on {address}. Address already in use. "
        "Stop the process that listens there, or choose another address."
    )


def test_a_socket_of_another_server_is_left_alone(command, folder):
    path = folder / "taken.sock"
    with socket.socket(socket.AF_UNIX) as taken:
        taken.bind(str(path))
        taken.listen()
        message = failure(command("hello", "--uds", str(path)))
        assert path.is_socket()
    assert message.startswith(f"cannot listen on unix:{path}. ")


def test_a_file_is_never_replaced_by_a_socket(command, folder):
    message = failure(command("hello", "--uds", "hello.py"))
    assert message.startswith("cannot listen on unix:hello.py. ")
    assert "def app" in (folder / "hello.py").read_text()


def test_a_missing_folder_is_named_as_what_is_missing(command):
    message = failure(command("hello", "--uds", "missing/app.sock"))
    assert message == "cannot listen on unix:missing/app.sock. Its folder does not exist. Check bind."
    message = failure(command("hello", "--bind", "127.0.0.1:0", "--metrics", "unix:missing/metrics.sock"))
    assert message == "cannot listen on unix:missing/metrics.sock. Its folder does not exist. Check metrics."
    message = failure(command("hello", "--bind", "127.0.0.1:0", "--access-log", "missing/access.log"))
    assert message == "cannot open the access log missing/access.log. Its folder does not exist. Check access-log."


@pytest.mark.parametrize(
    ("arguments", "address"),
    [
        (["--uds", "missing/folder.sock"], "unix:missing/folder.sock"),
        (["--fd", "0"], "fd://0"),
        (["--fd", "777"], "fd://777"),
        # TEST-NET-1, RFC 5737: an address that no machine has.
        (["--bind", "192.0.2.1:80"], "192.0.2.1:80"),
        (["--host", "no-such-host.invalid"], "no-such-host.invalid:8000"),
    ],
)
def test_an_address_that_cannot_be_had(command, arguments, address):
    message = failure(command("hello", *arguments))
    assert re.fullmatch(rf"cannot listen on {re.escape(address)}\. [A-Z0-9].*\.", message)

"""Unix sockets: what is at their path, and who may connect."""

import grp
import os
import pwd
import socket
import stat

import pytest

ROOT = os.geteuid() == 0


@pytest.fixture
def path(tmp_path):
    """Where the socket is to be."""
    return tmp_path / "web.sock"


def test_a_stale_socket_is_replaced_and_removed_at_the_end(serve, path):
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    server = serve("hello:app", "--uds", str(path))
    assert server.get("/").status == 200
    assert server.stop() == 0
    assert not path.exists()


def test_a_socket_of_a_living_server_is_left_alone(serve, command, path):
    server = serve("hello:app", "--uds", str(path))
    message = command("hello", "--uds", str(path)).stderr
    assert message == (
        f"pronghorn: error: cannot listen on unix:{path}. Another process listens on this socket. "
        "Stop the process that listens there, or choose another address.\n"
    )
    assert server.get("/").status == 200


def test_a_socket_of_a_living_server_that_takes_no_more_connections_is_left_alone(command, path):
    with socket.socket(socket.AF_UNIX) as busy, socket.socket(socket.AF_UNIX) as waiting:
        busy.bind(str(path))
        busy.listen(0)
        waiting.connect(str(path))
        assert "Another process listens on this socket." in command("hello", "--uds", str(path)).stderr


def test_a_file_is_left_alone(command, path):
    path.write_text("precious")
    message = command("hello", "--uds", str(path)).stderr
    assert message == (
        f"pronghorn: error: cannot listen on unix:{path}. There is something else at this path, which was left alone. "
        "Check bind.\n"
    )
    assert path.read_text() == "precious"


@pytest.mark.parametrize("target", ["stale", "live", "regular", "missing"])
def test_a_symbolic_link_is_left_alone(command, path, target):
    other = path.with_name(target)
    with socket.socket(socket.AF_UNIX) as live:
        if target in ("stale", "live"):
            live.bind(str(other))
        if target == "live":
            live.listen()
        if target == "stale":
            live.close()
        if target == "regular":
            other.write_text("precious")
        path.symlink_to(other)
        message = command("hello", "--uds", str(path)).stderr
    assert "There is a symbolic link at this path, which was left alone." in message
    assert path.is_symlink()
    assert other.exists() == (target != "missing")


def test_a_socket_that_another_server_put_there_is_not_removed(serve, path):
    server = serve("hello:app", "--uds", str(path))
    path.unlink()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        assert server.stop() == 0
        assert path.is_socket()


@pytest.mark.parametrize("mode", ["600", "660", "0666"])
def test_the_permissions_are_those_asked_for(serve, path, mode):
    serve("hello:app", "--uds", str(path), "--uds-mode", mode)
    assert stat.S_IMODE(path.stat().st_mode) == int(mode, 8)


def test_the_owner_is_the_one_asked_for(serve, path):
    user, group = ("nobody", "nogroup") if ROOT else (str(os.getuid()), str(os.getgid()))
    serve("hello:app", "--uds", str(path), "--uds-owner", f"{user}:{group}")
    found = path.stat()
    assert (found.st_uid, found.st_gid) == (number(user, pwd.getpwnam, "pw_uid"), number(group, grp.getgrnam, "gr_gid"))


def test_a_group_alone_leaves_the_user(serve, path):
    group = "nogroup" if ROOT else str(os.getgid())
    serve("hello:app", "--uds", str(path), "--uds-owner", f":{group}")
    found = path.stat()
    assert (found.st_uid, found.st_gid) == (os.geteuid(), number(group, grp.getgrnam, "gr_gid"))


@pytest.mark.parametrize(
    ("owner", "message"), [("no-such-user", "there is no user"), (":no-such", "there is no group")]
)
def test_an_owner_that_does_not_exist_is_explained(command, path, owner, message):
    done = command("hello", "--uds", str(path), "--uds-owner", owner)
    assert done.returncode == 1
    assert message in done.stderr
    assert not path.exists()


def test_an_owner_that_may_not_be_given_is_explained(command_without_rights, folder):
    done = command_without_rights("hello", "--uds", "web.sock", "--uds-owner", "0")
    assert done.returncode == 1
    assert "The socket's owner cannot be changed: Operation not permitted. Check uds-mode and uds-owner." in done.stderr
    assert not (folder / "web.sock").exists()


def number(text, look_up, field):
    """The number of a user or group."""
    return int(text) if text.isdecimal() else getattr(look_up(text), field)

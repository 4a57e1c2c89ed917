"""The process: its pid file, user, groups and umask."""

import ast
import grp
import os
import pwd
import signal
import subprocess
import sys

import pytest

ROOT = os.geteuid() == 0


@pytest.fixture
def somebody():
    """The name of a user whom this process may become, the number, and that of the user's group."""
    entry = pwd.getpwnam("nobody") if ROOT else pwd.getpwuid(os.getuid())
    return entry.pw_name, entry.pw_uid, entry.pw_gid


def test_the_pid_file_holds_the_process_while_it_runs(serve, tmp_path):
    path = tmp_path / "server.pid"
    server = serve("hello:app", "--pid", str(path))
    assert path.read_text() == f"{server.pid}\n"
    assert os.listdir(tmp_path) == ["server.pid"]
    server.stop()
    assert not path.exists()


def test_a_pid_file_of_a_process_that_has_ended_is_replaced(serve, tmp_path):
    path = tmp_path / "server.pid"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    path.write_text(f"{ended.pid}\n")
    server = serve("hello:app", "--pid", str(path))
    assert path.read_text() == f"{server.pid}\n"


def test_an_empty_pid_file_is_replaced(serve, tmp_path):
    path = tmp_path / "server.pid"
    path.touch()
    server = serve("hello:app", "--pid", str(path))
    assert path.read_text() == f"{server.pid}\n"


def test_a_pid_file_of_a_process_that_runs_is_left_alone(command, tmp_path):
    path = tmp_path / "server.pid"
    path.write_text(f"{os.getpid()}\n")
    done = command("hello", "--bind", "127.0.0.1:0", "--pid", str(path))
    assert done.returncode == 1
    assert done.stderr == (
        f"pronghorn: error: the process id cannot be written to {path}. It holds {os.getpid()}, a process that runs. "
        "Stop that one, or choose another file with --pid.\n"
    )
    assert path.read_text() == f"{os.getpid()}\n"


def test_what_is_no_pid_file_is_left_alone(command, folder):
    before = (folder / "hello.py").read_text()
    for path in ("hello.py", "."):
        done = command("hello", "--bind", "127.0.0.1:0", "--pid", path)
        assert done.returncode == 1
        assert "There is something else, which was left alone." in done.stderr
    assert (folder / "hello.py").read_text() == before


def test_a_pid_file_in_a_folder_that_is_missing_is_explained(command, folder):
    done = command("hello", "--bind", "127.0.0.1:0", "--pid", "missing/server.pid")
    assert done.returncode == 1
    assert done.stderr == (
        f"pronghorn: error: the process id cannot be written to {folder}/missing/server.pid. "
        "Its folder does not exist. Check pid.\n"
    )


def test_a_pid_file_that_another_process_has_written_to_is_not_removed(serve, tmp_path):
    path = tmp_path / "server.pid"
    server = serve("hello:app", "--pid", str(path))
    path.write_text("1\n")
    server.stop()
    assert path.read_text() == "1\n"


def test_a_start_that_fails_leaves_no_pid_file(command, tmp_path):
    path = tmp_path / "server.pid"
    assert command("no_such_module", "--bind", "127.0.0.1:0", "--pid", str(path)).returncode == 1
    assert not path.exists()


def test_the_umask_holds_before_the_application_is_imported(serve, folder):
    seen = identity(serve("identity:app", "--umask", "0027", app_dir=folder))
    assert seen["umask"] == seen["imported"]["umask"] == 0o027


def test_without_a_user_everything_stays(serve, folder):
    seen = identity(serve("identity:app", app_dir=folder))
    assert seen["users"] == list(os.getresuid())
    assert seen["groups"] == list(os.getresgid())
    assert seen["supplementary"] == sorted(os.getgroups())


@pytest.mark.parametrize("by_number", [False, True])
def test_the_application_runs_as_the_user_with_the_groups_of_the_user(serve, folder, somebody, by_number):
    name, user, group = somebody
    server = serve("identity:app", "--user", str(user) if by_number else name, app_dir=folder)
    seen = identity(server)
    for at in (seen, seen["imported"]):
        assert at["users"] == [user] * 3
        assert at["groups"] == [group] * 3
        assert at["supplementary"] == sorted(os.getgrouplist(name, group) if ROOT else os.getgroups())


def test_another_group_of_the_user(serve, folder, somebody):
    name, user, group = somebody
    wanted = grp.getgrgid(1) if ROOT else grp.getgrgid(group)
    seen = identity(serve("identity:app", "--user", name, "--group", wanted.gr_name, app_dir=folder))
    assert seen["users"] == [user] * 3
    assert seen["groups"] == [wanted.gr_gid] * 3
    assert 0 not in seen["supplementary"] or not ROOT


def test_numbers_without_a_name(serve, command_without_rights, folder):
    numbers = ["--user", "54321", "--group", "54322"]
    refused = command_without_rights("identity", "--bind", "127.0.0.1:0", *numbers)
    assert refused.returncode == 1
    assert refused.stderr == (
        "pronghorn: error: the user or group cannot be changed. Only root may do that. "
        "Start as root, or leave out user and group.\n"
    )
    if ROOT:
        seen = identity(serve("identity:app", *numbers, app_dir=folder))
        assert (seen["users"], seen["groups"], seen["supplementary"]) == ([54321] * 3, [54322] * 3, [54322])


def test_a_number_without_a_group_is_explained(command):
    done = command("hello", "--bind", "127.0.0.1:0", "--user", "54321")
    assert done.returncode == 1
    assert done.stderr == (
        "pronghorn: error: the user 54321 has no group that the system knows. Give one with --group.\n"
    )


@pytest.mark.parametrize("kind", ["user", "group"])
def test_a_name_that_nobody_has_is_explained(command, kind):
    done = command("hello", "--bind", "127.0.0.1:0", f"--{kind}", "no-such-name")
    assert done.returncode == 1
    assert done.stderr == (
        f'pronghorn: error: there is no {kind} "no-such-name" on this system. Check {kind}, or give a number.\n'
    )


def test_a_privileged_port_is_bound_before_the_user_changes(serve, folder, somebody, tmp_path):
    # A socket in a folder of the one who starts the server, which the user may not write to.
    name, user, _ = somebody
    tmp_path.chmod(0o700)
    server = serve("identity:app", "--user", name, "--uds", str(tmp_path / "web.sock"), app_dir=folder)
    assert identity(server)["users"] == [user] * 3


def test_an_interrupt_removes_the_pid_file(serve, tmp_path):
    path = tmp_path / "server.pid"
    server = serve("hello:app", "--pid", str(path))
    server.signal(signal.SIGINT)
    assert server.wait() == 0
    assert not path.exists()


def test_the_workers_run_as_the_user_and_the_supervisor_stays(serve, folder, somebody, tmp_path):
    name, user, _ = somebody
    tmp_path.chmod(0o700)
    arguments = ["--user", name, "--uds", str(tmp_path / "web.sock"), "--pid", str(tmp_path / "server.pid")]
    server = serve("identity:app", *arguments, app_dir=folder, supervised=True)
    seen = identity(server)
    assert seen["users"] == seen["imported"]["users"] == [user] * 3
    assert (tmp_path / "server.pid").read_text() == f"{server.pid}\n"
    assert seen["pid"] != server.pid
    # What was made with other rights than the workers' is removed with them.
    assert server.stop() == 0
    assert os.listdir(tmp_path) == []


def test_logs_are_opened_before_the_user_changes(serve, folder, somebody, tmp_path):
    tmp_path.chmod(0o700)
    log = tmp_path / "access.log"
    server = serve("identity:app", "--user", somebody[0], "--access-log", str(log), app_dir=folder, supervised=True)
    assert server.get("/").status == 200
    assert server.stop() == 0
    assert "GET / HTTP/1.1" in log.read_text()


def identity(server):
    """What the application says of its process."""
    return ast.literal_eval(server.get("/").body.decode())

"""The access log: what its lines say, where they go, and that nothing that befalls them holds up a request."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.client import Client
from harness.request import get, head
from harness.server import APPS, Server
from harness.waiting import until

OWN_APPS = Path(__file__).parent / "apps"
LOST = r"lines of the access log were lost: (\d+) \((.*)\)"


def log_of(serve: Callable[..., Server], path: Path, form: str, *requests: bytes) -> tuple[list[str], Server]:
    """The lines of requests, one connection each, to an application that answers with fields of its own."""
    server = serve("fields:app", "--access-log", str(path), "--access-log-format", form, app_dir=OWN_APPS)
    for request in requests:
        with server.raw() as client:
            client.ask(request)
    server.stop()
    return path.read_text().splitlines(), server


def test_every_atom(serve, tmp_path):
    atoms = "h l u m U q H s b B f a p {X-One}i {x-none}i {X-Made}o {x-none}o {REQUEST_METHOD}e {PATH_INFO}e".split()
    atoms += (
        "{QUERY_STRING}e {SERVER_NAME}e {REMOTE_ADDR}e {SERVER_PROTOCOL}e {CONTENT_TYPE}e {HTTP_X_ONE}e {HOME}e".split()
    )
    request = get(
        b"Authorization: Basic am9lOnNlY3JldA==",
        b"X-One: 1",
        b"Referer: http://r/",
        b"User-Agent: test/1",
        b"X-One: 2",
        b"Content-Type: text/odd",
        target=b"/a%20b?q=1",
    )
    (line,), server = log_of(serve, tmp_path / "log", "|".join(f"%({atom})s" for atom in atoms) + "|%%", request)
    assert line.split("|") == [
        *["127.0.0.1", "-", "joe", "GET", "/a%20b", "q=1", "HTTP/1.1", "200", "14", "14", "http://r/", "test/1"],
        *[f"<{server.pid}>", "1, 2", "-", "by the application", "-", "GET", "/a b"],
        *["q=1", "127.0.0.1", "127.0.0.1", "HTTP/1.1", "text/odd", "1, 2", "-", "%"],
    ]


def test_the_times_are_those_the_application_took(serve, tmp_path):
    path = tmp_path / "log"
    (line,), _ = log_of(serve, path, "%(t)s|%(r)s|%(T)s %(M)s %(D)s %(L)s", get(target=b"/nap/1.1"))
    when, what, times = line.split("|")
    assert re.fullmatch(r"\[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d \+0000\]", when)
    assert what == "GET /nap/1.1 HTTP/1.1"
    seconds, millis, micros, exact = (float(number) for number in times.split())
    assert seconds == 1
    assert 1100 <= millis <= micros / 1000 <= millis + 50
    assert re.search(r"1\.\d{6}$", times) and 1.1 <= exact < 2


def test_json_says_it_all(serve, tmp_path):
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    request = get(b"User-Agent: test", b"traceparent: " + trace.encode(), target=b"/nap/0.2?x=%22")
    (line,), server = log_of(serve, tmp_path / "log", "json", request)
    entry = json.loads(line)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", entry.pop("time"))
    assert 0.2 <= entry.pop("duration") < 2
    assert 0 <= entry.pop("queue_wait") < 2
    entry.pop("request_id")
    assert entry == {
        **{"client": "127.0.0.1", "method": "GET", "path": "/nap/0.2", "query": "x=%22", "status": 200, "bytes": 14},
        **{"traceparent": trace, "user_agent": "test", "referer": None, "protocol": "HTTP/1.1", "worker": server.pid},
    }


def test_the_wait_for_a_thread_is_told_apart_from_the_time_of_the_application(serve, tmp_path):
    path = tmp_path / "log"
    server = serve(
        *["fields:app", "--threads", "2", "--access-log", str(path), "--access-log-format", "json"], app_dir=OWN_APPS
    )
    with server.raw() as one, server.raw() as two, server.raw() as three:
        # One of the two threads reads for the other, so that what comes third waits in any case.
        for client in (one, two, three):
            client.send(get(target=b"/nap/0.5"))
        assert [client.read_response().status for client in (one, two, three)] == [200] * 3
    server.stop()
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(entries) == 3
    assert max(entry["queue_wait"] for entry in entries) >= 0.3
    assert all(entry["duration"] < 0.8 for entry in entries)


def test_json_is_valid_whatever_a_client_sends(serve, tmp_path):
    every = bytes(byte for byte in range(0x21, 0x100) if byte != 0x7F)
    requests = [
        get(
            b"User-Agent: " + every, b"Referer: caf\xc3\xa9 \xe2\x82 \xc2\x9b31m", target=b'/"\\\xff\xed\xa0\x80?"\xe9'
        ),
        b"GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: \x00\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n\r\n\r\n",
        b'GET "\x1b[2J HTTP/1.1\r\n\r\n',
        b"G\x01T / HTTP/1.1\r\n\r\n",
        head(b"GET " + b"/" * 9000 + b" HTTP/1.1"),
    ]
    lines, _ = log_of(serve, tmp_path / "log", "json", *requests)
    entries = [json.loads(line) for line in lines]
    assert [entry["status"] for entry in entries] == [200, 400, 400, 400, 400, 414]
    assert entries[0]["user_agent"] == every.decode("latin-1")
    assert entries[0]["referer"] == "caf\u00e9 \u00e2\u0082 \u009b31m"
    assert entries[0]["path"] == '/"\\\xff\xed\xa0\x80'
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", "".join(lines))


def test_no_atom_lets_a_client_forge_a_line(serve, tmp_path):
    atoms = "h u t r m U q H s b f a {X-Evil}i {PATH_INFO}e {HTTP_X_EVIL}e {RAW_URI}e {CONTENT_TYPE}e".split()
    # Basic of `a\nb\x1b[2J":c`, a path with encoded line ends, tabs and terminal sequences of eight bits.
    evil = [b"Authorization: Basic YQpiG1sySiI6Yw==", b'X-Evil: a\t"\x9b2J\\', b"Content-Type: \xe9\t"]
    request = get(*evil, b'User-Agent: "\t"', b"Referer: \x85", target=b'/%0a%0d%1b%22"\\?%0a"\xff')
    lines, _ = log_of(serve, tmp_path / "log", "|".join(f'"%({atom})s"' for atom in atoms), request)
    assert len(lines) == 1
    assert re.fullmatch(r"[ -~]*", lines[0])
    fields = re.findall(r'"((?:[^"\\]|\\.)*)"(?:\||$)', lines[0])
    assert len(fields) == len(atoms)
    assert fields[1] == r"a\x0ab\x1b[2J\""
    assert fields[13] == r"/\x0a\x0d\x1b\"\"\\"


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("%(z)s", r"%\(z\)s is no atom"),
        ("%h", "begins no atom"),
        ("combind", "has no atom"),
        ("%({a}x)s", "is no atom"),
    ],
)
def test_a_format_that_is_none_ends_the_start(tmp_path, form, reason):
    ended = run("hello:app", "--access-log", str(tmp_path / "log"), "--access-log-format", form)
    assert ended.returncode == 2
    assert re.search(reason, ended.stderr), ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("target", ["/nowhere/access.log", "syslog:/nowhere/log", "/"])
@pytest.mark.parametrize("check", [[], ["--check-config"]])
def test_a_log_that_cannot_be_opened_ends_the_start(target, check):
    ended = run("hello:app", "--access-log", target, "--bind", "127.0.0.1:0", "--no-supervisor", *check)
    assert ended.returncode == 1
    assert f"cannot open the access log {target}." in ended.stderr
    assert ended.stderr.endswith("Check access-log.\n")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pronghorn", *arguments, "--app-dir", str(APPS)]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def test_usr1_goes_on_in_a_new_file(serve, tmp_path):
    path, old = tmp_path / "log", tmp_path / "log.1"
    server = serve("hello:app", "--access-log", str(path), "--access-log-format", "%(U)s")
    with server.raw() as client:
        client.ask(get(target=b"/before"))
        path.rename(old)
        server.signal(signal.SIGUSR1)
        until(path.exists)
        client.ask(get(target=b"/after"))
    server.stop()
    assert (old.read_text(), path.read_text()) == ("/before\n", "/after\n")


def test_a_log_that_cannot_be_reopened_goes_on_in_the_old_file(serve, tmp_path):
    folder, moved = tmp_path / "logs", tmp_path / "moved"
    folder.mkdir()
    server = serve("hello:app", "--access-log", str(folder / "log"), "--access-log-format", "%(U)s")
    folder.rename(moved)
    server.signal(signal.SIGUSR1)
    server.wait_for_log("the access log cannot be reopened, it goes on where it went: No such file")
    server.get("/after")
    server.stop()
    assert (moved / "log").read_text() == "/after\n"


def test_lines_of_several_processes_in_one_file_stay_whole(serve, tmp_path):
    path = tmp_path / "log"
    form = "%(p)s %({x-number}i)s %({x-padding}i)s"
    servers = [serve("hello:app", "--access-log", str(path), "--access-log-format", form) for _ in range(3)]

    def ask(server: Server) -> None:
        with server.raw() as client:
            for number in range(0, 1000, 20):
                numbers = range(number, number + 20)
                client.send(b"".join(get(b"X-Number: %d" % n, b"X-Padding: " + b"x" * (n * 7 % 3000)) for n in numbers))
                for _ in numbers:
                    assert client.read_response().status == 200

    askers = [threading.Thread(target=ask, args=[server]) for server in servers]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    for server in servers:
        server.stop()
    expected = {f"<{server.pid}> {n} {'x' * (n * 7 % 3000) or '-'}" for server in servers for n in range(1000)}
    lines = path.read_text().splitlines()
    assert len(lines) == 3000
    assert set(lines) == expected


@contextlib.contextmanager
def unread_pipe() -> Iterator[tuple[int, str]]:
    """The smallest pipe there is: its end to read, and the name of the one to write."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    try:
        yield reader, f"/proc/{os.getpid()}/fd/{writer}"
    finally:
        os.close(reader)
        os.close(writer)


def test_a_pipe_that_nobody_reads_holds_up_no_request_and_no_end(serve):
    with unread_pipe() as (_, path):
        server = serve("hello:app", "--access-log", path)
        with server.raw() as client:
            agent = b"User-Agent: " + b"x" * 4000
            for _ in range(60):
                client.send(get(agent) * 20)
                for _ in range(20):
                    assert client.read_response().status == 200
        server.wait_for_log(LOST)
        begin = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - begin < 4
        lost = [int(number) for number, _ in re.findall(LOST, server.log())]
        # What a pipe of 4096 bytes took is one line at the most.
        assert sum(lost) in (1199, 1200)


def test_a_pipe_that_is_read_again_goes_on(serve):
    with unread_pipe() as (reader, path):
        server = serve("hello:app", "--access-log", path, "--access-log-format", "%(U)s %({x-padding}i)s")
        with server.raw() as client:
            for number in range(100):
                client.ask(get(b"X-Padding: " + b"x" * 1000, target=b"/%d" % number))
            seen = b""
            while seen.count(b"\n") < 100:
                seen += os.read(reader, 65536)
            assert [line.split(b" ")[0] for line in seen.splitlines()] == [b"/%d" % n for n in range(100)]


def test_a_full_disk_loses_lines_says_so_and_recovers(serve, tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"x" * 5000 + b"\n")
    server = serve("hello:app", "--access-log", str(path), "--access-log-format", "%(U)s")
    # The kernel lets the file grow by three bytes: the first line is cut.
    _, hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (5004, hard))
    with server.raw() as client:
        assert client.ask(get(target=b"/first")).status == 200
        server.wait_for_log(LOST + "|File too large")
        for _ in range(5):
            assert client.ask(get(target=b"/lost")).status == 200
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (hard, hard))
        # Written already or after the recovery: the lines in between are whole or not there.
        assert client.ask(get(target=b"/again")).status == 200
    server.stop()
    _, cut, *rest = path.read_text().splitlines()
    assert cut == "/fi"
    assert rest[-1] == "/again" and set(rest) <= {"/lost", "/again"}
    lost = [int(number) for number, _ in re.findall(LOST, server.log())]
    assert 1 <= sum(lost) <= 6 and sum(lost) + len(rest) == 7


def test_a_device_without_room_is_told_of_once_in_a_while(serve):
    server = serve("hello:app", "--access-log", "/dev/full")
    with server.raw() as client:
        for _ in range(20):
            assert client.ask(get()).status == 200
            time.sleep(0.02)
    server.stop()
    told = re.findall(LOST, server.log())
    # The first loss at once, all others together at the end.
    assert len(told) == 2
    assert sum(int(number) for number, _ in told) == 20
    assert "No space left on device" in told[0][1]


def test_syslog_on_a_unix_socket_that_comes_back(serve, tmp_path):
    path = tmp_path / "syslog"
    with datagrams(path) as daemon:
        server = serve("hello:app", "--access-log", f"syslog:{path}", "--access-log-format", "%(m)s %(U)s")
        server.get("/one")
        assert daemon.recv(9000) == b"<14>pronghorn[%d]: GET /one" % server.pid
    path.unlink()
    server.get("/lost")
    server.wait_for_log(LOST)
    with datagrams(path) as daemon:
        server.get("/two")
        assert daemon.recv(9000) == b"<14>pronghorn[%d]: GET /two" % server.pid
        server.stop()


def test_syslog_that_takes_nothing_holds_up_no_request(serve, tmp_path):
    path = tmp_path / "syslog"
    with datagrams(path):
        server = serve("hello:app", "--access-log", f"syslog:{path}", "--access-log-format", "%(U)s %({x-padding}i)s")
        with server.raw() as client:
            for _ in range(400):
                client.send(get(b"X-Padding: " + b"x" * 7000) * 5)
                for _ in range(5):
                    assert client.read_response().status == 200
        server.wait_for_log(LOST)
        assert server.stop() == 0


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_syslog_by_udp(serve, family, host):
    with socket.socket(family, socket.SOCK_DGRAM) as daemon:
        daemon.settimeout(10)
        daemon.bind((host, 0))
        port = daemon.getsockname()[1]
        target = f"syslog:[{host}]:{port}" if ":" in host else f"syslog:{host}:{port}"
        server = serve("hello:app", "--access-log", target, "--access-log-format", "%(U)s")
        server.get("/one")
        assert daemon.recv(9000) == b"<14>pronghorn[%d]: /one" % server.pid
        server.get("/two")
        assert daemon.recv(9000) == b"<14>pronghorn[%d]: /two" % server.pid


@contextlib.contextmanager
def datagrams(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as daemon:
        daemon.settimeout(10)
        daemon.bind(str(path))
        yield daemon


def test_standard_output_is_a_target(serve):
    server = serve("hello:app", "--access-log", "-", "--access-log-format", "line of %(U)s")
    server.get("/one")
    server.wait_for_log("line of /one\n")


def test_standard_output_that_is_a_file_is_appended_to_in_turn(tmp_path):
    path = tmp_path / "output"
    with socket.create_server(("127.0.0.1", 0)) as listener, path.open("w") as output:
        output.write("before\n")
        output.flush()
        command = [sys.executable, "-m", "pronghorn", "hello:app", "--app-dir", str(APPS), "--no-supervisor"]
        command += ["--fd", str(listener.fileno()), "--access-log", "-", "--access-log-format", "%(U)s"]
        with subprocess.Popen(
            command, stdout=output, stderr=subprocess.DEVNULL, pass_fds=[listener.fileno()]
        ) as server:
            with Client(listener.getsockname(), timeout=20) as client:
                client.ask(get(target=b"/one"))
            until(lambda: "/one" in path.read_text())
            output.write("between\n")
            output.flush()
            server.terminate()
    assert path.read_text() == "before\n/one\nbetween\n"


def test_the_client_that_a_trusted_proxy_names_and_the_identifier_of_the_request(serve, tmp_path):
    path, json_path = tmp_path / "text", tmp_path / "json"
    request = get(b"X-Forwarded-For: 192.0.2.7", b"X-Request-ID: abc-123")
    for log, form in ((path, "%(h)s %({REMOTE_ADDR}e)s %({REMOTE_PORT}e)s"), (json_path, "json")):
        server = serve("hello:app", "--request-id", "--access-log", str(log), "--access-log-format", form)
        with server.raw() as client:
            assert client.ask(request).status == 200
        server.stop()
    assert path.read_text() == "192.0.2.7 192.0.2.7 -\n"
    entry = json.loads(json_path.read_text())
    assert (entry["client"], entry["request_id"]) == ("192.0.2.7", "abc-123")


def test_a_head_request_that_the_server_answers_itself_has_no_bytes_of_a_body(serve, tmp_path):
    path = tmp_path / "access.log"
    options = ("--access-log", str(path), "--access-log-format", "%(s)s %(b)s", "--request-timeout", "0.3")
    server = serve("greedy:app", *options, app_dir=OWN_APPS)
    for host, target in ((b"a b", b"/"), (b"a", b"/none"), (b"a", b"/loop/30")):
        with server.raw() as client:
            client.send(b"HEAD %b HTTP/1.1\r\nHost: %b\r\nConnection: close\r\n\r\n" % (target, host))
            client.read_to_end(["HEAD"])
    server.stop()
    assert path.read_text().splitlines() == ["400 0", "500 0", "504 0"]


def test_the_identifier_of_a_request_is_in_every_format(serve, tmp_path):
    """The one that the application and the client get, not what somebody who is not trusted has sent."""
    path = tmp_path / "access.log"
    form = "%(s)s %({X-Request-ID}o)s %({HTTP_X_REQUEST_ID}e)s %({X-Request-ID}i)s"
    options = (
        "--access-log",
        str(path),
        "--access-log-format",
        form,
        "--request-id",
        "--forwarded-allow-ips",
        "10.0.0.1",
    )
    server = serve("hello:app", *options)
    expected = []
    for request in (get(b"X-Request-ID: forged"), head(b"X-Request-ID: forged", b"Host: b")):
        with server.raw() as client:
            response = client.ask(request)
        (made,) = response.all("X-Request-ID")
        assert len(made) == 32
        expected.append(f"{response.status} {made} {made}")
    server.stop()
    lines = path.read_text().splitlines()
    assert [line.rsplit(" ", 1)[0] for line in lines] == expected
    assert lines[0].endswith(" forged")

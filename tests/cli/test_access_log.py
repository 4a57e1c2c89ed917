"""The access log: a line for each answered request, none lost when the server ends."""

import re
from pathlib import Path

from harness.request import get

LINE = re.compile(r'127\.0\.0\.1 - - \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d \+0000\] "(.*)" (\d{3}) (\d+) "(.*)" "(.*)"')


def lines(path: Path) -> list[tuple[str, ...]]:
    found = [LINE.fullmatch(line) for line in path.read_text().splitlines()]
    assert all(found), path.read_text()
    return [match.groups() for match in found if match]


def test_every_request_has_its_line_when_the_server_has_ended(serve, tmp_path):
    path = tmp_path / "access.log"
    server = serve("hello:app", "--access-log", str(path))
    with server.raw() as client:
        for number in range(50):
            client.ask(get(b"Referer: here", b"User-Agent: test", target=b"/%d" % number))
    server.stop()
    assert lines(path) == [(f"GET /{n} HTTP/1.1", "200", "14", "here", "test") for n in range(50)]


def test_what_a_client_sends_cannot_forge_a_line(serve, tmp_path):
    path = tmp_path / "access.log"
    server = serve("hello:app", "--access-log", str(path))
    with server.raw() as client:
        client.ask(get(b'User-Agent: a" 200 0 "\\\xe9'))
    server.stop()
    ((_, _, _, _, agent),) = lines(path)
    assert agent == r"a\" 200 0 \"\\\xe9"


def test_a_refusal_and_a_failure_are_logged_with_what_was_sent(serve, tmp_path):
    path = tmp_path / "access.log"
    server = serve("failing:app", "--access-log", str(path), app_dir=Path(__file__).parent / "apps")
    with server.raw() as client:
        refused = client.ask(b"GET / HTTP/1.1\r\n\r\n")
    with server.raw() as client:
        failed = client.ask(get())
    server.stop()
    assert lines(path) == [
        ("GET / HTTP/1.1", "400", str(len(refused.body)), "-", "-"),
        ("GET / HTTP/1.1", "500", str(len(failed.body)), "-", "-"),
    ]

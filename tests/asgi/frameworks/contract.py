"""What an application of every framework does, asked for by httpx, curl and the websockets library.

A test module of a framework names its application as `APP` and takes the classes that fit into a class of its own.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from harness.server import Server
from harness.waiting import until

SECONDS = 10
LARGE = bytes(range(256)) * 12_000


class Http:
    """Requests and responses."""

    def test_it_answers_with_json(self, client: httpx.Client) -> None:
        answer = client.get("/", params={"a": "ü 1", "b": ""})
        assert answer.json()["query"]["a"] == "ü 1"
        assert answer.headers["content-type"].startswith("application/json")
        assert int(answer.headers["content-length"]) == len(answer.content)

    def test_a_path_is_decoded(self, client: httpx.Client) -> None:
        assert client.get("/name/Zo%C3%AB/a%20b").json() == {"name": "Zoë/a b"}

    def test_json_comes_back(self, server: Server, client: httpx.Client) -> None:
        value = {"text": "Grüße", "list": [1, 2.5, None, True], "long": "x" * 200_000}
        assert client.post("/json", json=value).json() == value
        assert json.loads(curl("--json", '{"a": [1]}', f"{server.url}/json")) == {"a": [1]}

    def test_a_form_is_read(self, client: httpx.Client) -> None:
        fields = {"name": "Zoë & Jim", "long": "x" * 50_000}
        assert client.post("/form", data=fields).json() == fields

    @pytest.mark.parametrize("content", [b"", b"small", LARGE], ids=["empty", "small", "large"])
    def test_a_file_is_uploaded(self, client: httpx.Client, content: bytes) -> None:
        files = {"file": ("naïve.bin", content)}
        answer = client.post("/upload", data={"title": "a title"}, files=files)
        assert answer.json() == told(content, "naïve.bin", "a title")

    def test_curl_uploads_a_file(self, server: Server, served_file: Path) -> None:
        # For one of this size it sends Expect: 100-continue, and waits a second when nothing comes.
        form = ["-F", "title=by curl", "-F", f"file=@{served_file}"]
        printed = json.loads(curl("--expect100-timeout", "20", *form, f"{server.url}/upload"))
        assert printed == told(served_file.read_bytes(), served_file.name, "by curl")

    def test_a_body_of_unknown_length_is_streamed_in(self, client: httpx.Client) -> None:
        pieces = (b"x" * 1000 for _ in range(500))
        assert client.put("/size", content=pieces).json() == {"size": 500_000}

    def test_a_response_is_streamed_out(self, server: Server, client: httpx.Client) -> None:
        lines = [f"line {number}" for number in range(500)]
        assert curl("--no-buffer", f"{server.url}/stream/500").splitlines() == lines
        with client.stream("GET", "/stream/500") as response:
            assert "content-length" not in response.headers
            assert list(response.iter_lines()) == lines

    def test_a_file_is_downloaded(self, client: httpx.Client, served_file: Path) -> None:
        answer = client.get("/file")
        assert answer.content == served_file.read_bytes()
        assert answer.headers["content-length"] == str(len(answer.content))
        assert "paper.bin" in answer.headers["content-disposition"]

    def test_both_cookies_are_set(self, client: httpx.Client) -> None:
        fields = client.get("/cookies").headers.get_list("set-cookie")
        assert [field.split(";")[0] for field in fields] == ["one=1", "two=2"]

    def test_what_it_raises_goes_to_the_log_and_not_to_the_client(self, server: Server, client: httpx.Client) -> None:
        answer = client.get("/raise")
        assert answer.status_code == 500
        assert "on purpose" not in answer.text
        assert client.get("/").status_code == 200
        server.wait_for_log("RuntimeError: raised on purpose")

    def test_what_it_does_not_have_is_not_found(self, client: httpx.Client) -> None:
        assert client.get("/nothing").status_code == 404
        assert client.delete("/json").status_code == 405

    def test_head_has_no_body(self, server: Server) -> None:
        answer = server.raw().ask(b"HEAD /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", "HEAD")
        assert answer.body == b""
        assert answer.status == 404

    def test_one_connection_is_used_again_for_all(self, client: httpx.Client) -> None:
        ports = set()
        for number in range(30):
            for answer in (client.post("/json", json=[number]), client.get("/stream/3")):
                ports.add(answer.extensions["network_stream"].get_extra_info("client_addr")[1])
                assert answer.text in (f"[{number}]", f"[{number}]\n", "line 0\nline 1\nline 2\n")
        assert len(ports) == 1


class Background:
    """Work that goes on when the response is out."""

    def test_work_goes_on_after_the_response(self, client: httpx.Client) -> None:
        answer = client.post("/later/something")
        assert (answer.status_code, answer.json()) == (202, {"accepted": "something"})
        until(lambda: "something" in done(client), what="the work after the response")


class Lifespan:
    """What it makes at its start is there for requests, and it is told of its end."""

    def test_it_has_started_before_the_first_request(self, client: httpx.Client) -> None:
        assert client.get("/started").json() == ["here"]

    def test_it_is_told_of_the_end(self, start: Any) -> None:
        server = start()
        assert server.stop() == 0
        assert server.log().count("the application has stopped") == 1


class WebSockets:
    """An echo; it takes the subprotocol `echo`, and closes with 4321 when told `please close`."""

    MESSAGES: list[str | bytes] = ["", "text", "Grüße, 世界", b"", b"\x00\xff", "long " * 50_000, LARGE[:1_000_000]]

    def test_text_and_bytes_come_back(self, server: Server) -> None:
        with websocket(server, "/echo") as connection:
            for message in self.MESSAGES:
                connection.send(message)
                assert connection.recv(SECONDS) == message

    def test_many_messages_keep_their_order(self, server: Server) -> None:
        messages = [f"{number} " + "x" * (number * 7 % 500) for number in range(200)]
        with websocket(server, "/echo", compression=None) as connection:
            for message in messages:
                connection.send(message)
            assert [connection.recv(SECONDS) for _ in messages] == messages

    def test_a_subprotocol_is_chosen(self, server: Server) -> None:
        with websocket(server, "/echo", subprotocols=["other", "echo"]) as connection:
            assert connection.subprotocol == "echo"
        with websocket(server, "/echo") as connection:
            assert connection.subprotocol is None

    def test_it_closes_with_a_code_and_a_reason(self, server: Server) -> None:
        with websocket(server, "/echo") as connection:
            connection.send("please close")
            with pytest.raises(ConnectionClosed) as closed:
                connection.recv(SECONDS)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4321, "as you wish")

    def test_a_path_without_a_websocket_is_refused(self, server: Server, client: httpx.Client) -> None:
        with pytest.raises(InvalidStatus) as refused:
            websocket(server, "/nothing")
        assert refused.value.response.status_code in (403, 404, 500)
        assert client.get("/done").status_code == 200


class ClosedByTheClient:
    """The application of the echo notes with what code and reason its client has closed."""

    NOTED = "websocket 4111 enough"

    def test_it_is_told_how_its_client_closes(self, server: Server, client: httpx.Client) -> None:
        before = done(client).count(self.NOTED)
        with websocket(server, "/echo") as connection:
            connection.send("hello")
            assert connection.recv(SECONDS) == "hello"
            connection.close(4111, "enough")
        until(lambda: done(client).count(self.NOTED) == before + 1, what=f"{self.NOTED!r} in {done(client)}")


def websocket(server: Server, path: str, **options: Any) -> ClientConnection:
    """A connection to a path of the server, by the websockets library."""
    return connect(f"ws://{server.host}:{server.port}{path}", open_timeout=SECONDS, max_size=None, **options)


def done(client: httpx.Client) -> list[str]:
    """What the application notes to have done."""
    return list(client.get("/done").json())


def told(content: bytes, name: str, title: str) -> dict[str, Any]:
    """What the applications tell of an upload."""
    return {"title": title, "name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def curl(*arguments: str) -> str:
    """What the curl program prints; it must succeed."""
    command = ["curl", "--silent", "--show-error", "--fail", "--max-time", "20", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout

"""The Flask, Bottle and web.py applications, and curl as their client."""

from __future__ import annotations

import concurrent.futures
import json
import subprocess
from pathlib import Path

import httpx
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module", params=["flask", "bottle", "webpy"])
def server(serve_module, request):
    return serve_module("hello:application", app_dir=EXAMPLES / f"{request.param}_hello")


def curl(*arguments: str) -> str:
    """What the curl program prints; it must succeed."""
    command = ["curl", "--silent", "--show-error", "--fail", "--max-time", "20", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_it_greets(server):
    assert curl(server.url).startswith("Hello from ")


def test_it_echoes_a_form(server):
    fields = {"name": "Zoë & Jim", "empty": "", "long": "x" * 50_000}
    assert httpx.post(f"{server.url}/echo", data=fields).json() == fields
    assert json.loads(curl("--data-urlencode", "a=ü+1", f"{server.url}/echo")) == {"a": "ü+1"}


def test_it_echoes_a_form_of_several_parts(server):
    assert json.loads(curl("-F", "a=1", "-F", "b=zwölf", f"{server.url}/echo")) == {"a": "1", "b": "zwölf"}


def test_it_streams(server):
    lines = [f"line {number}" for number in range(2000)]
    assert curl("--no-buffer", f"{server.url}/stream/2000").splitlines() == lines
    with httpx.stream("GET", f"{server.url}/stream/2000") as response:
        assert "content-length" not in response.headers
        assert list(response.iter_lines()) == lines


def test_what_it_raises_goes_to_the_log_and_not_to_the_client(server):
    response = httpx.get(f"{server.url}/raise")
    assert response.status_code == 500
    assert "on purpose" not in response.text
    server.wait_for_log("RuntimeError: raised on purpose")
    assert curl(server.url).startswith("Hello from ")


def test_what_it_does_not_have_is_not_found(server):
    assert httpx.get(f"{server.url}/nothing").status_code == 404
    assert httpx.get(f"{server.url}/echo").status_code == 405
    assert httpx.head(server.url).content == b""


def test_it_answers_many_clients_at_once(server):
    def ask(number: int) -> list[dict[str, str]]:
        with httpx.Client(base_url=server.url) as client:
            return [client.post("/echo", data={"n": f"{number} {i}"}).json() for i in range(10)]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(16)))
    assert answers == [[{"n": f"{number} {i}"} for i in range(10)] for number in range(16)]

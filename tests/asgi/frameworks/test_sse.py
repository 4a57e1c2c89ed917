"""Server-sent events, by sse-starlette."""

from __future__ import annotations

import httpx

from asgi.frameworks.contract import curl
from harness.waiting import until

APP = "sse_app:app"


def ended(client: httpx.Client) -> list[str]:
    return list(client.get("/ended").json())


def test_events_arrive_with_names_and_numbers(server):
    events = curl("--no-buffer", f"{server.url}/count").replace("\r\n", "\n").strip().split("\n\n")
    assert [event.splitlines() for event in events] == [
        [f"id: {number}", "event: count", f"data: number {number}", "data: of five"] for number in range(5)
    ]


def test_a_client_goes_on_where_it_was(client):
    with client.stream("GET", "/count", headers={"last-event-id": "2"}) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = list(response.iter_lines())
    assert [line for line in lines if line.startswith("id")] == ["id: 3", "id: 4"]


def test_each_event_arrives_when_it_is_made(client):
    with client.stream("GET", "/ticks/each") as response:
        lines = (line for line in response.iter_lines() if line)
        assert [next(lines) for _ in range(20)] == ["data: each"] * 20
    until(lambda: "each" in ended(client), what="the end of the generator")


def test_a_stream_that_is_silent_ends_when_its_client_has_gone(client):
    with client.stream("GET", "/silence/quiet") as response:
        assert next(response.iter_lines()).startswith(": ping")
    until(lambda: "quiet" in ended(client), what="the end of the generator")


def test_a_hundred_listeners_hear_and_go(server, client):
    names = [f"listener-{number}" for number in range(100)]
    listeners = [server.raw() for _ in names]
    for name, listener in zip(names, listeners):
        listener.send(f"GET /ticks/{name} HTTP/1.1\r\nHost: test\r\n\r\n".encode())
    for name, listener in zip(names, listeners):
        heard = b""
        while f"data: {name}".encode() not in heard:
            heard += listener.receive()
        listener.close()
    until(lambda: set(names) <= set(ended(client)), what="the end of all generators")

"""What is asked of a server: how its answer is checked, how it is loaded and what is read from that."""

import http.client
import json
import socket
import time

import blocked
import load
import production
import websocket
from measuring import ColdWorkload, Workload, WrongAnswer, client, loaded
from spec import BENCH

ECHO_BODY = b"0123456789abcdef" * 6400
STREAM_BYTES = 64 * 1024
CONNECTIONS = 64
ECHO_CONNECTIONS = 32
CLOSE_CLIENTS = 100
FAST_CONNECTIONS = 32
SLOW_CONNECTIONS = 6
IDLE_CONNECTIONS = 10_000
WARM_UP_SECONDS = 1
REPLY_SECONDS = 10


def check_hello(port):
    """Expect the greeting over HTTP/1.1."""
    _expect(_fetch(port, "GET", "/"), b"Hello, World!\n")


def check_close(port):
    """Expect the greeting and then the end of the connection over HTTP/1.0, as ab asks for it."""
    with socket.create_connection(("127.0.0.1", port), REPLY_SECONDS) as client:
        client.sendall(b"GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
        reply = http.client.HTTPResponse(client)
        reply.begin()
        _expect((reply.status, reply.read()), b"Hello, World!\n")
        if client.recv(1):
            raise WrongAnswer("the connection stayed open after HTTP/1.0")


def check_numbered(port):
    """Expect a process id and the name that was asked for."""
    status, body = _fetch(port, "GET", "/name")
    if status != 200 or not body.endswith(b" name"):
        raise WrongAnswer(f"status {status} and {body[:40]!r} instead of a process id and a name")


def check_json(port):
    """Expect about 10 KB of JSON."""
    status, body = _fetch(port, "GET", "/")
    if status != 200 or not 9_000 < len(body) < 11_000 or len(json.loads(body)) < 100:
        raise WrongAnswer(f"status {status} and {len(body)} bytes instead of 10 KB of JSON")


def check_echo(port):
    """Expect the body that was sent."""
    _expect(_fetch(port, "POST", "/", ECHO_BODY), ECHO_BODY)


def check_mixed(port):
    """Expect the greeting from the sleeping view, not before its 50 ms, and from the fast one."""
    began = time.monotonic()
    _expect(_fetch(port, "GET", "/sleep"), b"Hello, World!\n")
    if time.monotonic() - began < 0.05:
        raise WrongAnswer("the sleeping view did not sleep")
    check_hello(port)


def measure_hello(server, seconds):
    """64 kept-alive connections, each asking again as soon as it is answered."""
    load.wrk(server.port, CONNECTIONS, WARM_UP_SECONDS)
    return loaded(server, lambda: load.wrk(server.port, CONNECTIONS, seconds))


def measure_close(server, seconds):
    """100 clients that open a connection for each request."""
    return loaded(server, lambda: load.ab(server.port, CLOSE_CLIENTS, seconds))


def measure_echo(server, seconds):
    """32 kept-alive connections that post 100 KB and read it back."""
    sample = loaded(server, lambda: load.wrk(server.port, ECHO_CONNECTIONS, seconds, script=BENCH / "echo.lua"))
    if sample["bytes_per_reply"] < len(ECHO_BODY):
        raise WrongAnswer(f"{sample['bytes_per_reply']} bytes a reply: bodies were cut")
    return sample


def measure_mixed(server, seconds):
    """32 fast connections while 6 others wait in a view that sleeps 50 ms.

    `rate` and the latencies are of the fast ones, `slow_rate` of the others (120 at best); the processor time that both
    took is divided by the fast requests.
    """
    slow_seconds = seconds + WARM_UP_SECONDS
    with client("slow_clients.py", server.port, SLOW_CONNECTIONS, slow_seconds) as slow:
        load.wrk(server.port, FAST_CONNECTIONS, WARM_UP_SECONDS)
        sample = loaded(server, lambda: load.wrk(server.port, FAST_CONNECTIONS, seconds))
        answered = int(slow.communicate(timeout=slow_seconds + load.GRACE_SECONDS)[0])
    return sample | {"slow_rate": answered / slow_seconds}


def check_stream(port):
    """Expect 64 KB."""
    status, body = _fetch(port, "GET", "/")
    if status != 200 or len(body) != STREAM_BYTES:
        raise WrongAnswer(f"status {status} and {len(body)} bytes instead of {STREAM_BYTES}")


def measure_stream(server, seconds):
    """Bodies of 64 KB in 64 pieces; any connection closed or reply cut short is an error."""
    script = BENCH / "sizes.lua"
    load.wrk(server.port, ECHO_CONNECTIONS, WARM_UP_SECONDS, script=script)
    sample = loaded(server, lambda: load.wrk(server.port, ECHO_CONNECTIONS, seconds, script=script))
    if sample["bytes_per_reply"] < STREAM_BYTES:
        raise WrongAnswer(f"{sample['bytes_per_reply']} bytes a reply: bodies were cut")
    return sample


def measure_memory(server, seconds):
    """Memory of the whole tree after a hello load."""
    load.wrk(server.port, CONNECTIONS, seconds)
    return server.memory()


def measure_idle(server, seconds):
    """10,000 idle connections: memory each, and the latency of one request after the other without and with them.

    `held` is how many were answered and `kept` how many the server kept open to the end; memory each (`bytes_each`) is
    None unless both are all of them.
    """
    load.wrk(server.port, CONNECTIONS, WARM_UP_SECONDS)
    alone, memory_alone = load.wrk(server.port, 1, seconds), server.memory()
    with client("idle_clients.py", server.port, IDLE_CONNECTIONS) as idle:
        held = int(idle.stdout.readline())
        memory_held = server.memory()
        crowded = load.wrk(server.port, 1, seconds)
        kept = int(idle.communicate("\n", timeout=load.GRACE_SECONDS)[0])
    grown = memory_held["pss_kib"] - memory_alone["pss_kib"]
    return memory_held | {
        "held": held,
        "kept": kept,
        "bytes_each": grown * 1024 / held if kept == IDLE_CONNECTIONS else None,
        "p50_ms_without": alone.p50_ms,
        "p99_ms_without": alone.p99_ms,
        "p50_ms": crowded.p50_ms,
        "p99_ms": crowded.p99_ms,
    }


def _fetch(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=REPLY_SECONDS)
    try:
        connection.request(method, path, body)
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


def _expect(answer, body):
    status, received = answer
    if status != 200 or received != body:
        raise WrongAnswer(f"status {status} and {received[:40]!r} ({len(received)} bytes) instead of {len(body)} bytes")


WORKLOADS = {
    "hello": Workload("hello", check_hello, measure_hello),
    "close": Workload("hello", check_close, measure_close),
    "json": Workload("json_records", check_json, measure_hello),
    "echo": Workload("echo", check_echo, measure_echo),
    "mixed": Workload("mixed", check_mixed, measure_mixed),
    "idle": Workload("hello", check_hello, measure_idle),
    "memory": Workload("hello", check_hello, measure_memory),
    "options": Workload("hello", check_hello, measure_hello),
    "start": ColdWorkload("hello", production.measure_start),
    "roll": Workload("numbered", check_numbered, production.measure_roll),
    "asgi-hello": Workload("hello", check_hello, measure_hello),
    "asgi-json": Workload("json_records", check_json, measure_hello),
    "asgi-echo": Workload("echo", check_echo, measure_echo),
    "asgi-stream": Workload("stream", check_stream, measure_stream),
    "asgi-memory": Workload("hello", check_hello, measure_memory),
    "asgi-blocked": Workload("blocking", check_hello, blocked.measure_blocked),
    "ws-echo-1": websocket.echo_workload(1, 16),
    "ws-echo-32": websocket.echo_workload(32, 16),
    "ws-echo-256": websocket.echo_workload(256, 16),
    "ws-echo-1-16k": websocket.echo_workload(1, 16 * 1024),
    "ws-echo-32-16k": websocket.echo_workload(32, 16 * 1024),
    "ws-echo-256-16k": websocket.echo_workload(256, 16 * 1024),
    "ws-broadcast": Workload("ws_broadcast", websocket.check_by_load, websocket.measure_broadcast),
    "ws-idle": Workload("ws_echo", websocket.check_by_load, websocket.measure_idle),
}

# Names that stand for several: what is asked of applications of one kind.
GROUPS = {
    "wsgi": [name for name in WORKLOADS if not name.startswith(("asgi-", "ws-"))],
    "asgi": [name for name in WORKLOADS if name.startswith("asgi-")],
    "websocket": [name for name in WORKLOADS if name.startswith("ws-")],
}

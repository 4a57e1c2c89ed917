"""Clients that made one request each and stay connected: `idle_clients.py PORT CONNECTIONS`.

Prints how many connections are held, waits for a line on standard input, then prints how many of them the server
still keeps open. One descriptor a connection; they come from several loopback addresses, so that ports do not run out.
"""

import socket
import sys
import time

REQUEST = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
SOURCES = [f"127.0.0.{last}" for last in range(2, 10)]
REPLY_SECONDS = 3
OPEN_SECONDS = 60
FAILURES_TO_STOP = 5


def hold(port, wanted):
    """Return up to `wanted` answered connections; stops early when the server refuses several in a row, or is slow."""
    held, failures = [], 0
    deadline = time.monotonic() + OPEN_SECONDS
    while len(held) < wanted and failures < FAILURES_TO_STOP and time.monotonic() < deadline:
        try:
            held.append(answered_connection(port, SOURCES[len(held) % len(SOURCES)]))
            failures = 0
        except OSError:
            failures += 1
    return held


def answered_connection(port, source):
    """Open a connection from `source`, make one request on it and read the answer."""
    client = socket.socket()
    try:
        client.settimeout(REPLY_SECONDS)
        client.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
        client.bind((source, 0))
        client.connect(("127.0.0.1", port))
        client.sendall(REQUEST)
        answer = b""
        while not answer.endswith(b"Hello, World!\n"):
            more = client.recv(4096)
            if not more:
                raise ConnectionError("closed before the answer was complete")
            answer += more
        client.setblocking(False)
        return client
    except OSError:
        client.close()
        raise


def still_open(client):
    """Whether the server has neither closed nor reset the connection."""
    try:
        return client.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def main():
    """Hold the connections until told."""
    held = hold(int(sys.argv[1]), int(sys.argv[2]))
    print(len(held), flush=True)
    sys.stdin.readline()
    print(sum(map(still_open, held)), flush=True)


IP_BIND_ADDRESS_NO_PORT = 24  # ip(7); the module socket does not name it before Python 3.12

if __name__ == "__main__":
    main()

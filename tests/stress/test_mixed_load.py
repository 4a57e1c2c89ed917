"""Thousands of requests of every kind at once, with clients that leave: each that stays gets its own answer, once."""

import os
import random
import threading
import time

import pytest

from harness import process
from harness.request import get, post
from harness.waiting import until

CLIENTS = 24
SECONDS = 8.0
KINDS = ["fast"] * 12 + ["sleeping"] * 3 + ["computing", "raising", "streaming", "uploading", "uploading"]


class Load(threading.Thread):
    """One client: requests on kept-alive connections, in pipelines of a few, some of them abandoned."""

    def __init__(self, server, number, seed, until):
        super().__init__(name=f"client {number}")
        self.server, self.number, self.until = server, number, until
        self.random = random.Random(f"{seed}/{number}")
        self.count = 0
        self.answered = 0
        self.error = None

    def run(self):
        try:
            while time.monotonic() < self.until:
                self.connection()
        except Exception as error:
            self.error = f"{self.name}, request {self.count}: {error!r}"

    def connection(self):
        """A connection of up to twenty pipelines; it may be left in the middle of one."""
        with self.server.raw(timeout=20) as client:
            for _ in range(self.random.randrange(1, 20)):
                requests = [self.request() for _ in range(self.random.choice([1, 1, 1, 2, 5]))]
                client.extend()
                client.send(b"".join(sent for sent, _, _ in requests))
                if self.random.random() < 0.05:
                    return self.leave(client)
                for _, kind, identity in requests:
                    response = client.read_response()
                    self.check(response, kind, identity)
                    if response.closes:
                        assert kind == "raising" and client.is_closed()
                        return

    def request(self):
        """The bytes of a random request, its kind and its id."""
        self.count += 1
        kind, identity = self.random.choice(KINDS), b"%d-%d" % (self.number, self.count)
        target = b"/%s?%s" % (kind.encode(), identity)
        if kind == "uploading":
            identity *= self.random.choice([1, 1000, 20_000])
            return post(identity, target=target), kind, identity
        return get(target=target), kind, identity

    def check(self, response, kind, identity):
        """The response is the one to that request."""
        assert response.status == (500 if kind == "raising" else 200)
        assert kind == "raising" or response.body == identity, f"another answer than the one to {identity[:40]!r}"
        self.answered += 1

    def leave(self, client):
        """Goes without an answer: with FIN or RST, at once or after the first bytes."""
        if self.random.random() < 0.5:
            client.receive(1)
        if self.random.random() < 0.5:
            client.reset()


@pytest.mark.parametrize("threads", ["1", "8"])
def test_every_request_is_answered_once_with_its_own_answer(serve, threads):
    seed = os.environ.get("STRESS_SEED", "1")
    server = serve("mixed:app", "--threads", threads)
    assert server.get("/fast?0").body == b"0"
    descriptors = process.descriptors(server.pid)
    end = time.monotonic() + SECONDS
    loads = [Load(server, number, seed, end) for number in range(CLIENTS)]
    for load in loads:
        load.start()
    for load in loads:
        load.join()
    assert [load.error for load in loads if load.error] == [], f"with STRESS_SEED={seed}"
    assert sum(load.answered for load in loads) > 1000
    assert server.get("/fast?last").body == b"last"
    until(lambda: process.descriptors(server.pid) <= descriptors)
    # The threads that run the application, the monitor, and at most two of the interpreter's and the log's own.
    assert process.threads(server.pid) <= int(threads) + 4

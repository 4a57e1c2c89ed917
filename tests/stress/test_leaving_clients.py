"""Ten thousand clients that leave at random moments: no task, descriptor or memory is left behind."""

import os
import random
import threading
import time
from pathlib import Path

import pytest

from harness import process
from harness.request import chunked, chunks, get, head, post
from harness.waiting import until

APPS = Path(__file__).parent.parent / "asgi" / "apps"
MIB = 1024 * 1024
CLIENTS = 4
ROUNDS, A_ROUND = 5, 2000
NAMES = [
    b"waiting",
    b"again",
    b"racing",
    b"slow/0",
    b"slow/0.01",
    b"patient/0.01",
    b"stream",
    b"sending/0",
    b"sending_after_notice",
]


def requests(chance):
    """A random request, whole or not."""
    target = b"/" + chance.choice(NAMES)
    request = chance.choice(
        [
            get(target=target),
            post(b"x" * chance.choice([1, 1000, 100_000]), target=target),
            chunked(chunks(b"x" * 1000, b"y"), target=target),
            head(b"POST /upload HTTP/1.1", b"Host: test", b"Content-Length: 99999") + b"half",
            head(b"POST " + target + b" HTTP/1.1", b"Host: test", b"Content-Length: 9", b"Expect: 100-continue"),
            get(target=target) * 3,
        ]
    )
    return request if chance.random() < 0.7 else request[: chance.randrange(1, len(request))]


def leave(server, seed, count):
    """So many clients, one after the other, that go when it suits them."""
    chance = random.Random(seed)
    for _ in range(count):
        with server.raw(timeout=10) as client:
            client.send_pieces([requests(chance)])
            moment = chance.random()
            if moment < 0.3:
                time.sleep(chance.random() * 0.003)
            elif moment < 0.4:
                client.half_close()
            if chance.random() < 0.5:
                client.reset()


def everybody_leaves(server, seed, count):
    """So many clients, some at once."""
    threads = [
        threading.Thread(target=leave, args=(server, f"{seed}/{number}", count // CLIENTS)) for number in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def left(server):
    """The tasks and objects that there are."""
    return server.get("/left").json()


@pytest.mark.timeout(120)
@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_clients_that_leave_at_random_moments_leave_nothing_behind(serve, loop):
    seed = os.environ.get("STRESS_SEED", "1")
    server = serve("disconnects:app", "--loop", loop, app_dir=APPS)
    tasks, descriptors = left(server)["tasks"], process.descriptors(server.pid)
    objects, memory = [], []
    for turn in range(ROUNDS):
        everybody_leaves(server, f"{seed}/{turn}", A_ROUND)
        until(lambda: left(server)["tasks"] == tasks, 20, "the tasks are gone")
        until(lambda: process.descriptors(server.pid) <= descriptors, 20, "the descriptors are back")
        objects.append(left(server)["objects"])
        memory.append(process.resident(server.pid))
    print(f"objects {objects}, memory {memory}")
    # What is left behind grows in every round, a peak of what is held at once only in some.
    assert min(after - before for before, after in zip(objects, objects[1:])) < 100, f"with STRESS_SEED={seed}"
    assert min(after - before for before, after in zip(memory, memory[1:])) < MIB, f"with STRESS_SEED={seed}"
    assert server.get("/slow/0").body == b" slept"

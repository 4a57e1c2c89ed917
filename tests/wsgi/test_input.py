"""wsgi.input against io.BytesIO: any sequence of operations gives the same, wherever the body is."""

import io
import random

import pytest

from apps import inputs
from harness.request import chunked, chunks, head, post

OPERATIONS = [
    "read", "read=-1", "read=None", "read=0", "read=1", "read=7", "read=70000", "readline", "readline=0", "readline=3", "readline=70000",
    "readlines", "readlines=0", "readlines=5", "readlines=70000", "next", "iterate",
]  # fmt: skip
IN_A_FILE = ("--body-buffer", "100")


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("flags", [(), IN_A_FILE], ids=["in memory", "in a file"])
def test_any_operations_give_what_bytes_io_gives(share, flags, seed):
    operations, body = random_case(seed)
    wanted = inputs.perform(io.BytesIO(body), operations)
    target = b"/?" + operations.encode()
    with share("inputs:app", *flags).raw() as client:
        assert client.ask(post(body, target=target)).json() == wanted
        assert client.ask(chunked(chunks(body[:50], body[50:]), target=target)).json() == wanted


@pytest.mark.parametrize("flags", [(), IN_A_FILE], ids=["in memory", "in a file"])
def test_an_expected_body_gives_what_bytes_io_gives(share, flags):
    operations, body = random_case(4)
    with share("inputs:app", *flags).raw() as client:
        length = b"Content-Length: %d" % len(body)
        client.send(head(b"POST /?%s HTTP/1.1" % operations.encode(), b"Host: test", length, b"Expect: 100-continue"))
        client.wait_for(b"HTTP/1.1 100 ")
        client.send(body)
        assert client.read_response().json() == inputs.perform(io.BytesIO(body), operations)


def random_case(seed):
    """Operations as `inputs:app` takes them, and a body of more than 100 bytes with short and long lines."""
    chance = random.Random(seed)
    operations = ";".join(chance.choice(OPERATIONS) for _ in range(chance.randint(1, 12)))
    lines = [b"x" * chance.choice([0, 1, 5, 80, chance.choice([100, 70000])]) for _ in range(chance.randint(2, 30))]
    return operations, b"y" * 101 + b"\n".join(lines)

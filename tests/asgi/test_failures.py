"""Whatever an application raises, and when: the log tells of it once, with its traceback, and the server goes on."""

import pytest

from harness.request import post
from harness.websocket import TEXT, frame, handshake, opened

KINDS = ["exit", "interrupt", "own", "error"]


@pytest.fixture
def told(serve_asgi, loop):
    """A function that makes requests by `ask(server, path)`, and says for each path how often the log tells of it."""

    def failures(ask, paths):
        server = serve_asgi("raising:app", "--loop", loop)
        for path in paths:
            ask(server, path)
            assert server.get("/hello").body == b"hello"
        assert server.stop() == 0
        log = server.log()
        print(log)
        assert log.count("Traceback") == len(paths)
        return {path: log.count(f"raised at {path}\n") for path in paths}

    return failures


def once(paths):
    """What `told` is to give."""
    return dict.fromkeys(paths, 1)


@pytest.mark.parametrize("step", ["first", "later", "woken"])
def test_a_request_that_fails_is_told_once(told, step):
    def ask(server, path):
        with server.raw() as client:
            whole = post(b"hello", target=path.encode())
            client.send(whole[:-5])
            assert client.is_silent(0.05) or step != "woken"
            client.send(whole[-5:])
            assert client.read_response().status == (200 if "/after/" in path else 500)

    paths = [f"/request/{step}/{when}/{kind}" for when in ("before", "after") for kind in KINDS]
    assert told(ask, paths) == once(paths)


@pytest.mark.parametrize("step", ["first", "later", "woken"])
def test_a_websocket_that_fails_is_told_once(told, step):
    def ask(server, path):
        when = path.split("/")[3]
        if when in ("open", "after"):
            with opened(server, path) as websocket:
                websocket.send(frame(TEXT, b"go on"))
                assert websocket.read_close()[0] == (4000 if when == "after" else 1011)
        else:
            with server.raw() as client:
                assert client.ask(handshake(target=path.encode())).status == (401 if when == "denied" else 500)

    whens = ["open", "after"] if step == "woken" else ["before", "open", "after", "denied"]
    paths = [f"/websocket/{step}/{when}/{kind}" for when in whens for kind in KINDS]
    assert told(ask, paths) == once(paths)


@pytest.mark.parametrize("where", ["task", "kept_task", "callback", "receiver"])
def test_what_runs_beside_a_request_and_fails_is_told_once(told, where):
    def ask(server, path):
        with server.raw() as client:
            assert client.ask(post(b"hello", target=path.encode())).body == b"answered"

    # What asyncio does not tell of before a task is dropped is left to it.
    kinds = ["exit", "interrupt"] if where == "kept_task" else KINDS
    paths = [f"/{where}/{kind}" for kind in kinds]
    assert told(ask, paths) == once(paths)

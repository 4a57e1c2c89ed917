"""What an application does between two messages is done in its task, though the task does not take each step."""

import sys

import pytest

from harness.websocket import TEXT, frame, opened


@pytest.fixture
def server(share_asgi, loop):
    """The application that does what it is told, on each event loop."""
    return share_asgi("ws_steps:app", "--loop", loop, "--lifespan", "off")


@pytest.fixture
def ask(server):
    """A function that sends a command and gives the answer; the application waits again and again by then."""
    with opened(server) as socket:

        def ask(command):
            socket.send(frame(TEXT, command.encode()))
            return socket.read_message()

        for _ in range(3):
            assert ask("hello") == "hello"
        ask.socket = socket
        yield ask
        assert ask("hello") == "hello"
        assert ask("identity").startswith("[True, 'asyncio', False")
        socket.shut()


def test_a_step_is_one_of_the_task(ask):
    for _ in range(3):
        assert ask("identity") == "[True, 'asyncio', False, None]"


def test_a_step_is_in_the_context_of_the_task(ask, server):
    with opened(server) as other:
        for number in range(1, 6):
            assert ask("counted") == str(number)
            other.send(frame(TEXT, b"counted"))
            assert other.read_message() == str(number)


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("timed", "late hello"),
        ("scoped", "True hello"),
        ("cancelled_waiting", "cancelled hello"),
        ("cancels_itself_and_receives", "cancelled hello"),
        ("cancels_itself_and_sleeps", "cancelled hello"),
        ("cancels_itself_and_its_child", "cancelled hello True"),
        ("says_why", "('enough',) hello"),
        ("gives_up_futures", "[True, True] hello"),
        ("gathered_and_cancelled", "['CancelledError', 'CancelledError'] ('enough',) hello"),
    ],
)
def test_time_limits_and_cancellation_find_who_waits(ask, command, answer):
    for _ in range(3):
        ask.socket.send(frame(TEXT, command.encode()))
        assert ask.socket.client.is_silent(0.15)
        assert ask("hello") == answer
        assert ask("hello") == "hello"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tasks take nothing back before CPython 3.11")
def test_a_cancellation_that_is_taken_back_is_as_in_any_task(ask):
    is_dropped = sys.version_info >= (3, 13)
    answer = "hello hello" if is_dropped else "cancelled hello cancelled hello"
    for _ in range(2):
        ask.socket.send(frame(TEXT, b"takes_it_back"))
        assert ask.socket.client.is_silent(0.05)
        ask.socket.send(frame(TEXT, b"hello"))
        assert ask.socket.client.is_silent(0.05)
        assert ask("hello") == answer


def test_nothing_is_kept_of_a_message_that_was_taken(ask):
    for _ in range(2):
        ask.socket.send(frame(TEXT, b"steps_in_a_handler"))
        assert ask.socket.client.is_silent(0.02)
        assert ask("hello") == "hello"
        assert ask.socket.client.is_silent(0.3)
        assert ask("noted") == "True"
        ask.socket.send(frame(TEXT, b"keeps_nothing"), frame(TEXT, b"hello"))
        assert ask.socket.read_message() == "2"


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("sleeps", "hellohello"),
        ("leaves_it_to_a_child", "hello"),
        ("by_hand", "[(1, True), (2, True), (3, True)] hello"),
        ("waits_with_others", "['awaited'] hello ['awaited', 'awaited'] hello"),
    ],
)
def test_other_things_are_waited_for_in_between(ask, command, answer):
    for _ in range(3):
        for text in [command] + ["hello"] * (answer.count("hello") - 1):
            ask.socket.send(frame(TEXT, text.encode()))
            assert ask.socket.client.is_silent(0.05)
        assert ask("hello") == answer


def test_what_is_thrown_while_the_loop_runs_within_a_step_comes_after_it(share_asgi):
    with opened(share_asgi("ws_steps:app", "--loop", "asyncio", "--lifespan", "off")) as socket:
        for _ in range(3):
            socket.send(frame(TEXT, b"hello"))
            assert socket.read_message() == "hello"
            socket.send(frame(TEXT, b"nests"))
            assert socket.client.is_silent(0.15)
            socket.send(frame(TEXT, b"hello"))
            assert socket.read_message() == "cancelled hello"


@pytest.mark.parametrize(("command", "code"), [("fails", 1011), ("closes", 1011)])
def test_the_end_in_a_step_is_the_end_of_the_task(serve_asgi, loop, command, code):
    server = serve_asgi("ws_steps:app", "--loop", loop, "--lifespan", "off")
    with opened(server) as socket:
        for text in (b"hello", b"hello", b"hello"):
            socket.send(frame(TEXT, text))
            assert socket.read_message() == "hello"
        socket.send(frame(TEXT, command.encode()))
        assert socket.is_failed_with(code)
    if command == "fails":
        assert server.wait_for_log("RuntimeError: told to fail")
    assert server.stop() == 0
    assert server.log().count("Traceback") == (command == "fails")
    assert "never retrieved" not in server.log()

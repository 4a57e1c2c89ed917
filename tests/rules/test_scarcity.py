"""What the system refuses or interrupts costs at most the request it was for."""

import resource
import signal

from harness.request import chunked, chunks, get, post
from rules.exhaustion import limited


def test_a_body_that_cannot_be_stored_is_refused_and_the_server_goes_on(serve):
    server = serve("calls:app", "--body-buffer", "64KiB")
    with limited(server.pid, resource.RLIMIT_FSIZE, 4096):
        for request in (post(b"x" * 200_000), chunked(chunks(b"x" * 200_000))):
            with server.raw() as client:
                client.send_pieces([request])
                response = client.read_response()
                assert response.status in (500, 503, 507) and response.closes
    assert server.get("/calls").body == b"", "the application was run for a body that was not there"
    with server.raw() as client:
        assert client.ask(post(b"x" * 200_000)).body == b"/ read 200000 bytes"


def test_interrupted_system_calls_are_made_again(serve):
    server = serve("naps:app")
    with server.raw() as idle, server.raw() as running:
        assert idle.ask(get(target=b"/idle/0")).status == 200
        running.send(get(target=b"/running/0.5"))
        server.wait_for_log("napping /running")
        for _ in range(50):
            server.signal(signal.SIGSTOP)
            server.signal(signal.SIGCONT)
        assert running.read_response().status == 200
        assert idle.ask(get(target=b"/idle/0")).status == 200

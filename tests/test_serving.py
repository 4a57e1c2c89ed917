"""The server starts, says where it listens, answers, and stops when told to."""

from harness.client import Client


def test_a_served_application_answers_over_http(serve):
    response = serve("hello:app").get("/")
    assert response.status == 200
    assert response.body == b"Hello, world!\n"


def test_two_listeners_serve_the_same_application(serve, tmp_path):
    path = tmp_path / "server.sock"
    server = serve("echo:app", "--bind", "127.0.0.1:0", "--bind", f"unix:{path}")
    assert str(path) in server.addresses
    for address in server.addresses:
        with Client(address) as client:
            assert client.ask(b"GET /here HTTP/1.1\r\nHost: test\r\n\r\n").json()["path"] == "/here"

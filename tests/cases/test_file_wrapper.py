"""wsgi.file_wrapper: the position and the length are respected, and the file is closed."""

import pytest

from harness.request import get, head

CONTENT = b"a line of the file\n" + bytes(range(256)) * 1024


@pytest.fixture
def file_server(serve, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    return serve("files:app", env={"FILE": str(path)})


@pytest.mark.parametrize(("name", "body"), [
    ("whole", CONTENT), ("sized", CONTENT), ("positioned", CONTENT[100:]), ("shortened", CONTENT[100:110]), ("buffered", CONTENT[19:]),
    ("iterated", CONTENT),
])  # fmt: skip
def test_a_file_is_sent_from_its_position_and_closed(file_server, name, body):
    with file_server.raw() as client:
        for _ in range(2):
            assert client.ask(get(target=f"/{name}".encode())).body == body
            assert client.ask(get(target=b"/remembered")).body == b"1"


@pytest.mark.parametrize("name", ["whole", "sized", "positioned"])
def test_a_file_is_closed_after_head(file_server, name):
    target = f"/{name}".encode()
    with file_server.raw() as client:
        assert client.ask(head(b"HEAD " + target + b" HTTP/1.1", b"Host: test"), "HEAD").body == b""
        assert client.ask(get(target=b"/remembered")).body == b"1"


@pytest.mark.parametrize(("name", "body"), [("in_memory", b"in memory"), ("reader_only", b"only read")])
def test_what_has_no_descriptor_is_read(file_server, name, body):
    assert file_server.get(f"/{name}").body == body


def test_the_length_of_the_application_is_kept(file_server):
    assert file_server.get("/sized").get("content-length") == str(len(CONTENT))


def test_a_file_of_the_kernel_is_read_to_its_end(file_server):
    with open("/proc/version", "rb") as file:
        assert file_server.get("/of_the_kernel").body == file.read()


def test_a_file_that_cannot_be_read_is_a_500(file_server):
    assert file_server.get("/write_only").status == 500
    file_server.wait_for_log("UnsupportedOperation")

"""The scope of a request: everything the specification names, with the types it asks for."""

import pytest

from harness.client import Client
from harness.request import get, head, post


@pytest.fixture
def server(share_asgi):
    """The application that shows its scope."""
    return share_asgi("scopes:app")


def scope_of(server, request):
    """The scope of that request on a connection of its own."""
    with server.raw() as client:
        return client.ask(request).json()


def test_every_entry_is_there_with_its_type(server):
    scope = scope_of(server, get(target=b"/a?b=c"))
    assert {
        "type": "str", "asgi": "dict", "http_version": "str", "method": "str", "scheme": "str", "path": "str", "raw_path": "bytes",
        "query_string": "bytes", "root_path": "str", "client": "tuple", "server": "tuple", "state": "dict",
    }.items() <= {**scope["types"], "client": "tuple", "server": "tuple"}.items()  # fmt: skip
    assert scope["types"]["client"] in ("tuple", "list") and scope["types"]["server"] in ("tuple", "list")
    assert scope["field_types"] == ["bytes"]
    assert (scope["type"], scope["scheme"], scope["root_path"]) == ("http", "http", "")
    assert scope["asgi"]["version"] == "3.0" and scope["asgi"]["spec_version"] == "2.5"


@pytest.mark.parametrize(
    "method", ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND", "M-SEARCH", "get", "Get"]
)
def test_the_method_is_as_it_came_or_in_upper_case(server, method):
    scope = scope_of(server, head(f"{method} / HTTP/1.1".encode(), b"Host: test", b"Content-Length: 0"))
    assert scope["method"] in (method, method.upper())


@pytest.mark.parametrize(("version", "shown"), [(b"1.0", "1.0"), (b"1.1", "1.1")])
def test_the_version_is_that_of_the_request(server, version, shown):
    assert scope_of(server, head(b"GET / HTTP/" + version, b"Host: test"))["http_version"] == shown


PATHS = [
    (b"/", "/", "/", ""), (b"/a/b", "/a/b", "/a/b", ""), (b"/a%20b", "/a b", "/a%20b", ""), (b"/%C3%A9", "/\xe9", "/%C3%A9", ""),
    (b"/a%2Fb", "/a/b", "/a%2Fb", ""), (b"/a+b", "/a+b", "/a+b", ""), (b"/a?b=c", "/a", "/a", "b=c"), (b"/a?b=%20+%C3%A9&c", "/a", "/a", "b=%20+%C3%A9&c"),
    (b"/a?", "/a", "/a", ""), (b"/a?b?c", "/a", "/a", "b?c"), (b"//a//b/", "//a//b/", "//a//b/", ""), (b"/a/../b/./c", "/a/../b/./c", "/a/../b/./c", ""),
    (b"/%E2%82%AC", "/\u20ac", "/%E2%82%AC", ""), (b"/%00", "/\0", "/%00", ""), (b"http://real/p%20q?x=y", "/p q", "/p%20q", "x=y"), (b"http://real", "/", None, ""),
    (b"/a;b=c", "/a;b=c", "/a;b=c", ""), (b"/%25%32%35", "/%25", "/%25%32%35", ""),
]  # fmt: skip


@pytest.mark.parametrize(("target", "path", "raw", "query"), PATHS, ids=[repr(path[0]) for path in PATHS])
def test_path_raw_path_and_query(server, target, path, raw, query):
    scope = scope_of(server, get(target=target))
    assert scope["path"] == path if raw else scope["path"].endswith(path)
    assert raw is None or scope["raw_path"] == raw
    assert scope["query_string"] == query


@pytest.mark.parametrize("target", [b"/%FF", b"/a%C3", b"/%ED%A0%80", b"/%zz", b"/%"])
def test_a_path_that_is_not_utf_8_does_no_harm(server, target):
    with server.raw() as client:
        response = client.ask(get(target=target))
    assert response.status in (200, 400)
    if response.status == 200:
        assert response.json()["raw_path"] == target.decode()


def test_the_target_of_options_may_be_a_star(server):
    assert scope_of(server, head(b"OPTIONS * HTTP/1.1", b"Host: test"))["path"] in ("*", "")


def test_fields_are_lower_case_in_order_and_not_joined(server):
    request = get(
        b"X-B: 1",
        b"x-a: 2",
        b"COOKIE: a=b",
        b"X-B:  3 ",
        b"X-High: \xe9\xc3\xa9",
        b"X-Empty:",
        b"cookie: c=d",
        host=b"example",
    )
    assert scope_of(server, request)["headers"] == [
        ["host", "example"], ["x-b", "1"], ["x-a", "2"], ["cookie", "a=b"], ["x-b", "3"], ["x-high", "\xe9\xc3\xa9"], ["x-empty", ""], ["cookie", "c=d"],
    ]  # fmt: skip


def test_fields_of_one_connection_come_and_go_with_their_requests(server):
    fields = [[b"X-A: 1"], [b"X-A: 1"], [], [b"X-A: 2", b"X-B: 1"], [b"X-B: 1", b"X-A: 2"], []]
    with server.raw() as client:
        for lines in fields:
            seen = client.ask(get(*lines)).json()["headers"]
            assert seen == [["host", "test"], *[line.decode().lower().split(": ") for line in lines]]


def test_the_length_of_a_body_is_a_field(server):
    assert ["content-length", "5"] in scope_of(server, post(b"hello"))["headers"]


def test_an_absolute_target_sets_the_host(server):
    assert ["host", "real"] in scope_of(server, get(target=b"http://real/p", host=b"other"))["headers"]


def test_client_and_server_are_those_of_the_connection(server):
    with server.raw() as client:
        for _ in range(3):
            scope = client.ask(get()).json()
            assert scope["client"] == list(client.socket.getsockname())
            assert scope["server"] == [server.host, server.port]
            assert type(scope["client"][1]) is int and type(scope["server"][1]) is int


def test_client_and_server_over_ipv6(serve_asgi):
    server = serve_asgi("scopes:app", "--bind", "[::1]:0")
    with server.raw() as client:
        scope = client.ask(get()).json()
        assert scope["client"] == list(client.socket.getsockname()[:2])
        assert scope["server"] == ["::1", server.port]


def test_client_and_server_over_a_unix_socket(serve_asgi, tmp_path):
    path = str(tmp_path / "s")
    server = serve_asgi("scopes:app", "--uds", path)
    with Client(path) as client:
        scope = client.ask(get()).json()
    assert scope["client"] is None or scope["client"] == ["", 0]
    assert scope["server"] == [path, None]
    assert server.addresses == [path]


def test_the_scheme_and_the_client_of_a_trusted_proxy(server):
    scope = scope_of(server, get(b"X-Forwarded-For: 203.0.113.7", b"X-Forwarded-Proto: https"))
    assert (scope["client"][0], scope["scheme"]) == ("203.0.113.7", "https")
    assert type(scope["client"][1]) is int


def test_an_untrusted_proxy_changes_nothing(serve_asgi):
    server = serve_asgi("scopes:app", "--forwarded-allow-ips", "10.0.0.1")
    with server.raw() as client:
        scope = client.ask(get(b"X-Forwarded-For: 203.0.113.7", b"X-Forwarded-Proto: https")).json()
        assert (scope["client"], scope["scheme"]) == (list(client.socket.getsockname()), "http")


def test_fields_that_could_be_taken_for_others_are_dropped(server):
    names = [name for name, _ in scope_of(server, get(b"X_A: 1", b"Proxy: evil", b"X-A: 2"))["headers"]]
    assert "x_a" not in names and "proxy" not in names and "x-a" in names


@pytest.mark.parametrize("target", [b"/shop/cart%20x", b"/cart%20x"])
def test_root_path_is_the_mount_point_and_path_includes_it(serve_asgi, target):
    server = serve_asgi("scopes:app", "--root-path", "/shop")
    scope = scope_of(server, get(target=target))
    assert (scope["root_path"], scope["path"]) == ("/shop", "/shop/cart x")


def test_the_state_of_lifespan_is_copied_for_each_request(serve_asgi, loop):
    server = serve_asgi("scopes:app", "--loop", loop)
    with server.raw() as client:
        for turn in range(3):
            state = client.ask(get(target=b"/%d" % turn)).json()["state"]
            assert state == {
                "number": 7,
                "shared": [f"/{n}" for n in range(turn + 1)],
                "mine": f"/{turn}",
                "same_loop": True,
            }
    assert server.stop() == 0
    assert "state at the end 7 ['/0', '/1', '/2'] False" in server.log()


def test_the_scope_of_lifespan(server):
    shown = server.wait_for_log("lifespan scope (.*)")[1]
    assert "'asgi', 'state', 'type'" in shown and "('version', '3.0')" in shown and "spec_version" in shown


def test_a_scope_is_the_applications_own(server):
    with server.raw() as client:
        first = client.ask(get()).json()["keys"]
        assert client.ask(get()).json()["keys"] == first

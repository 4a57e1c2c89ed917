"""The path that the application is mounted at: SCRIPT_NAME, whether or not a proxy takes it off the path."""

import pytest

from harness.request import get

MOUNTED = ("--root-path", "/shop/")
PREFIX = ("--forwarded-fields", "prefix")


def place(server, *fields, target):
    """SCRIPT_NAME and PATH_INFO of a request for `target`."""
    with server.raw() as client:
        seen = client.ask(get(*fields, target=target)).json()["environ"]
    return seen["SCRIPT_NAME"], seen["PATH_INFO"]


@pytest.mark.parametrize(
    ("target", "path_info"),
    [
        (b"/shop/cart", "/cart"),
        (b"/shop/cart?q=/shop", "/cart"),
        (b"/shop/", "/"),
        (b"/shop", ""),
        (b"/%73hop/a%20b", "/a b"),
        (b"/shop/shop/x", "/shop/x"),
        (b"http://test/shop/cart", "/cart"),
    ],
)
def test_a_path_that_begins_with_it_is_what_follows(share, target, path_info):
    assert place(share("echo:app", *MOUNTED), target=target) == ("/shop", path_info)


@pytest.mark.parametrize("target", [b"/cart", b"/", b"/shopping", b"/SHOP/cart", b"/other/shop/cart"])
def test_a_path_that_does_not_had_it_taken_off_by_a_proxy(share, target):
    assert place(share("echo:app", *MOUNTED), target=target) == ("/shop", target.decode())


def test_requests_of_one_connection_are_told_apart(share):
    with share("echo:app", *MOUNTED).raw() as client:
        for target, path_info in [(b"/shop/a", "/a"), (b"/a", "/a"), (b"/shop/b", "/b"), (b"/shop/a", "/a")] * 3:
            seen = client.ask(get(target=target)).json()["environ"]
            assert (seen["SCRIPT_NAME"], seen["PATH_INFO"]) == ("/shop", path_info)
            assert seen["RAW_URI"] == target.decode()


def test_what_a_trusted_proxy_says_takes_its_place(share):
    server = share("echo:app", *MOUNTED, *PREFIX)
    assert place(server, b"X-Forwarded-Prefix: /front", target=b"/shop/cart") == ("/front", "/shop/cart")
    assert place(server, target=b"/shop/cart") == ("/shop", "/cart")


def test_gunicorn_s_variable_sets_it(serve):
    server = serve("echo:app", env={"SCRIPT_NAME": "/shop"})
    assert place(server, target=b"/shop/cart") == ("/shop", "/cart")


def test_the_root_is_no_mount_point(share):
    assert place(share("echo:app", "--root-path", "/"), target=b"/shop/cart") == ("", "/shop/cart")


def test_the_server_s_own_paths_are_those_of_the_request(share):
    server = share("echo:app", *MOUNTED, "--health", "/health")
    assert server.get("/health").body == b"ok\n"
    assert server.get("/shop/health").json()["path"] == "/health"

"""What proxies in front say of a request: believed from those that are trusted, and given to nobody else."""

import time

import pytest

from harness.request import get

# Peers of these tests are on the loopback interface, which is trusted by default.
UNTRUSTED = ("--forwarded-allow-ips", "192.0.2.0/24")
TRUSTED = ("--forwarded-allow-ips", "127.0.0.1,unix,10.0.0.0/8,2001:db8::/32")
ALL = (*TRUSTED, "--forwarded-fields", "for,proto,host,port,prefix")
RFC_7239 = (*TRUSTED, "--forwarded-header", "forwarded", "--forwarded-fields", "for,proto,host")

# Everything that a proxy could say.
LINES = [
    b"X-Forwarded-For: 203.0.113.7",
    b"X-Forwarded-Proto: https",
    b"X-Forwarded-Host: shop.example",
    b"X-Forwarded-Port: 443",
    b"X-Forwarded-Prefix: /shop",
    b"X-Forwarded-Server: front",
    b"X-Forwarded-User: admin",
    b"X-Forwarded-Ssl: on",
    b"X-Real-IP: 203.0.113.7",
    b"Forwarded: for=203.0.113.7;proto=https;host=shop.example",
]


def environ(server, *fields, target=b"/"):
    """The environ of a request with these fields."""
    with server.raw() as client:
        return client.ask(get(*fields, target=target)).json()["environ"]


def told(seen):
    """The keys of what proxies say."""
    return {key for key in seen if "FORWARDED" in key or key == "HTTP_X_REAL_IP"}


def test_from_an_untrusted_peer_nothing_changes_and_nothing_is_seen(share):
    server = share("echo:app", *UNTRUSTED, "--forwarded-fields", "for,proto,host,port,prefix,x-forwarded-user")
    plain, seen = environ(server), environ(server, *LINES)
    assert not told(seen)
    for key in ("REMOTE_ADDR", "wsgi.url_scheme", "HTTP_HOST", "SERVER_NAME", "SERVER_PORT", "SCRIPT_NAME"):
        assert seen[key] == plain[key]
    assert seen["REMOTE_PORT"].isdigit()


def test_from_an_untrusted_peer_forwarded_changes_nothing(share):
    seen = environ(share("echo:app", "--forwarded-header", "forwarded", *UNTRUSTED), *LINES)
    assert not told(seen)
    assert (seen["REMOTE_ADDR"], seen["wsgi.url_scheme"]) == ("127.0.0.1", "http")


def test_nobody_can_be_trusted(share):
    seen = environ(share("echo:app", "--forwarded-allow-ips", ""), *LINES)
    assert (seen["REMOTE_ADDR"], told(seen)) == ("127.0.0.1", set())


def test_by_default_proxies_on_this_machine_say_client_and_scheme(share):
    seen = environ(share("echo:app"), *LINES)
    assert (seen["REMOTE_ADDR"], seen["wsgi.url_scheme"]) == ("203.0.113.7", "https")
    assert "REMOTE_PORT" not in seen, "the port is the proxy's"
    assert (seen["HTTP_HOST"], seen["SCRIPT_NAME"]) == ("test", "")
    assert told(seen) == {"HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_X_REAL_IP"}
    assert seen["HTTP_X_FORWARDED_FOR"] == "203.0.113.7"


def test_all_that_is_believed(share):
    seen = environ(share("echo:app", *ALL), *LINES, target=b"/a%20b")
    expected = {
        "REMOTE_ADDR": "203.0.113.7",
        "wsgi.url_scheme": "https",
        "HTTP_HOST": "shop.example",
        "SERVER_NAME": "shop.example",
        "SERVER_PORT": "443",
        "SCRIPT_NAME": "/shop",
        "PATH_INFO": "/a b",
    }
    assert {key: seen[key] for key in expected} == expected
    assert told(seen) == {
        *(f"HTTP_X_FORWARDED_{part}" for part in ("FOR", "PROTO", "HOST", "PORT", "PREFIX")),
        "HTTP_X_REAL_IP",
    }


def test_other_fields_are_seen_if_they_are_named(share):
    server = share("echo:app", "--forwarded-fields", "for,x-forwarded-user")
    assert told(environ(server, *LINES)) == {"HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_USER", "HTTP_X_REAL_IP"}


@pytest.mark.parametrize(
    ("values", "address", "port"),
    [
        ([b"203.0.113.7"], "203.0.113.7", None),
        ([b"6.6.6.6, 203.0.113.7"], "203.0.113.7", None),
        ([b"6.6.6.6,   203.0.113.7 ,10.0.0.2"], "203.0.113.7", None),
        ([b"6.6.6.6", b"203.0.113.7, 10.0.0.2"], "203.0.113.7", None),
        ([b"203.0.113.7", b"10.0.0.2"], "203.0.113.7", None),
        ([b"[2001:db9::7]:4711"], "2001:db9::7", "4711"),
        ([b'"[2001:db9::7]:4711", [2001:db8::1]:80'], "2001:db9::7", "4711"),
        ([b"2001:db9::7"], "2001:db9::7", None),
        ([b"203.0.113.7:4711"], "203.0.113.7", "4711"),
        ([b"::ffff:203.0.113.7, ::ffff:10.0.0.2"], "203.0.113.7", None),
        ([b"203.0.113.7, garbage, 10.0.0.2"], "10.0.0.2", None),
        ([b"203.0.113.7, unknown, 10.0.0.2"], "10.0.0.2", None),
        ([b"203.0.113.7, _hidden, 10.0.0.2"], "10.0.0.2", None),
        ([b"203.0.113.7,, 10.0.0.2"], "10.0.0.2", None),
        ([b"10.0.0.3, 10.0.0.2"], "10.0.0.3", None),
        ([b"203.0.113.7, nonsense"], "127.0.0.1", "own"),
        ([b""], "127.0.0.1", "own"),
        ([b"203.0.113.7", b""], "127.0.0.1", "own"),
    ],
)
def test_the_right_most_untrusted_address_wins_and_garbage_stops_the_walk(share, values, address, port):
    with share("echo:app", *TRUSTED).raw() as client:
        own = str(client.socket.getsockname()[1])
        seen = client.ask(get(*(b"X-Forwarded-For: " + value for value in values))).json()["environ"]
    assert seen["REMOTE_ADDR"] == address
    assert seen.get("REMOTE_PORT") == (own if port == "own" else port)
    assert seen["HTTP_X_FORWARDED_FOR"] == ", ".join(value.decode().strip() for value in values)


@pytest.mark.parametrize(
    ("value", "address", "scheme"),
    [
        (b"for=203.0.113.7;proto=https", "203.0.113.7", "https"),
        (b'For="[2001:db9::7]:4711";PROTO=HTTPS', "2001:db9::7", "https"),
        (b"for=203.0.113.7;proto=https, for=10.0.0.2;proto=http", "203.0.113.7", "https"),
        (b"for=6.6.6.6;proto=https, for=203.0.113.7", "203.0.113.7", "http"),
        (b'for="6.6.6.6, for=203.0.113.7', "203.0.113.7", "http"),
        (b"for=203.0.113.7, for=unknown, for=10.0.0.2", "10.0.0.2", "http"),
        (b"for=203.0.113.7;for=6.6.6.6", "127.0.0.1", "http"),
    ],
)
def test_forwarded_is_walked_the_same_way(share, value, address, scheme):
    seen = environ(share("echo:app", *RFC_7239), b"Forwarded: " + value, b"X-Forwarded-For: 6.6.6.6")
    assert (seen["REMOTE_ADDR"], seen["wsgi.url_scheme"]) == (address, scheme)
    assert told(seen) == {"HTTP_FORWARDED"}


def test_the_host_of_forwarded(share):
    seen = environ(share("echo:app", *RFC_7239), b'Forwarded: for=203.0.113.7;host="shop.example:8443"')
    assert (seen["HTTP_HOST"], seen["SERVER_NAME"], seen["SERVER_PORT"]) == (
        "shop.example:8443",
        "shop.example",
        "8443",
    )


def test_a_number_of_proxies(share):
    server = share("echo:app", "--forwarded-count", "2")
    for value, address in [
        (b"6.6.6.6, 203.0.113.7, 198.51.100.1", "203.0.113.7"),
        (b"203.0.113.7, 198.51.100.1", "203.0.113.7"),
        (b"203.0.113.7", "203.0.113.7"),
        (b"203.0.113.7, garbage, 198.51.100.1", "198.51.100.1"),
    ]:
        assert environ(server, b"X-Forwarded-For: " + value)["REMOTE_ADDR"] == address, value
    assert environ(server)["REMOTE_ADDR"] == "127.0.0.1"


@pytest.mark.parametrize(
    ("fields", "scheme"),
    [
        ([b"X-Forwarded-Proto: HTTPS"], "https"),
        ([b"X-Forwarded-Proto: https, http"], "http"),
        ([b"X-Forwarded-Proto: https", b"X-Forwarded-Proto: http"], "http"),
        ([b"X-Forwarded-Proto: http", b"X-Forwarded-Proto: https"], "https"),
        ([b"X-Forwarded-Proto: https", b"X-Forwarded-Proto:"], "http"),
        ([b"X-Forwarded-Proto: javascript"], "http"),
        ([b"X-Forwarded-Proto: wss"], "http"),
        ([b"X_Forwarded_Proto: https"], "http"),
        ([b"X-Forwarded_Proto: https"], "http"),
        ([b"X-Forwarded-Scheme: https"], "http"),
        ([b"X-Forwarded-Ssl: on"], "http"),
    ],
)
def test_of_several_schemes_the_nearest_proxys_counts(share, fields, scheme):
    assert environ(share("echo:app"), *fields)["wsgi.url_scheme"] == scheme


@pytest.mark.parametrize("host", [b"", b":80", b"a/b", b"u@a", b"a b", b"a?b", b"a:b", b"a, b/c", b"[::1"])
def test_a_malformed_host_changes_nothing(share, host):
    assert environ(share("echo:app", *ALL), b"X-Forwarded-Host: " + host)["HTTP_HOST"] == "test"


@pytest.mark.parametrize(
    "path", [b"", b"/", b"shop", b"//shop", b"/shop/../admin", b"/a%2fb", b"/a b", b"/a?b", b"http://a/"]
)
def test_only_a_plain_path_is_a_mount_point(share, path):
    seen = environ(share("echo:app", *ALL), b"X-Forwarded-Prefix: " + path, target=b"/x")
    assert (seen["SCRIPT_NAME"], seen["PATH_INFO"]) == ("", "/x")


def test_a_kept_alive_connection_carries_requests_of_many_clients(share):
    with share("echo:app").raw() as client:
        for address in [b"203.0.113.7", b"203.0.113.7", b"203.0.113.7", b"203.0.113.8", None, b"203.0.113.7"]:
            fields = [] if address is None else [b"X-Forwarded-For: " + address]
            seen = client.ask(get(*fields)).json()["environ"]
            assert seen["REMOTE_ADDR"] == (address or b"127.0.0.1").decode()
            assert ("REMOTE_PORT" in seen) == (address is None)


def test_long_lists_take_no_time(share):
    server = share("echo:app")
    began = time.monotonic()
    for value in [b"," * 8000, b"127.0.0.1," * 800, b'"' * 8000, b"a" * 8000]:
        assert environ(server, b"X-Forwarded-For: " + value)["REMOTE_ADDR"] == "127.0.0.1"
    commas = [b"X-Forwarded-For: " + b"," * 8000] * 2
    assert environ(server, *commas)["REMOTE_ADDR"] == "127.0.0.1"
    forwarded = share("echo:app", *RFC_7239)
    for value in [b'"' * 8000, b"," * 8000, b'\\"' * 4000, b"for=127.0.0.1," * 500]:
        assert environ(forwarded, b"Forwarded: " + value)["REMOTE_ADDR"] == "127.0.0.1"
    assert time.monotonic() - began < 2


def test_a_proxy_on_a_unix_socket_is_trusted_by_default(serve, tmp_path):
    server = serve("echo:app", "--uds", str(tmp_path / "s"))
    plain, seen = environ(server), environ(server, *LINES)
    assert (plain["REMOTE_ADDR"], plain["SERVER_PORT"]) == ("", "80")
    assert (seen["REMOTE_ADDR"], seen["wsgi.url_scheme"], seen["SERVER_PORT"]) == ("203.0.113.7", "https", "443")
    without = serve("echo:app", "--uds", str(tmp_path / "t"), "--forwarded-allow-ips", "127.0.0.1")
    seen = environ(without, *LINES)
    assert (seen["REMOTE_ADDR"], told(seen)) == ("", set())


def test_the_access_log_has_the_client(serve, tmp_path):
    path = tmp_path / "access.log"
    server = serve("hello:app", "--access-log", str(path))
    with server.raw() as client:
        client.ask(get(b"X-Forwarded-For: 6.6.6.6, 203.0.113.7"))
        client.ask(get())
        client.ask(get(b"X-Forwarded-For: 203.0.113.7", b"Bad name: x"))
    server.stop()
    assert [line.split()[0] for line in path.read_text().splitlines()] == ["203.0.113.7", "127.0.0.1", "127.0.0.1"]

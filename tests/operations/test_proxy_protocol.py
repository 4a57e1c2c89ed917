"""The PROXY protocol: whom a load balancer connects for, believed from trusted peers only."""

import ipaddress
import struct

import pytest

from harness.request import get

SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
V1 = b"PROXY TCP4 203.0.113.7 198.51.100.1 4711 80\r\n"
V1_IPV6 = b"PROXY TCP6 2001:db8::7 2001:db8::1 4711 80\r\n"
REFUSED = "This connection must begin with a valid header of the PROXY protocol.\n"


def v2(source="203.0.113.7", extensions=b"", command=0x21, port=4711):
    """A header of version 2."""
    address = ipaddress.ip_address(source)
    family = 0x11 if address.version == 4 else 0x21
    addresses = address.packed * 2 + struct.pack("!HH", port, 80)
    payload = addresses + extensions
    return SIGNATURE + bytes([command, family]) + struct.pack("!H", len(payload)) + payload


def ask(server, *pieces):
    """The response to these bytes, sent one call each."""
    with server.raw() as client:
        for piece in pieces:
            client.send(piece)
        return client.read_response()


def peer(response):
    """Who the application was told sent the request."""
    environ = response.json()["environ"]
    return environ["REMOTE_ADDR"], environ["REMOTE_PORT"]


def auto(share, *args):
    """A server that takes both versions."""
    return share("echo:app", "--proxy-protocol", "auto", *args)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (V1, ("203.0.113.7", "4711")),
        (V1_IPV6, ("2001:db8::7", "4711")),
        (v2(), ("203.0.113.7", "4711")),
        (v2("2001:db8::7"), ("2001:db8::7", "4711")),
        (v2("::ffff:203.0.113.7"), ("203.0.113.7", "4711")),
        (v2(extensions=b"\x01\x00\x02h2\x04\x00\x04\x00\x00\x00\x00"), ("203.0.113.7", "4711")),
        (v2(extensions=b"\x04\x0f\xe0" + bytes(4064)), ("203.0.113.7", "4711")),
    ],
)
def test_the_peer_is_the_announced_one(share, header, expected):
    server = auto(share)
    assert peer(ask(server, header + get())) == expected
    assert peer(ask(server, header, get())) == expected


@pytest.mark.parametrize("header", [b"PROXY UNKNOWN\r\n", b"PROXY UNKNOWN a b 1 2\r\n", v2(command=0x20)])
def test_a_balancers_own_connection_keeps_its_peer(share, header):
    with auto(share).raw() as client:
        port = str(client.socket.getsockname()[1])
        assert peer(client.ask(header + get())) == ("127.0.0.1", port)


@pytest.mark.parametrize("header", [V1, v2("2001:db8::7", b"\x04\x00\x01x")])
def test_a_header_cut_anywhere_is_the_same(share, header):
    server = auto(share)
    expected = peer(ask(server, header + get()))
    for cut in range(1, len(header)):
        assert peer(ask(server, header[:cut], header[cut:] + get())) == expected, cut
    assert peer(ask(server, *(bytes([byte]) for byte in header + get()))) == expected


def test_it_holds_for_the_connection(share):
    with auto(share).raw() as client:
        seen = [peer(client.ask(request)) for request in [V1 + get(), get(), get(), get()]]
        client.send(get() * 3)
        seen += [peer(client.read_response()) for _ in range(3)]
    assert seen == [("203.0.113.7", "4711")] * 7


def test_every_connection_has_its_own(share):
    server = auto(share)
    for number in range(1, 9):
        header = f"PROXY TCP4 203.0.113.{number} 198.51.100.1 {number} 80\r\n".encode()
        assert peer(ask(server, header + get())) == (f"203.0.113.{number}", str(number))


@pytest.mark.parametrize(
    "start",
    [
        get(),
        V1.lower() + get(),
        b"PROXY TCP4 203.0.113.7 198.51.100.1 4711\r\n" + get(),
        b"PROXY TCP4 203.0.113.256 198.51.100.1 4711 80\r\n" + get(),
        b"PROXY TCP4 203.0.113.7 198.51.100.1 4711 80\n" + get(),
        b"PROXY " + b"x" * 200,
        SIGNATURE + b"\x31\x11\x00\x0c" + bytes(12) + get(),
        SIGNATURE + b"\x21\x11\x00\x0b" + bytes(11) + get(),
        SIGNATURE + b"\x21\x11\xff\xff",
        b"\r\n" + get(),
        b"\x16\x03\x01",
    ],
)
def test_a_trusted_peer_has_to_announce(share, start):
    with auto(share).raw() as client:
        response = client.ask(start)
        assert (response.status, response.body.decode()) == (400, REFUSED)
        assert response.closes
        assert client.is_closed()


@pytest.mark.parametrize(("version", "takes", "refuses"), [("v1", V1, v2()), ("v2", v2(), V1)])
def test_only_the_version_asked_for(share, version, takes, refuses):
    server = share("echo:app", "--proxy-protocol", version)
    assert peer(ask(server, takes + get())) == ("203.0.113.7", "4711")
    assert ask(server, refuses + get()).body.decode() == REFUSED


@pytest.mark.parametrize("header", [V1, v2()])
def test_what_an_untrusted_peer_announces_is_no_request(share, header):
    server = auto(share, "--proxy-allow-ips", "192.0.2.0/24")
    response = ask(server, header + get())
    assert response.status == 400
    assert response.body.decode() != REFUSED
    assert peer(ask(server, get()))[0] == "127.0.0.1"


@pytest.mark.parametrize("header", [V1, v2()])
def test_without_the_setting_a_header_is_no_request(share, header):
    assert ask(share("echo:app"), header + get()).status == 400


def test_whom_it_announces_is_who_is_trusted_with_forwarded_fields(share):
    server = auto(share)
    untrusted = ask(server, V1 + get(b"X-Forwarded-For: 6.6.6.6", b"X-Forwarded-Proto: https")).json()["environ"]
    assert (untrusted["REMOTE_ADDR"], untrusted["wsgi.url_scheme"]) == ("203.0.113.7", "http")
    assert "HTTP_X_FORWARDED_FOR" not in untrusted
    server = auto(share, "--forwarded-allow-ips", "203.0.113.0/24")
    trusted = ask(server, V1 + get(b"X-Forwarded-For: 192.0.2.5", b"X-Forwarded-Proto: https")).json()["environ"]
    assert (trusted["REMOTE_ADDR"], trusted["wsgi.url_scheme"]) == ("192.0.2.5", "https")


@pytest.mark.parametrize("header", [b"PROXY UNKNOWN\r\n", v2(command=0x20), V1, V1[:20], SIGNATURE[:5], b""])
def test_health_checks_that_close_cost_nothing(serve, tmp_path, header):
    path = tmp_path / "access.log"
    server = serve("echo:app", "--proxy-protocol", "auto", "--access-log", str(path), "--log-level", "debug")
    for _ in range(20):
        with server.raw() as client:
            client.send(header)
    assert peer(ask(server, V1 + get())) == ("203.0.113.7", "4711")
    server.stop()
    assert len(path.read_text().splitlines()) == 1


def test_the_access_log_has_the_announced_peer(serve, tmp_path):
    path = tmp_path / "access.log"
    server = serve("hello:app", "--proxy-protocol", "auto", "--access-log", str(path))
    assert ask(server, V1 + get()).status == 200
    assert ask(server, get()).status == 400
    server.stop()
    assert [line.split()[0] for line in path.read_text().splitlines()] == ["203.0.113.7", "127.0.0.1"]


def test_a_header_that_does_not_end_is_late(serve):
    server = serve("echo:app", "--proxy-protocol", "auto", "--head-timeout", "300ms")
    for start, status in [(b"PROXY TCP4 ", 408), (SIGNATURE, 408), (V1 + b"GET", 408), (V1, None), (b"", None)]:
        with server.raw() as client:
            client.send(start)
            if status is None:
                assert client.is_closed()
            else:
                assert client.read_response().status == status
                assert client.is_closed()


def test_a_balancer_on_a_unix_socket(serve, tmp_path):
    server = serve("echo:app", "--uds", str(tmp_path / "s"), "--proxy-protocol", "v2")
    assert peer(ask(server, v2() + get())) == ("203.0.113.7", "4711")
    response = ask(server, v2(command=0x20) + get())
    assert response.json()["environ"]["REMOTE_ADDR"] == ""


def test_a_body_follows(share):
    with auto(share).raw() as client:
        response = client.ask(V1 + b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
    assert (response.json()["body"], peer(response)) == ("abc", ("203.0.113.7", "4711"))

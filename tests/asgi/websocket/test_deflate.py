"""Compression of messages (RFC 7692): what is agreed on, and that messages survive it."""

import itertools
import random
import time
import zlib

import pytest
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory
from websockets.sync.client import connect

from harness import process
from harness.websocket import BINARY, CONTINUATION, PING, PONG, TEXT, Frame, frame, opened

OFFER = b"Sec-WebSocket-Extensions: permessage-deflate"
TAIL = b"\x00\x00\xff\xff"
# Without order, in order, and more than a window of it.
MESSAGES = [
    "",
    "a",
    "hello " * 1000,
    random.Random(3).randbytes(50_000),
    bytes(200_000),
    "tschüß " * 20_000,
    b"hello " * 1000,
]


@pytest.fixture
def server(share_asgi, loop):
    return share_asgi("ws_echo:app", "--loop", loop)


def deflated(data, final=False):
    """The payload of a compressed message that refers to none before it."""
    stream = zlib.compressobj(wbits=-15)
    payload = stream.compress(data) + stream.flush(zlib.Z_FINISH if final else zlib.Z_SYNC_FLUSH)
    return payload if final else payload.removesuffix(TAIL)


def inflated(message):
    """The data of a compressed message that refers to none before it."""
    assert message.reserved == 4
    return zlib.decompressobj(wbits=-15).decompress(message.payload + TAIL)


@pytest.mark.parametrize(
    ("server_alone", "client_alone", "server_bits", "client_bits"),
    list(itertools.product([False, True], [False, True], [None, 9, 12, 15], [None, True, 9, 15])),
)
def test_messages_survive_whatever_a_client_offers(share_asgi, server_alone, client_alone, server_bits, client_bits):
    server = share_asgi("ws_echo:app")
    factory = ClientPerMessageDeflateFactory(server_alone, client_alone, server_bits, client_bits)
    with connect(server.url.replace("http", "ws"), extensions=[factory], compression=None, max_size=None) as socket:
        (agreed,) = socket.protocol.extensions
        assert agreed.remote_no_context_takeover or not server_alone
        assert agreed.remote_max_window_bits <= (server_bits or 15)
        for message in MESSAGES * 2:
            socket.send(message)
            assert socket.recv(5) == message


@pytest.mark.parametrize("message", MESSAGES, ids=lambda one: f"{type(one).__name__} of {len(one)}")
def test_a_compressed_message_comes_back_in_fragments_and_whole(server, message):
    data = message.encode() if isinstance(message, str) else message
    kind = TEXT if isinstance(message, str) else BINARY
    payload = deflated(data)
    parts = [payload[at : at + 1000] for at in range(0, len(payload), 1000)]
    with opened(server, "/", OFFER) as socket:
        assert (socket.response.get("sec-websocket-extensions") or "").startswith("permessage-deflate")
        socket.send(frame(kind, parts[0], reserved=4, fin=False), frame(PING, b"not compressed"))
        assert socket.read() == Frame(PONG, b"not compressed")
        socket.send(*(frame(CONTINUATION, part, fin=False) for part in parts[1:]), frame(CONTINUATION, b""))
        came = socket.read()
        assert came.opcode == kind and came.fin
        assert (inflated(came) if came.reserved else came.payload) == data
        socket.shut()


def test_a_message_that_is_not_compressed_is_taken_all_the_same(server):
    with opened(server, "/", OFFER) as socket:
        socket.send(frame(TEXT, b"plain"), frame(TEXT, deflated(b"compressed"), reserved=4))
        texts = [inflated(came) if came.reserved else came.payload for came in (socket.read(), socket.read())]
        assert texts == [b"plain", b"compressed"]


def test_what_can_be_compressed_is(server):
    with opened(server, "/", OFFER) as socket:
        socket.send(frame(TEXT, b"again and " * 1000))
        came = socket.read()
        assert inflated(came) == b"again and " * 1000 and len(came.payload) < 1000


def test_a_final_block_does_not_end_the_stream(server):
    with opened(server, "/", OFFER + b"; client_no_context_takeover") as socket:
        for text in (b"first " * 100, b"second " * 100):
            socket.send(frame(TEXT, deflated(text, final=True), reserved=4))
            came = socket.read()
            assert (inflated(came) if came.reserved else came.payload) == text


BAD_OFFERS = [
    b"permessage-deflate; unknown",
    b"permessage-deflate; server_no_context_takeover=1",
    b"permessage-deflate; server_no_context_takeover; server_no_context_takeover",
    b"permessage-deflate; server_max_window_bits",
    b"permessage-deflate; server_max_window_bits=7",
    b"permessage-deflate; server_max_window_bits=16",
    b"permessage-deflate; server_max_window_bits=010",
    b"permessage-deflate; client_max_window_bits=7",
    b"x-webkit-deflate-frame",
    b"permessage-bzip2, x-unknown; a=b",
]


@pytest.mark.parametrize("offer", BAD_OFFERS, ids=bytes.decode)
def test_an_offer_that_cannot_be_taken_is_declined_and_the_next_one_is_not(share_asgi, offer):
    server = share_asgi("ws_echo:app")
    with opened(server, "/", b"Sec-WebSocket-Extensions: " + offer) as socket:
        assert socket.response.get("sec-websocket-extensions") is None
        socket.send(frame(TEXT, b"plain"))
        assert socket.read_message() == "plain"
    with opened(server, "/", b"Sec-WebSocket-Extensions: " + offer + b", permessage-deflate") as socket:
        assert (socket.response.get("sec-websocket-extensions") or "").startswith("permessage-deflate")


def test_compression_can_be_turned_off(serve_asgi):
    server = serve_asgi("ws_echo:app", "--no-ws-per-message-deflate")
    with opened(server, "/", OFFER) as socket:
        assert socket.response.get("sec-websocket-extensions") is None
        socket.send(frame(TEXT, deflated(b"compressed"), reserved=4))
        assert socket.is_failed_with(1002)


@pytest.mark.parametrize(
    ("payload", "code"),
    [(b"\xff" * 100, 1007), (deflated(b"text \xff that is not UTF-8"), 1007)],
    ids=["not deflated", "not UTF-8"],
)
def test_what_cannot_be_inflated_closes(server, payload, code):
    with opened(server, "/", OFFER) as socket:
        socket.send(frame(TEXT, payload, reserved=4))
        assert socket.is_failed_with(code)


def test_a_gigabyte_of_zeros_costs_neither_memory_nor_time(serve_asgi, loop):
    server = serve_asgi("ws_echo:app", "--loop", loop)
    stream = zlib.compressobj(9, wbits=-15)
    megabyte = stream.compress(bytes(1 << 20)) + stream.flush(zlib.Z_FULL_FLUSH)
    bomb = frame(BINARY, megabyte * 1024, reserved=4)
    with opened(server, "/", OFFER) as socket:
        before, busy = process.resident(server.pid), process.cpu_seconds(server.pid)
        started = time.monotonic()
        socket.client.send_pieces([bomb])
        assert socket.read_close()[0] == 1009
        assert time.monotonic() - started < 3
    assert process.resident(server.pid) - before < 64 << 20
    assert process.cpu_seconds(server.pid) - busy < 1
    with opened(server, "/") as socket:
        socket.send(frame(TEXT, b"still here"))
        assert socket.read_message() == "still here"


def test_a_message_of_the_largest_size_may_be_compressed(serve_asgi):
    server = serve_asgi("ws_echo:app", "--ws-max-size", "64KiB")
    for size, code in ((65536, None), (65537, 1009)):
        with opened(server, "/", OFFER) as socket:
            socket.send(frame(BINARY, deflated(bytes(size)), reserved=4))
            if code is None:
                assert inflated(socket.read()) == bytes(size)
            else:
                assert socket.is_failed_with(code)

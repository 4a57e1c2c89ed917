"""Frames and messages, right and wrong (RFC 6455 sections 5 to 8)."""

import random
import struct

import pytest

from harness.websocket import BINARY, CONTINUATION, PING, PONG, TEXT, Frame, close, frame, opened

# Every place where the form of the length changes, and the sizes of buffers.
SIZES = [0, 1, 125, 126, 127, 128, 4095, 4096, 4097, 65535, 65536, 65537, 1 << 20]


@pytest.fixture
def server(share_asgi, loop):
    return share_asgi("ws_echo:app", "--loop", loop)


@pytest.fixture
def socket(server):
    with opened(server) as socket:
        yield socket


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", [TEXT, BINARY], ids=["text", "bytes"])
def test_messages_of_every_size_come_back(socket, kind, size):
    data = (b"0123456789" * (size // 10 + 1))[:size]
    socket.send(frame(kind, data))
    assert socket.read_message() == (data.decode() if kind == TEXT else data)
    socket.shut()


def test_a_message_in_tiny_pieces_comes_back(socket):
    data = random.Random(1).randbytes(100_000)
    whole = frame(BINARY, data)
    assert socket.client.send_pieces(whole[start : start + 997] for start in range(0, len(whole), 997))
    assert socket.read_message() == data


def test_frames_byte_by_byte_are_the_same(socket):
    frames = [
        frame(TEXT, b"caf\xc3", fin=False),
        frame(PING, b"are you there?"),
        frame(CONTINUATION, b"\xa9", fin=False),
        frame(CONTINUATION, b""),
        frame(BINARY, b"x" * 200),
        close(1000, b"bye"),
    ]
    assert socket.client.send_pieces(bytes([byte]) for byte in b"".join(frames))
    assert socket.read() == Frame(PONG, b"are you there?")
    assert socket.read_message() == "café"
    assert socket.read_message() == b"x" * 200
    assert socket.is_failed_with(1000)


def test_any_mask_is_taken_off(socket):
    for mask in (bytes(4), b"\xff\xff\xff\xff", b"\x01\x02\x03\x04"):
        socket.send(frame(TEXT, b"masked in many ways, over and over", mask=mask))
        assert socket.read_message() == "masked in many ways, over and over"


def test_many_messages_in_one_packet_come_back_in_order(socket):
    socket.send(*(frame(TEXT, b"%d" % number) for number in range(2000)))
    assert [socket.read_message() for _ in range(2000)] == [str(number) for number in range(2000)]


def test_fragments_with_pings_between_are_one_message(socket):
    socket.send(frame(TEXT, b"one ", fin=False), frame(PING, b"1"), frame(CONTINUATION, b"two ", fin=False))
    assert socket.read() == Frame(PONG, b"1")
    socket.send(frame(PONG, b"nobody asked"), frame(CONTINUATION, b"three"))
    assert socket.read_message() == "one two three"


def test_a_fragmented_message_may_have_empty_parts(socket):
    socket.send(frame(BINARY, b"", fin=False), frame(CONTINUATION, b"", fin=False), frame(CONTINUATION, b"x"))
    assert socket.read_message() == b"x"
    socket.send(frame(BINARY, b"", fin=False), frame(CONTINUATION, b""))
    assert socket.read_message() == b""


@pytest.mark.parametrize("payload", [b"", b"x", b"\x00\xff" * 62 + b"\x00"])
def test_a_ping_is_answered_with_its_payload(socket, payload):
    socket.send(frame(PING, payload))
    assert socket.read() == Frame(PONG, payload)
    socket.shut()


BROKEN = [
    ("not masked", frame(TEXT, b"hello", mask=None), 1002),
    ("a control frame that is not masked", frame(PING, b"", mask=None), 1002),
    ("a close frame that is not masked", frame(8, b"\x03\xe8", mask=None), 1002),
    ("RSV1 without an extension", frame(TEXT, b"hello", reserved=4), 1002),
    ("RSV2", frame(TEXT, b"hello", reserved=2), 1002),
    ("RSV3", frame(TEXT, b"hello", reserved=1), 1002),
    ("reserved bits in a ping", frame(PING, b"", reserved=4), 1002),
    ("a reserved bit in a continuation", frame(TEXT, b"a", fin=False) + frame(CONTINUATION, b"b", reserved=4), 1002),
    ("a ping in fragments", frame(PING, b"a", fin=False), 1002),
    ("a close frame in fragments", frame(8, b"\x03\xe8", fin=False), 1002),
    ("a ping of 126 bytes", frame(PING, b"x" * 126), 1002),
    ("a close frame of 126 bytes", close(1000, b"x" * 124), 1002),
    ("a continuation of nothing", frame(CONTINUATION, b"hello"), 1002),
    ("a last fragment of nothing", frame(TEXT, b"a", fin=True) + frame(CONTINUATION, b"b"), 1002),
    ("a message within a message", frame(TEXT, b"a", fin=False) + frame(TEXT, b"b"), 1002),
    ("a length of 125 in 16 bits", frame(BINARY, b"x" * 125, length=struct.pack("!BH", 126, 125)), 1002),
    ("a length of 65535 in 64 bits", frame(BINARY, b"", length=struct.pack("!BQ", 127, 65535)), 1002),
    ("a length with its highest bit", frame(BINARY, b"", length=struct.pack("!BQ", 127, 1 << 63)), 1002),
    ("text that is not UTF-8", frame(TEXT, b"\xce\xba\xed\xa0\x80"), 1007),
    ("text that ends within a character", frame(TEXT, b"caf\xc3"), 1007),
    ("text beyond Unicode", frame(TEXT, b"\xf4\x90\x80\x80"), 1007),
    ("an overlong form", frame(TEXT, b"\xc0\xaf"), 1007),
    ("a character that the last fragment does not end", frame(TEXT, b"\xe2\x82", fin=False) + frame(CONTINUATION, b""), 1007),
    ("a close frame of one byte", frame(8, b"\x03"), 1002),
    ("a reason that is not UTF-8", close(1000, b"\xff"), 1007),
    *((f"opcode {opcode}", frame(opcode, b""), 1002) for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)),
    *((f"close code {code}", close(code), 1002) for code in (0, 1, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535)),
]  # fmt: skip


@pytest.mark.parametrize(("broken", "code"), [pytest.param(*rest, id=name) for name, *rest in BROKEN])
def test_what_breaks_the_protocol_closes_with_the_right_code(socket, broken, code):
    socket.send(frame(TEXT, b"before"))
    assert socket.read_message() == "before"
    socket.send(broken, frame(TEXT, b"never looked at"))
    came = socket.read()
    while came.opcode != 8:  # a first message that is whole is answered
        came = socket.read()
    assert struct.unpack("!H", came.payload[:2]) == (code,)
    assert came.payload[2:].decode(), "the reason says what was wrong"
    assert socket.client.is_closed()


@pytest.mark.parametrize("code", [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 4999])
def test_a_close_frame_is_answered_with_its_code(socket, code):
    socket.send(close(code, "tschüß".encode()))
    assert socket.read_close()[0] == code
    assert socket.client.is_closed()


def test_a_close_frame_without_a_code_is_answered(socket):
    socket.send(frame(8, b""))
    assert socket.read_close()[0] in (None, 1000)
    assert socket.client.is_closed()


def test_what_follows_a_close_frame_is_not_looked_at(socket):
    socket.send(close(1000), frame(TEXT, b"late"), b"\xff" * 100)
    assert socket.is_failed_with(1000)


def test_text_fails_at_the_first_byte_that_cannot_be_right(socket):
    whole = frame(TEXT, b"\xce\xba\xed\xa0" + b"x" * 1000)
    socket.send(whole[:12])
    assert socket.is_failed_with(1007)


def test_text_in_fragments_fails_before_its_last_fragment(socket):
    socket.send(frame(TEXT, b"\xf4", fin=False), frame(CONTINUATION, b"\x90", fin=False))
    assert socket.is_failed_with(1007)


def test_a_broken_frame_fails_before_its_payload_is_there(socket):
    socket.send(frame(3, b"x" * 1000)[:6])
    assert socket.is_failed_with(1002)


def test_characters_may_be_cut_anywhere(socket):
    text = "κόσμε 𝄞 €".encode()
    pieces = [frame(TEXT if at == 0 else CONTINUATION, text[at : at + 1], fin=False) for at in range(len(text))]
    socket.send(*pieces, frame(CONTINUATION, b""))
    assert socket.read_message() == text.decode()


@pytest.mark.parametrize("seed", range(30))
def test_garbage_never_ends_the_server(server, seed):
    generator = random.Random(seed)
    with opened(server) as socket:
        # The first bits are those of a masked frame more often than not, so that it gets somewhere.
        for _ in range(20):
            start = bytes(
                [
                    generator.choice([0x81, 0x82, 0x01, 0x00, 0x80, 0x89, 0x88, 0xC1]),
                    generator.choice([0x80, 0x85, 0xFE, 0xFF, 0x05]),
                ]
            )
            if not socket.client.send_pieces([start + generator.randbytes(generator.randrange(40))]):
                break
    with opened(server) as after:
        after.send(frame(TEXT, b"still here"))
        assert after.read_message() == "still here"

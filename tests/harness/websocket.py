"""A WebSocket client that decides itself which bytes go out, right or wrong, and reads back each frame as it came."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from types import TracebackType

from harness.client import Client
from harness.request import head
from harness.response import Response
from harness.server import Server

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
# The key of RFC 6455 section 1.3, and what a server makes of it.
KEY = b"dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
MASK = b"\x37\xfa\x21\x3d"
FIELDS = {
    "upgrade": b"Upgrade: websocket",
    "connection": b"Connection: Upgrade",
    "version": b"Sec-WebSocket-Version: 13",
    "key": b"Sec-WebSocket-Key: " + KEY,
}


def handshake(*fields: bytes, target: bytes = b"/", line: bytes | None = None, **instead: bytes | None) -> bytes:
    """A request to open a WebSocket; `instead` replaces one of FIELDS by another line, or leaves it out with None."""
    lines = [field for field in {**FIELDS, **instead}.values() if field is not None]
    return head(line or b"GET " + target + b" HTTP/1.1", b"Host: test", *lines, *fields)


def frame(
    opcode: int,
    payload: bytes = b"",
    *,
    fin: bool = True,
    reserved: int = 0,
    mask: bytes | None = MASK,
    length: bytes | None = None,
) -> bytes:
    """A frame; `reserved` are the three reserved bits, RSV1 is 4; `length` is what stands in place of the 7-bit length and what follows it."""
    size = length or _length(len(payload))
    start = bytes([fin << 7 | reserved << 4 | opcode, size[0] | (mask is not None) << 7]) + size[1:]
    return start + payload if mask is None else start + mask + masked(payload, mask)


def masked(payload: bytes, mask: bytes = MASK) -> bytes:
    """The payload as it goes over the wire, or back again."""
    key = int.from_bytes((mask * (len(payload) // 4 + 1))[: len(payload)], "big")
    return (int.from_bytes(payload, "big") ^ key).to_bytes(len(payload), "big")


def close(code: int, reason: bytes = b"") -> bytes:
    """A close frame with a code."""
    return frame(CLOSE, struct.pack("!H", code) + reason)


@dataclass(frozen=True)
class Frame:
    """A frame of the server."""

    opcode: int
    payload: bytes
    fin: bool = True
    reserved: int = 0


class WebSocket:
    """An open WebSocket, on a raw connection whose deadline it shares; `response` is the answer to the handshake."""

    def __init__(self, client: Client, response: Response):
        self.client = client
        self.response = response

    def send(self, *frames: bytes) -> None:
        """Sends the frames with one system call."""
        self.client.send(b"".join(frames))

    def read(self) -> Frame:
        """The next frame; Aborted when the connection ends first, AssertionError for one that no server may send."""
        first, second = self.client.read_exactly(2)
        assert not second & 0x80, "a server must not mask"
        payload = self.client.read_exactly(self._size(second))
        return Frame(first & 0x0F, payload, bool(first & 0x80), first >> 4 & 7)

    def read_message(self) -> str | bytes:
        """The next message, not compressed, of however many frames; answers pings on the way."""
        frames: list[Frame] = []
        while not frames or not frames[-1].fin:
            came = self.read()
            if came.opcode == PING:
                self.send(frame(PONG, came.payload))
                continue
            assert came.opcode == (CONTINUATION if frames else came.opcode) and came.reserved == 0, came
            frames.append(came)
        data = b"".join(one.payload for one in frames)
        assert frames[0].opcode in (TEXT, BINARY), f"no message: {frames}"
        return data.decode() if frames[0].opcode == TEXT else data

    def read_close(self) -> tuple[int | None, str]:
        """Code and reason of the close frame that must come next."""
        came = self.read()
        assert came.opcode == CLOSE, came
        if not came.payload:
            return None, ""
        return struct.unpack("!H", came.payload[:2])[0], came.payload[2:].decode()

    def is_failed_with(self, code: int) -> bool:
        """Whether the server closes with that code and then ends the connection without another byte."""
        assert self.read_close()[0] == code
        return self.client.is_closed()

    def shut(self, code: int = 1000) -> None:
        """Closes as one should: close frame, the server's answer, the end of the connection by the server."""
        self.send(close(code))
        while (came := self.read()).opcode != CLOSE:
            pass
        assert came.payload == struct.pack("!H", code)
        assert self.client.is_closed()

    def __enter__(self) -> WebSocket:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()

    def _size(self, second: int) -> int:
        size = second & 0x7F
        if size < 126:
            return size
        longer = int.from_bytes(self.client.read_exactly(2 if size == 126 else 8), "big")
        assert longer > (125 if size == 126 else 65535), f"{longer} is not in its shortest form"
        return longer


def opened(
    server: Server,
    path: str = "/",
    *fields: bytes,
    then: bytes = b"",
    timeout: float = 5.0,
    receive_buffer: int | None = None,
) -> WebSocket:
    """A WebSocket to the server; `then` goes out with the handshake, in one piece. AssertionError when it is not accepted."""
    client = server.raw(timeout, receive_buffer)
    client.send(handshake(*fields, target=path.encode()) + then)
    response = client.read_response()
    assert response.status == 101, f"{response.status}: {response.body!r}"
    assert response.get("sec-websocket-accept") == ACCEPT
    return WebSocket(client, response)


def _length(size: int) -> bytes:
    if size < 126:
        return bytes([size])
    return struct.pack("!BH", 126, size) if size < 65536 else struct.pack("!BQ", 127, size)

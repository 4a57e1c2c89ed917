"""A client that decides itself which bytes go out when, and reads back exactly what came."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterable
from types import TracebackType

from harness.response import ResetByServer, Response, ResponseReader

Address = tuple[str, int] | str


class Client:
    """One connection to a server. Every wait ends at the deadline, `timeout` seconds after the last `extend`.

    `address` is (host, port), or the path of a Unix socket.
    """

    def __init__(self, address: Address, timeout: float = 5.0, receive_buffer: int | None = None):
        self._timeout = timeout
        self.extend()
        self.socket = _unconnected(address)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.connect(address)
        self._reader = ResponseReader(self._receive)

    def extend(self) -> None:
        """Starts the deadline anew."""
        self._deadline = time.monotonic() + self._timeout

    def send(self, data: bytes) -> None:
        """Sends everything; raises OSError when the server has gone."""
        self.socket.settimeout(self._remaining())
        self.socket.sendall(data)

    def send_pieces(self, pieces: Iterable[bytes]) -> bool:
        """Sends the pieces one system call each; False when the server stopped taking them."""
        try:
            for piece in pieces:
                self.send(piece)
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def read_response(self, method: str = "GET") -> Response:
        """The next response (see ResponseReader.read)."""
        return self._reader.read(method)

    def read_to_end(self, methods: Iterable[str] = ()) -> list[Response]:
        """Every response until the server closes; `methods` are those of the requests, GET when they run out."""
        responses: list[Response] = []
        asked = iter(methods)
        while not self._reader.at_end():
            responses.append(self.read_response(next(asked, "GET")))
        return responses

    def ask(self, request: bytes, method: str = "GET") -> Response:
        """Sends one request and reads its response, within a deadline of its own."""
        self.extend()
        self.send(request)
        return self.read_response(method)

    def wait_for(self, wanted: bytes) -> bytes:
        """Everything unread, once it contains `wanted`."""
        self._reader.wait_for(wanted)
        return self._reader.received()

    def read_exactly(self, length: int) -> bytes:
        """The next so many bytes, past any response."""
        return self._reader.take(length)

    def is_closed(self) -> bool:
        """Whether the server closed without another byte; waits for either up to the deadline."""
        return self._reader.at_end()

    def is_silent(self, seconds: float) -> bool:
        """Whether nothing arrives, not even the end of the connection, for that long."""
        self.socket.settimeout(seconds)
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except TimeoutError:
            return True
        except OSError:
            return False
        return False

    def drip(self, pieces: Iterable[bytes], seconds: float) -> None:
        """Sends a piece every so many seconds until they run out, or something arrives, or the deadline."""
        for piece in pieces:
            if not self.send_pieces([piece]) or not self.is_silent(seconds):
                return
            self._remaining()

    def receive(self, size: int = 65536) -> bytes:
        """What one recv gives, past the response reader; b"" at the end of the connection."""
        self.socket.settimeout(self._remaining())
        return self.socket.recv(size)

    def half_close(self) -> None:
        """Sends FIN and goes on reading."""
        self.socket.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """Ends the connection with RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close(self) -> None:
        """Ends the connection."""
        self.socket.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _receive(self) -> bytes:
        self.socket.settimeout(self._remaining())
        try:
            return self.socket.recv(65536)
        except ConnectionResetError as error:
            raise ResetByServer from error

    def _remaining(self) -> float:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError(f"the server neither answered nor closed within {self._timeout} s")
        return remaining


def _unconnected(address: Address) -> socket.socket:
    if isinstance(address, str):
        return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    client = socket.socket(family, socket.SOCK_STREAM)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client

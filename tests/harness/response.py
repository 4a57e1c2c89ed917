"""A strict reader of HTTP/1.1 responses: what RFC 9112 does not allow a server to send is an error here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Receive = Callable[[], bytes]


class MalformedResponse(AssertionError):
    """The server sent bytes that are not an HTTP/1.1 response."""


class Aborted(AssertionError):
    """The connection ended inside a response; `response` holds what had arrived of it, or None."""

    def __init__(self, response: Response | None, received: bytes):
        super().__init__(f"the connection ended inside a response: {received[-200:]!r}")
        self.response = response
        self.received = received


class ResetByServer(Aborted):
    """The connection ended with RST: bytes that were on their way to the client may be lost."""

    def __init__(self) -> None:
        super().__init__(None, b"reset by the server")


@dataclass
class Response:
    """One response as it was on the wire.

    `framing` says what delimited the body: "none" (there can be no body), "length", "chunked" or "close".
    """

    version: str
    status: int
    reason: str
    fields: list[tuple[str, str]]
    body: bytes = b""
    framing: str = "none"
    interim: list[Response] = field(default_factory=list)

    def all(self, name: str) -> list[str]:
        """The values of every field line with that name, in order."""
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def get(self, name: str) -> str | None:
        """The value of the field; None without one. A repeated field is an error: use `all`."""
        values = self.all(name)
        if len(values) > 1:
            raise MalformedResponse(f"{name} came {len(values)} times: {values}")
        return values[0] if values else None

    def json(self) -> Any:
        """The body read as JSON."""
        return json.loads(self.body)

    @property
    def closes(self) -> bool:
        """Whether the server announced that it closes the connection after this response."""
        members = ",".join(self.all("connection")).lower().split(",")
        return "close" in (member.strip() for member in members)


class ResponseReader:
    """Reads responses one after the other from `receive`, which gives b"" at the end of the connection."""

    def __init__(self, receive: Receive):
        self._receive = receive
        self._buffer = b""
        self._ended = False

    def read(self, method: str = "GET") -> Response:
        """The next final response to a request with that method, with the interim (1xx) ones before it. 101 is final.

        Raises Aborted when the connection ends first, MalformedResponse for anything that is not a response.
        """
        interim: list[Response] = []
        while True:
            response = self._read_head()
            if response.status >= 200 or response.status == 101:
                break
            interim.append(response)
        response.interim = interim
        response.framing = framing_of(response, method)
        self._read_body(response)
        return response

    def take(self, length: int) -> bytes:
        """The next so many bytes, which are not HTTP any more; raises Aborted when the connection ends first."""
        while len(self._buffer) < length:
            self._need(None)
        taken, self._buffer = self._buffer[:length], self._buffer[length:]
        return taken

    def at_end(self) -> bool:
        """Whether the connection has ended with no byte left unread; waits for a byte or the end."""
        return not self._buffer and not self._fill()

    def received(self) -> bytes:
        """What has arrived and is not part of a response read so far."""
        return self._buffer

    def wait_for(self, wanted: bytes) -> None:
        """Receives until the unread bytes contain `wanted`; raises Aborted when the connection ends first."""
        while wanted not in self._buffer:
            self._need(None)

    def _read_head(self) -> Response:
        start = self._line(None)
        match = STATUS_LINE.fullmatch(start)
        if match is None:
            raise MalformedResponse(f"not a status line: {start!r}")
        version, status, reason = (part.decode("latin-1") for part in match.groups())
        response = Response(version, int(status), reason, [])
        response.fields = self._read_fields(response)
        return response

    def _read_fields(self, response: Response) -> list[tuple[str, str]]:
        fields = []
        while line := self._line(response):
            match = FIELD_LINE.fullmatch(line)
            if match is None:
                raise MalformedResponse(f"not a field line: {line!r}")
            name, value = (part.decode("latin-1") for part in match.groups())
            fields.append((name, value.strip(" \t")))
        return fields

    def _read_body(self, response: Response) -> None:
        if response.framing == "length":
            self._read_exactly(response, int(response.get("content-length") or "0"))
        elif response.framing == "chunked":
            self._read_chunks(response)
        elif response.framing == "close":
            while self._fill():
                pass
            response.body, self._buffer = self._buffer, b""

    def _read_exactly(self, response: Response, length: int) -> None:
        pieces = [response.body]
        try:
            while length > 0:
                if not self._buffer:
                    self._need(response)
                piece, self._buffer = self._buffer[:length], self._buffer[length:]
                pieces.append(piece)
                length -= len(piece)
        finally:
            response.body = b"".join(pieces)

    def _read_chunks(self, response: Response) -> None:
        while True:
            line = self._line(response)
            if not CHUNK_SIZE.fullmatch(line):
                raise MalformedResponse(f"not a chunk size: {line!r}")
            size = int(line, 16)
            if size == 0:
                break
            self._read_exactly(response, size)
            if self._line(response):
                raise MalformedResponse("the data of a chunk is not followed by CRLF")
        if trailers := self._read_fields(response):
            raise MalformedResponse(f"trailers nobody asked for: {trailers}")

    def _line(self, response: Response | None) -> bytes:
        while b"\n" not in self._buffer:
            self._need(response)
        line, self._buffer = self._buffer.split(b"\n", 1)
        if not line.endswith(b"\r"):
            raise MalformedResponse(f"a line that does not end with CRLF: {line!r}")
        return line[:-1]

    def _need(self, response: Response | None) -> None:
        if not self._fill():
            raise Aborted(response, self._buffer)

    def _fill(self) -> bool:
        if self._ended:
            return False
        piece = self._receive()
        self._ended = not piece
        self._buffer += piece
        return bool(piece)


def framing_of(response: Response, method: str) -> str:
    """What delimits the body of `response` to a request with that method (RFC 9112 section 6.3)."""
    codings = response.all("transfer-encoding")
    length = response.get("content-length")
    if codings and length is not None:
        raise MalformedResponse("both Transfer-Encoding and Content-Length")
    if codings not in ([], ["chunked"]):
        raise MalformedResponse(f"Transfer-Encoding {codings}")
    if length is not None and not length.isdecimal():
        raise MalformedResponse(f"Content-Length {length!r}")
    if response.status == 204 and (codings or length is not None):
        raise MalformedResponse("204 with a framing field")
    if method == "HEAD" or response.status in (101, 204, 304):
        return "none"
    if codings:
        return "chunked"
    return "length" if length is not None else "close"


STATUS_LINE = re.compile(rb"(HTTP/1\.[01]) ([1-9][0-9]{2}) ([\t \x21-\x7e\x80-\xff]*)")
FIELD_LINE = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t \x21-\x7e\x80-\xff]*)")
CHUNK_SIZE = re.compile(rb"[0-9a-fA-F]{1,16}")

"""A strict reader of multipart/form-data (RFC 7578) that keeps no more than a block of it in memory.

It takes what browsers and curl send and refuses the rest of RFC 2046: text before the first or
after the last boundary, white space after a boundary, nested parts, transfer encodings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol


class Readable(Protocol):
    """What the content is read from."""

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes; none at the end."""


class MultipartError(ValueError):
    """The content is not a form; the message says where it is wrong."""


class Part:
    """One field of the form. ``filename`` is None for a field that is not a file."""

    def __init__(self, name: str, filename: str | None, content: Iterator[bytes]) -> None:
        self.name = name
        self.filename = filename
        self._content = content

    def __iter__(self) -> Iterator[bytes]:
        """The content in pieces; whatever is not taken before the next part is asked for is skipped."""
        return self._content

    def text(self, limit: int) -> str:
        """The content as text of at most ``limit`` bytes."""
        content = b""
        for piece in self._content:
            content += piece
            if len(content) > limit:
                raise MultipartError(f"the field {self.name} is longer than {limit} bytes")
        return _utf8(content)


def parts(body: Readable, content_type: str) -> Iterator[Part]:
    """The parts of ``body`` in order, each while it arrives; ``content_type`` is the field of the request.

    Raises ``MultipartError`` where the content breaks the format, also if it ends before its last
    boundary.
    """
    window = _Window(body, b"\r\n--" + _boundary(content_type))
    window.expect_first_delimiter()
    for _ in range(_MAX_PARTS):
        if window.at_close():
            return
        name, filename = _disposition(window.header())
        part = Part(name, filename, window.content())
        yield part
        for _ in part:
            pass
    if not window.at_close():
        raise MultipartError(f"there are more than {_MAX_PARTS} parts")


class _Window:
    """The bytes that were read from the body and not yet understood."""

    def __init__(self, body: Readable, delimiter: bytes) -> None:
        self._body = body
        self._delimiter = delimiter
        self._bytes = bytearray()

    def expect_first_delimiter(self) -> None:
        """Pass the boundary that opens the form, the only one without a line end before it."""
        if self._take(len(self._delimiter) - 2) != self._delimiter[2:]:
            raise MultipartError("it does not begin with its boundary")

    def at_close(self) -> bool:
        """Pass what follows a boundary: true if that was the last one, false if a part follows."""
        ending = self._take(2)
        if ending == b"\r\n":
            return False
        if ending != b"--":
            raise MultipartError("a boundary is followed by something else than a line end")
        while len(self._bytes) <= 2 and self._fill():
            pass
        if bytes(self._bytes) not in (b"", b"\r\n"):
            raise MultipartError("something follows the last boundary")
        return True

    def header(self) -> bytes:
        """Pass the header of a part: its lines without the empty one that ends them."""
        while (end := self._bytes.find(b"\r\n\r\n")) < 0 and len(self._bytes) <= _MAX_HEADER:
            self._must_fill()
        if not 0 <= end <= _MAX_HEADER:
            raise MultipartError(f"the header of a part is longer than {_MAX_HEADER} bytes")
        return self._take(end + 4)[:end]

    def content(self) -> Iterator[bytes]:
        """Pass the content of a part up to the next delimiter, and the delimiter."""
        while (end := self._bytes.find(self._delimiter)) < 0:
            # The last bytes may be the beginning of a delimiter whose rest is still to come.
            settled = len(self._bytes) - len(self._delimiter) + 1
            if settled > 0:
                yield self._take(settled)
            self._must_fill()
        if end:
            yield self._take(end)
        self._take(len(self._delimiter))

    def _take(self, size: int) -> bytes:
        while len(self._bytes) < size:
            self._must_fill()
        taken = bytes(self._bytes[:size])
        del self._bytes[:size]
        return taken

    def _must_fill(self) -> None:
        if not self._fill():
            raise MultipartError("it ends before its last boundary")

    def _fill(self) -> bool:
        block = self._body.read(_BLOCK)
        self._bytes += block
        return bool(block)


def _boundary(content_type: str) -> bytes:
    media_type, _, parameters = content_type.partition(";")
    found = _BOUNDARY.fullmatch(parameters.strip(" \t"))
    if media_type.strip(" \t").lower() != "multipart/form-data" or found is None:
        raise MultipartError("it is not multipart/form-data with a boundary")
    return (found["quoted"] or found["bare"]).encode("ascii")


def _disposition(header: bytes) -> tuple[str, str | None]:
    """The name and file name a part's header gives."""
    fields = [line.partition(b":") for line in header.split(b"\r\n")]
    values = [value for name, _, value in fields if name.lower() == b"content-disposition"]
    if len(values) != 1:
        raise MultipartError("a part needs exactly one Content-Disposition")
    if any(name.lower() == b"content-transfer-encoding" for name, _, _ in fields):
        raise MultipartError("a part has a transfer encoding, which forms do not have")
    found = _DISPOSITION.fullmatch(_utf8(values[0]).strip(" \t"))
    if found is None:
        raise MultipartError("the Content-Disposition of a part is not that of a form")
    filename = found["filename"]
    return _unescape(found["name"]), None if filename is None else _unescape(filename)


def _unescape(value: str) -> str:
    """Undo the three escapes browsers use in names (HTML, "multipart/form-data encoding algorithm")."""
    return value.replace("%0D", "\r").replace("%0A", "\n").replace("%22", '"')


def _utf8(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise MultipartError("a name or a field is not UTF-8") from None


_BLOCK = 64 * 1024
_MAX_HEADER = 8 * 1024
_MAX_PARTS = 16

# RFC 2046 section 5.1.1: 1 to 70 of these, the last no space; unquoted only those of a token (RFC 9110 section
# 5.6.2).
_BOUNDARY = re.compile(
    r"boundary=(?:\"(?P<quoted>[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?])\""
    r"|(?P<bare>[0-9A-Za-z'+_\-.]{1,70}))",
    re.IGNORECASE,
)
_DISPOSITION = re.compile(
    r'form-data;[ \t]*name="(?P<name>[^"\r\n]*)"(?:;[ \t]*filename="(?P<filename>[^"\r\n]*)")?',
    re.IGNORECASE,
)

"""Requests as bytes, well-formed unless the caller puts something else in."""

from __future__ import annotations


def head(line: bytes, *fields: bytes) -> bytes:
    """A request head: the request line and the field lines, none added."""
    return b"\r\n".join([line, *fields, b"", b""])


def get(*fields: bytes, target: bytes = b"/", host: bytes | None = b"test") -> bytes:
    """A GET; `host` None leaves the Host line out."""
    return head(b"GET " + target + b" HTTP/1.1", *([] if host is None else [b"Host: " + host]), *fields)


def post(body: bytes, *fields: bytes, target: bytes = b"/") -> bytes:
    """A POST with that body and its Content-Length."""
    length = b"Content-Length: %d" % len(body)
    return head(b"POST " + target + b" HTTP/1.1", b"Host: test", length, *fields) + body


def chunked(data: bytes, *fields: bytes, target: bytes = b"/") -> bytes:
    """A POST whose chunked body is `data` as it stands: chunk lines, data, trailers."""
    return head(b"POST " + target + b" HTTP/1.1", b"Host: test", b"Transfer-Encoding: chunked", *fields) + data


def chunks(*pieces: bytes, size: str = "%x") -> bytes:
    """The pieces as chunks, and the last chunk without trailers."""
    return b"".join((size % len(piece)).encode() + b"\r\n" + piece + b"\r\n" for piece in pieces) + b"0\r\n\r\n"

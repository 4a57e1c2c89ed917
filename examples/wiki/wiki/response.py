"""What the wiki answers with: HTML, a redirect, a file; and the fields all of them share."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, BinaryIO
from wsgiref.util import FileWrapper

from .style import STYLE_HASH

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


@dataclass
class Response:
    """A response; ``body`` is the whole content, or an open file, sent from its position and closed."""

    status: int
    body: bytes | BinaryIO = b""
    headers: list[tuple[str, str]] = field(default_factory=list)

    def send(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Start the response and give its content, as an application called with ``environ`` must."""
        if self.status == 200 and self._client_has_it(environ):
            self._drop_content()
            self.status = 304
        status = HTTPStatus(self.status)
        start_response(f"{status.value} {status.phrase}", self.headers + _EVERYWHERE)
        if environ["REQUEST_METHOD"] == "HEAD":
            self._close()
            return []
        if isinstance(self.body, bytes):
            return [self.body]
        wrapper: type[FileWrapper] = environ.get("wsgi.file_wrapper", FileWrapper)
        return wrapper(self.body, _FILE_BLOCK)

    def _client_has_it(self, environ: WSGIEnvironment) -> bool:
        """Whether If-None-Match names this content, by the weak comparison (RFC 9110 section 13.1.2)."""
        condition = environ.get("HTTP_IF_NONE_MATCH", "").strip()
        etag = dict(self.headers).get("ETag")
        return etag is not None and (condition == "*" or etag in _OPAQUE_TAG.findall(condition))

    def _drop_content(self) -> None:
        # RFC 9110 section 15.4.5: a 304 repeats the fields for caches, not those that describe content.
        self._close()
        self.body = b""
        self.headers = [pair for pair in self.headers if not pair[0].startswith("Content-")]

    def _close(self) -> None:
        if not isinstance(self.body, bytes):
            self.body.close()


def html(text: str, status: int = 200, headers: list[tuple[str, str]] | None = None) -> Response:
    """A page that may be kept by the client if it asks each time whether it is still current."""
    content = text.encode()
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    caching = [("Cache-Control", "no-cache"), ("ETag", etag)]
    return _page(content, status, caching + (headers or []))


def private_html(text: str, status: int = 200, headers: list[tuple[str, str]] | None = None) -> Response:
    """A page for this client only, such as one with a form and its token: nobody keeps it."""
    return _page(text.encode(), status, [("Cache-Control", "no-store"), *(headers or [])])


def see_other(location: str) -> Response:
    """A redirect after a form was taken (RFC 9110 section 15.4.4), to a path of this server."""
    return Response(303, b"", [("Location", location), *_described(b"", "text/plain")])


def file(content: BinaryIO, size: int, media_type: str, etag: str) -> Response:
    """An open file of ``size`` bytes whose content never changes under its address."""
    return Response(
        200,
        content,
        [
            ("Content-Type", media_type),
            ("Content-Length", str(size)),
            ("Cache-Control", "public, max-age=86400"),
            ("ETag", etag),
        ],
    )


def _page(content: bytes, status: int, headers: list[tuple[str, str]]) -> Response:
    return Response(status, content, _described(content, "text/html; charset=utf-8") + headers)


def _described(content: bytes, media_type: str) -> list[tuple[str, str]]:
    return [("Content-Type", media_type), ("Content-Length", str(len(content)))]


# No script runs on any page, whatever gets into one.
_EVERYWHERE = [
    (
        "Content-Security-Policy",
        f"default-src 'none'; img-src 'self'; style-src {STYLE_HASH}; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'",
    ),
    ("Referrer-Policy", "same-origin"),
    ("X-Content-Type-Options", "nosniff"),
]
_FILE_BLOCK = 64 * 1024
_OPAQUE_TAG = re.compile(r'"[^"]*"')

"""What the client asked for, read out of the WSGI environ, and the error that refuses it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from .urls import Urls

if TYPE_CHECKING:
    from _typeshed.wsgi import InputStream, WSGIEnvironment


class HttpError(Exception):
    """A request that gets an error response: its status, a sentence for the reader, extra fields."""

    def __init__(self, status: int, message: str, headers: list[tuple[str, str]] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or []


class Body:
    """The content of a request, never read past its length nor past a limit.

    Raises ``HttpError`` 413 as soon as the content is known to exceed ``limit`` bytes, and 400 when
    it ends before its announced length.
    """

    def __init__(self, stream: InputStream, length: int | None, limit: int) -> None:
        if length is not None and length > limit:
            raise _too_large(limit)
        self._stream = stream
        self._expected = length
        self._allowed = limit if length is None else length
        self._limit = limit

    def read(self, size: int) -> bytes:
        """At most ``size`` bytes; empty at the end."""
        if self._allowed == 0 and self._expected is not None:
            return b""
        # Without a length one byte more than the limit tells content at the limit from content over it.
        room = self._allowed + (self._expected is None)
        data = self._stream.read(min(size, room))
        if not data and self._expected is not None:
            raise HttpError(400, "The request ended before its content was complete.")
        if len(data) > self._allowed:
            raise _too_large(self._limit)
        self._allowed -= len(data)
        return data

    def read_all(self) -> bytes:
        """What is left of the content."""
        return b"".join(iter(lambda: self.read(_READ_SIZE), b""))


class Request:
    """One request; everything is decoded on first use, and ``HttpError`` 400 raised if it cannot be."""

    def __init__(self, environ: WSGIEnvironment) -> None:
        self._environ = environ
        self.method: str = environ["REQUEST_METHOD"]
        self.urls = Urls(environ.get("SCRIPT_NAME", ""))

    @cached_property
    def path(self) -> str:
        """The path below the mount point. WSGI hands over its bytes as latin-1; they must be UTF-8."""
        try:
            return str(self._environ.get("PATH_INFO", "").encode("latin-1").decode("utf-8"))
        except UnicodeError:
            raise HttpError(400, "The path is not UTF-8.") from None

    @cached_property
    def query(self) -> dict[str, str]:
        """The fields of the query string."""
        return _fields(self._environ.get("QUERY_STRING", "").encode("latin-1"))

    def form(self, limit: int) -> dict[str, str]:
        """The fields of an urlencoded form of at most ``limit`` bytes."""
        if self.media_type != "application/x-www-form-urlencoded":
            raise HttpError(415, "This form must be sent as application/x-www-form-urlencoded.")
        return _fields(self.body(limit).read_all())

    def body(self, limit: int) -> Body:
        """The content, of at most ``limit`` bytes."""
        return Body(self._environ["wsgi.input"], self._length(), limit)

    @property
    def content_type(self) -> str:
        """The Content-Type field as it was sent, or an empty string."""
        return str(self._environ.get("CONTENT_TYPE", ""))

    @property
    def media_type(self) -> str:
        """The Content-Type in lower case without its parameters."""
        return self.content_type.partition(";")[0].strip().lower()

    @property
    def secure(self) -> bool:
        """Whether the client came by https."""
        return bool(self._environ["wsgi.url_scheme"] == "https")

    def cookie(self, name: str) -> str:
        """The value of the first cookie of that name, or an empty string."""
        for pair in self._environ.get("HTTP_COOKIE", "").split(";"):
            key, _, value = pair.strip().partition("=")
            if key == name:
                return str(value)
        return ""

    def number(self, fields: dict[str, str], name: str, default: int = 0) -> int:
        """The field ``name`` of ``fields`` as a number of a revision; ``default`` when it was not sent."""
        value = fields.get(name, "")
        if not value:
            return default
        # Longer numbers than these are no identifiers of SQLite's (they have 63 bits).
        if not (value.isascii() and value.isdigit() and len(value) <= 18):
            raise HttpError(400, f"The field {name} must be a number.")
        return int(value)

    def _length(self) -> int | None:
        value = self._environ.get("CONTENT_LENGTH", "")
        if value:
            return int(value)
        # Content without a length came in chunks. Only a server that ends its input may be read to the end.
        return None if self._environ.get("wsgi.input_terminated") else 0


def _fields(encoded: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(encoded.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise HttpError(400, "The fields sent cannot be understood.") from None
    return dict(pairs)


def _too_large(limit: int) -> HttpError:
    return HttpError(413, f"At most {limit:,} bytes can be sent here.")


_MAX_FIELDS = 20
_READ_SIZE = 64 * 1024

"""Pronghorn: a web server for Python applications, with its engine in Rust."""

from pronghorn._pronghorn import RequestTimeout, __version__
from pronghorn._pronghorn import run as _run

__all__ = ["RequestTimeout", "__version__", "run"]


def run(
    app: object,
    *,
    bind: str | list[str] | None = None,
    threads: int | None = None,
    **settings: object,
) -> None:
    """Serve a WSGI or ASGI application over HTTP/1.1 and WebSocket until INT or TERM, then return.

    TERM lets running requests end, for up to `graceful_timeout`; INT cuts them after a second. Call it from the main
    thread.

    Args:
        app: The application, or its name: "module:attribute" or "module:factory()".
        bind: Where to listen: "host:port", "[v6]:port", ":port", "unix:PATH", "fd://N", or a list of these;
            127.0.0.1:8000 when nothing says otherwise.
        threads: How many threads may run the application at once; 8 when nothing says otherwise.
        **settings: Every other setting by its name with _ for -, as in `max_body="10MiB"` or `head_timeout=5`; None
            stands for not given. A keyword wins over a `PRONGHORN_*` variable, a variable over the settings file.

    Raises:
        TypeError: A setting that does not exist, or a value of a type that it cannot have; the message says what to write.
        ValueError: A setting that has no such value; the message says what to write.
        RuntimeError: The server cannot start, for a reason the message gives.
    """
    _run(app, {"bind": bind, "threads": threads, **settings})

"""Addresses inside the wiki, right wherever it is mounted."""

from __future__ import annotations

from urllib.parse import quote, urlencode


class Urls:
    """Builds paths below ``mount``, the SCRIPT_NAME of the request (latin-1, as WSGI has it)."""

    def __init__(self, mount: str) -> None:
        self._mount = quote(mount.encode("latin-1"))

    def root(self) -> str:
        """The start of the wiki."""
        return f"{self._mount}/"

    def of(self, kind: str, name: str | None = None, **query: str | int) -> str:
        """The address of a collection (``pages``), or of a ``kind`` of view on ``name``."""
        path = f"{self._mount}/{kind}" if name is None else f"{self._mount}/{kind}/{quote(name)}"
        return f"{path}?{urlencode(query)}" if query else path

    def page(self, title: str, **query: str | int) -> str:
        """The address of a page."""
        return self.of("wiki", title, **query)

    def image(self, name: str) -> str:
        """The address of an image."""
        return self.of("images", name)

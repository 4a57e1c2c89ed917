"""The WSGI callable: finds the view of a request, and turns what it returns or refuses into a response."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING
from urllib.parse import quote

from . import layout
from .csrf import Csrf
from .database import Database
from .image_views import ImageViews
from .images import Images
from .page_views import PageViews
from .pages import Pages
from .request import HttpError, Request
from .response import Response

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

View = Callable[..., Response]


class Wiki:
    """The application over one database. An instance may be called by any number of threads at once."""

    def __init__(self, database: Database) -> None:
        csrf = Csrf(database.secret())
        pages = PageViews(Pages(database), csrf)
        images = ImageViews(Images(database), csrf)
        self._collections: dict[str, dict[str, View]] = {
            "": {"GET": pages.home},
            "pages": {"GET": pages.index},
            "search": {"GET": pages.search},
            "images": {"GET": images.index, "POST": images.upload},
        }
        self._items: dict[str, dict[str, View]] = {
            "wiki": {"GET": pages.show},
            "edit": {"GET": pages.edit, "POST": pages.save},
            "history": {"GET": pages.history},
            "diff": {"GET": pages.diff},
            "revert": {"POST": pages.revert},
            "images": {"GET": images.show},
        }

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request, as PEP 3333 has it."""
        request = Request(environ)
        try:
            response = self._dispatch(request)
        except HttpError as error:
            response = layout.refusal(request.urls, error)
        return response.send(environ, start_response)

    def _dispatch(self, request: Request) -> Response:
        methods, arguments = self._route(request.path)
        # RFC 9110 section 9.3.2: HEAD is GET without the content, which the response leaves out.
        method = "GET" if request.method == "HEAD" else request.method
        if method not in methods:
            raise HttpError(405, f"{request.method} cannot be used here.", _allow(methods))
        return methods[method](request, *arguments)

    def _route(self, path: str) -> tuple[dict[str, View], tuple[str, ...]]:
        kind, slash, name = path.removeprefix("/").partition("/")
        routes = self._items if slash else self._collections
        if kind not in routes or (slash and not name):
            raise HttpError(404, f"There is nothing at {quote(path)}.")
        return routes[kind], (name,) if slash else ()


def _allow(methods: Iterable[str]) -> list[tuple[str, str]]:
    """The Allow field a 405 must carry (RFC 9110 section 15.5.6)."""
    allowed = set(methods)
    if "GET" in allowed:
        allowed.add("HEAD")
    return [("Allow", ", ".join(sorted(allowed)))]

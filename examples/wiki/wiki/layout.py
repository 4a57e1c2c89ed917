"""The frame around every page, and the pages that say no."""

from __future__ import annotations

import time
from http import HTTPStatus

from .request import HttpError
from .response import Response, private_html
from .style import STYLE
from .template import Html, fill, join
from .urls import Urls
from .welcome import HOME


def document(urls: Urls, title: str, content: Html, query: str = "") -> Html:
    """A whole HTML document; ``query`` fills the search box."""
    return fill(
        _DOCUMENT,
        title=title,
        style=Html(STYLE),
        content=content,
        home=urls.page(HOME),
        pages=urls.of("pages"),
        images=urls.of("images"),
        search=urls.of("search"),
        query=query,
    )


def tabs(urls: Urls, title: str, here: str) -> Html:
    """The links between the views of one page; ``here`` is the view that is shown."""
    views = [("wiki", "Read"), ("edit", "Edit"), ("history", "History")]
    links = (_tab(label, urls.of(kind, title), kind == here) for kind, label in views)
    return fill('<nav class="tabs">{links}</nav>', links=join(links))


def refusal(urls: Urls, error: HttpError) -> Response:
    """The response for a request that was refused."""
    phrase = HTTPStatus(error.status).phrase
    content = fill("<h1>{phrase}</h1><p>{message}</p>", phrase=phrase, message=error.message)
    return private_html(document(urls, phrase, content), error.status, error.headers)


def moment(seconds: int) -> Html:
    """A point in time, in UTC to the minute."""
    shown = time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))
    return fill('<time datetime="{shown}Z">{shown}</time>', shown=shown)


def _tab(label: str, href: str, here: bool) -> Html:
    current = Html(' aria-current="page"' if here else "")
    return fill('<a href="{href}"{current}>{label}</a>', href=href, current=current, label=label)


_DOCUMENT = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · Wiki</title>
<style>{style}</style>
<header>
<a class="home" href="{home}">Wiki</a>
<nav><a href="{pages}">Pages</a><a href="{images}">Images</a></nav>
<form action="{search}" role="search">
<input type="search" name="q" value="{query}" placeholder="Search" aria-label="Search">
</form>
</header>
<main>
{content}
</main>
</html>
"""

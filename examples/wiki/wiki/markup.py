"""The wiki's markup: a small line-by-line language that becomes safe HTML in linear time.

Whatever is not recognised is text and is escaped; there is no way to write HTML. Addresses can only
be pages and images of the wiki, or begin with http: or https:.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from .template import Html, fill, join
from .urls import Urls


def linked_titles(text: str) -> set[str]:
    """The titles of the pages that ``text`` links to (and of some it only mentions, inside code)."""
    return {match["page"].strip() for match in _INLINE.finditer(text) if match["page"]}


def render(text: str, urls: Urls, existing: Collection[str]) -> Html:
    """``text`` as HTML. Links to pages that are not in ``existing`` lead to the form that makes them."""
    inline = _Inline(urls, existing)
    return join(_blocks(text.split("\n"), inline.render), "\n")


def _blocks(lines: list[str], inline: Callable[[str], Html]) -> Iterator[Html]:
    position = 0
    while position < len(lines):
        kind, pattern = _kind(lines[position])
        end = position + 1
        if kind == "code":
            end = _fence_end(lines, end)
            yield fill("<pre><code>{code}</code></pre>", code="\n".join(lines[position + 1 : end]))
            end += 1
        else:
            while kind in _RUNS and end < len(lines) and _kind(lines[end])[0] == kind:
                end += 1
            matches = [pattern.match(line) for line in lines[position:end]]
            yield _block(kind, [(match[1], inline(match[2])) for match in matches if match])
        position = end


def _kind(line: str) -> tuple[str, re.Pattern[str]]:
    """What block a line belongs to; every line is at least that of a paragraph."""
    return next((kind, pattern) for kind, pattern in _LINES if pattern.match(line))


def _fence_end(lines: list[str], start: int) -> int:
    return next((i for i in range(start, len(lines)) if _FENCE.match(lines[i])), len(lines))


def _block(kind: str, content: list[tuple[str, Html]]) -> Html:
    """A block of the given kind; ``content`` is the mark and the rest of each of its lines."""
    rests = [rest for _, rest in content]
    if kind == "heading":
        level = len(content[0][0]) + 1
        return fill("<h{level}>{rest}</h{level}>", level=level, rest=rests[0])
    if kind in _LISTS:
        items = join(fill("<li>{rest}</li>", rest=rest) for rest in rests)
        return fill("<{tag}>{items}</{tag}>", tag=_LISTS[kind], items=items)
    return fill(_PLAIN[kind], lines=join(rests, "<br>" if kind == "quote" else "\n"))


class _Inline:
    """Renders what stands inside a line."""

    def __init__(self, urls: Urls, existing: Collection[str]) -> None:
        self._urls = urls
        self._existing = existing

    def render(self, text: str) -> Html:
        pieces, position = [], 0
        for match in _INLINE.finditer(text):
            pieces.append(fill("{text}", text=text[position : match.start()]))
            pieces.append(self._element(match))
            position = match.end()
        return join([*pieces, fill("{text}", text=text[position:])])

    def _element(self, match: re.Match[str]) -> Html:
        if match["code"]:
            return fill("<code>{code}</code>", code=match["code"])
        if match["page"]:
            return self._page_link(match["page"].strip(), match["label"])
        if match["image"]:
            address = self._urls.image(match["image"])
            return fill('<img src="{src}" alt="{alt}">', src=address, alt=match["alt"])
        if match["address"]:
            link = '<a class="outside" rel="nofollow" href="{href}">{text}</a>'
            return fill(link, href=match["address"], text=match["text"])
        tag = "strong" if match["strong"] else "em"
        content = self.render(match["strong"] or match["em"])
        return fill("<{tag}>{content}</{tag}>", tag=tag, content=content)

    def _page_link(self, title: str, label: str | None) -> Html:
        if title in self._existing:
            link, href = '<a href="{href}">{text}</a>', self._urls.page(title)
        else:
            link, href = '<a class="missing" href="{href}">{text}</a>', self._urls.of("edit", title)
        return fill(link, href=href, text=label or title)


_FENCE = re.compile(r"```")
_LINES = [
    ("code", _FENCE),
    ("heading", re.compile(r"(#{1,3}) +(.*)")),
    ("rule", re.compile(r"(---+) *()$")),
    ("bullets", re.compile(r"([-*]) +(.*)")),
    ("numbers", re.compile(r"(\d{1,9}[.)]) +(.*)")),
    ("quote", re.compile(r"(>) ?(.*)")),
    ("blank", re.compile(r"()\s*()$")),
    ("paragraph", re.compile(r"()(.*)")),
]
_RUNS = {"bullets", "numbers", "quote", "blank", "paragraph"}
_LISTS = {"bullets": "ul", "numbers": "ol"}
_PLAIN = {
    "rule": "<hr>",
    "quote": "<blockquote>{lines}</blockquote>",
    "blank": "",
    "paragraph": "<p>{lines}</p>",
}

# Each alternative stops at the mark it begins with, or is bounded: no text is scanned many times.
_INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|\[\[(?P<page>[^\[\]|\n]{1,120})(?:\|(?P<label>[^\[\]\n]{1,200}))?\]\]"
    r"|!\[(?P<alt>[^\[\]\n]{0,200})\]\((?P<image>[a-z0-9-]{1,80}\.[a-z]{3,4})\)"
    r"|\[(?P<text>[^\[\]\n]{1,200})\]\((?P<address>https?://[^\s()<>\"]{1,1000})\)"
    r"|\*\*(?P<strong>[^*\n]+)\*\*"
    r"|\*(?P<em>[^*\s\n][^*\n]*)\*"
)

"""HTML that is escaped unless it says that it is HTML already."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


class Html(str):
    """Text that is HTML: filling a template leaves it as it is."""

    __slots__ = ()


def fill(template: str, **values: object) -> Html:
    """``template``, which is HTML, with each ``{name}`` replaced; values that are no ``Html`` are escaped."""
    return Html(template.format_map({name: _html(value) for name, value in values.items()}))


def join(parts: Iterable[Html], separator: str = "") -> Html:
    """The parts one after the other; ``separator`` is HTML."""
    return Html(separator.join(parts))


def _html(value: object) -> str:
    return value if isinstance(value, Html) else escape(str(value))

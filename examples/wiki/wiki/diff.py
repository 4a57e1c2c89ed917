"""What changed between two texts, as HTML."""

from __future__ import annotations

from difflib import unified_diff

from .template import Html, fill, join


def render(old: str, new: str) -> Html:
    """The changed lines of ``new`` and ``old`` with a few around them, in the order of a unified diff."""
    lines = unified_diff(old.split("\n"), new.split("\n"), n=3, lineterm="")
    # The first two lines name the files.
    changes = join(_line(line) for line in list(lines)[2:])
    if not changes:
        return Html('<p class="note">The texts are the same.</p>')
    return fill('<div class="diff">{changes}</div>', changes=changes)


def _line(line: str) -> Html:
    # The mark stays in the text: colour alone would not tell everybody.
    return fill(_TEMPLATES.get(line[:1], "<div>{line}</div>"), line=line)


_TEMPLATES = {
    "+": "<div><ins>{line}</ins></div>",
    "-": "<div><del>{line}</del></div>",
    "@": '<div class="note">{line}</div>',
}

"""What changed between two texts, as HTML."""

from __future__ import annotations

from difflib import unified_diff

from .template import Html, fill, join


def render(old: str, new: str) -> Html:
    """The changed lines of ``new`` and ``old`` with a few around them, in the order of a unified diff."""
    before, after = old.split("\n"), new.split("\n")
    if len(before) + len(after) > _MAX_LINES:
        return Html('<p class="note">The texts have too many lines to compare them here.</p>')
    lines = unified_diff(before, after, n=3, lineterm="")
    # The first two lines name the files.
    changes = join(_line(line) for line in list(lines)[2:])
    if not changes:
        return Html('<p class="note">The texts are the same.</p>')
    return fill('<div class="diff">{changes}</div>', changes=changes)


def _line(line: str) -> Html:
    # The mark stays in the text: colour alone would not tell everybody.
    return fill(_TEMPLATES.get(line[:1], "<div>{line}</div>"), line=line)


# Comparing takes up to the square of the number of lines; this many take less than a second.
_MAX_LINES = 4000

_TEMPLATES = {
    "+": "<div><ins>{line}</ins></div>",
    "-": "<div><del>{line}</del></div>",
    "@": '<div class="note">{line}</div>',
}

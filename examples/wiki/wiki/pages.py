"""Pages and their revisions: reading, saving without losing anyone's edit, searching."""

from __future__ import annotations

import json
import re
import sqlite3
import time
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from .database import Database

MAX_TITLE = 100  # characters
MAX_TEXT = 200_000  # bytes of UTF-8


@dataclass(frozen=True)
class Revision:
    """One state of a page. ``created`` is in seconds since 1970; ``number`` is unique in the whole wiki."""

    number: int
    text: str
    comment: str
    created: int


@dataclass(frozen=True)
class Hit:
    """A page found by a search; ``excerpt`` has the words found between ``MARK_ON`` and ``MARK_OFF``."""

    title: str
    excerpt: str


class EditConflict(Exception):
    """The page was changed after the editor opened it; ``current`` is what it is now."""

    def __init__(self, current: Revision) -> None:
        super().__init__("the page was changed meanwhile")
        self.current = current


class Pages:
    """The pages in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def current(self, title: str) -> Revision | None:
        """The newest revision of a page, or None if there is no such page."""
        query = f"SELECT {_COLUMNS} FROM page JOIN revision ON revision.id = page.current WHERE title = ?"
        return _revision(self._database.connection.execute(query, [title]))

    def revision(self, title: str, number: int) -> Revision | None:
        """A revision of a page, or None if the page has no such revision."""
        query = f"SELECT {_COLUMNS} {_OF_PAGE} AND revision.id = ?"
        return _revision(self._database.connection.execute(query, [title, number]))

    def before(self, title: str, number: int) -> Revision | None:
        """The revision of a page that came before revision ``number``, or None for the first."""
        return next(iter(self.history(title, number, 1)), None)

    def history(self, title: str, before: int, limit: int) -> list[Revision]:
        """At most ``limit`` revisions older than ``before``, the newest first."""
        query = f"SELECT {_COLUMNS} {_OF_PAGE} AND revision.id < ? ORDER BY 1 DESC LIMIT ?"
        rows = self._database.connection.execute(query, [title, before, limit])
        return [Revision(*row) for row in rows]

    def save(self, title: str, text: str, comment: str, base: int) -> None:
        """Add a revision to a page, or make the page.

        ``base`` is the number of the revision the text was made from, 0 for a new page. Raises
        ``EditConflict`` when the page has a newer one, unless that has the same text already.
        """
        with self._database.writing() as connection:
            current = self.current(title)
            if current is not None and current.text == text:
                return
            if current is not None and current.number != base:
                raise EditConflict(current)
            _insert(connection, title, text, comment)

    def existing(self, titles: Iterable[str]) -> set[str]:
        """Those of ``titles`` that are pages."""
        query = "SELECT title FROM page WHERE title IN (SELECT value FROM json_each(?))"
        rows = self._database.connection.execute(query, [json.dumps(list(titles))])
        return {title for (title,) in rows}

    def titles(self) -> list[str]:
        """The titles of all pages, in order."""
        rows = self._database.connection.execute("SELECT title FROM page ORDER BY title COLLATE NOCASE")
        return [title for (title,) in rows]

    def search(self, words: str, limit: int) -> list[Hit]:
        """The pages that have every one of ``words`` or a longer word it begins, the best first."""
        query = (
            "SELECT title, snippet(page_index, 1, ?, ?, '…', 24) FROM page_index "
            "WHERE page_index MATCH ? ORDER BY bm25(page_index, 5.0, 1.0) LIMIT ?"
        )
        # A quoted word is never an operator of the query language; the star makes it a prefix.
        match = " ".join(f'"{word}"*' for word in re.findall(r"\w+", words))
        if not match:
            return []
        rows = self._database.connection.execute(query, [MARK_ON, MARK_OFF, match, limit])
        return [Hit(*row) for row in rows]


def is_title(title: str) -> bool:
    """Whether ``title`` can name a page: short, and free of what addresses and markup need."""
    return (
        0 < len(title) <= MAX_TITLE
        and title == " ".join(unicodedata.normalize("NFC", title).split())
        and title.isprintable()
        and not _NOT_IN_TITLE.search(title)
        # Clients resolve these two in an address before they send it (RFC 3986 section 5.2.4).
        and title not in (".", "..")
    )


def _revision(rows: sqlite3.Cursor) -> Revision | None:
    row = rows.fetchone()
    return None if row is None else Revision(*row)


def _insert(connection: sqlite3.Connection, title: str, text: str, comment: str) -> None:
    # The page and its revision name each other; the reference to the revision is checked at commit.
    page = connection.execute(
        "INSERT INTO page (title, current) VALUES (?, 0) ON CONFLICT (title) DO UPDATE SET current = 0 RETURNING id",
        [title],
    ).fetchone()[0]
    number = connection.execute(
        "INSERT INTO revision (page, text, comment, created) VALUES (?, ?, ?, ?)",
        [page, text, comment, int(time.time())],
    ).lastrowid
    connection.execute("UPDATE page SET current = ? WHERE id = ?", [number, page])
    connection.execute("DELETE FROM page_index WHERE rowid = ?", [page])
    connection.execute("INSERT INTO page_index (rowid, title, text) VALUES (?, ?, ?)", [page, title, text])


# Characters of private use: no text has them by chance, and they are plain text to HTML.
MARK_ON, MARK_OFF = "\ue000", "\ue001"

_COLUMNS = "revision.id, text, comment, created"
_OF_PAGE = "FROM revision JOIN page ON page.id = revision.page WHERE title = ?"
_NOT_IN_TITLE = re.compile(r"[\[\]|/<>#?%\\]")

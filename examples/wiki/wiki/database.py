"""The SQLite file: made once, opened once by each thread."""

from __future__ import annotations

import os
import secrets
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from .welcome import HOME, WELCOME


def default_path() -> Path:
    """Where the database is: ``WIKI_DATABASE``, or ``data/wiki.sqlite3`` beside the package."""
    beside = Path(__file__).resolve().parent.parent / "data" / "wiki.sqlite3"
    return Path(os.environ.get("WIKI_DATABASE") or beside)


class Database:
    """The database at ``path``, made with its first page if there is none.

    A connection of SQLite's serves one thread, so each thread opens its own at its first statement.
    None is open between construction and the first request, so a server may fork after importing
    the application.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        if not path.exists():
            _create(path)

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection of this thread; each statement outside ``writing`` is its own transaction."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = _connect(self.path)
        return connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction that reads and writes: committed at the end, undone if the block raises."""
        connection = self.connection
        # IMMEDIATE takes the write lock now: taken later, after a read, it could be refused without waiting.
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def secret(self) -> bytes:
        """The key that tokens of forms are made with; it stays the same as long as the database."""
        with closing(_connect(self.path)) as connection:
            row = connection.execute("SELECT value FROM setting WHERE name = 'secret'").fetchone()
        return bytes(row[0])


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_LOCK_TIMEOUT, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    # Safe with a write-ahead log: a power cut may undo the last edits, never damage the file.
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _create(path: Path) -> None:
    """Make the database, or say what to do about a place where that is not possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _create_in_one_step(path)
    except OSError as error:
        reason = f"cannot make the database of the wiki ({error}): set WIKI_DATABASE to a path that can be written"
        raise RuntimeError(reason) from error


def _create_in_one_step(path: Path) -> None:
    """Make the database beside its place and link it there, so that no other process sees half of it."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="new-wiki-") as folder:
        draft = Path(folder) / path.name
        with closing(_connect(draft)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_SCHEMA)
            _first_rows(connection)
        try:
            os.link(draft, path)
        except FileExistsError:
            return  # Another worker was faster; its database is as good.


def _first_rows(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN")
    connection.execute("INSERT INTO setting (name, value) VALUES ('secret', ?)", [secrets.token_bytes(32)])
    connection.execute("INSERT INTO page (id, title, current) VALUES (1, ?, 1)", [HOME])
    connection.execute(
        "INSERT INTO revision (id, page, text, comment, created) VALUES (1, 1, ?, 'First page', ?)",
        [WELCOME, int(time.time())],
    )
    connection.execute("INSERT INTO page_index (rowid, title, text) VALUES (1, ?, ?)", [HOME, WELCOME])
    connection.execute("COMMIT")


_LOCK_TIMEOUT = 10.0  # seconds a statement waits for another thread's transaction

_SCHEMA = """
CREATE TABLE setting (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE page (
    id INTEGER PRIMARY KEY,
    title TEXT NOT NULL UNIQUE,
    current INTEGER NOT NULL REFERENCES revision (id) DEFERRABLE INITIALLY DEFERRED
);

-- Numbers of revisions are never used twice: they tell whether a page changed under an editor's hands.
CREATE TABLE revision (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    page INTEGER NOT NULL REFERENCES page (id),
    text TEXT NOT NULL,
    comment TEXT NOT NULL,
    created INTEGER NOT NULL
);
CREATE INDEX revision_of_page ON revision (page, id);

CREATE VIRTUAL TABLE page_index USING fts5 (
    title, text, tokenize = "unicode61 remove_diacritics 2"
);

CREATE TABLE image (
    name TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    media_type TEXT NOT NULL,
    size INTEGER NOT NULL,
    created INTEGER NOT NULL
) WITHOUT ROWID;
"""

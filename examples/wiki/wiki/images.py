"""Uploaded images: files named by the digest of their content, and rows that give them names."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from .database import Database

MAX_SIZE = 5 * 1024 * 1024  # bytes


@dataclass(frozen=True)
class Image:
    """An image: name with extension, SHA-256 in hexadecimal, media type, size in bytes."""

    name: str
    digest: str
    media_type: str
    size: int


class ImageRefused(Exception):
    """An upload that cannot be kept; the message says why."""


class NameTaken(Exception):
    """Another image has the name already; the argument is that name."""


class Images:
    """The images of a wiki, in a folder beside its database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._folder = database.path.with_name(database.path.name + ".images")

    def all(self) -> list[Image]:
        """Every image, by name."""
        rows = self._database.connection.execute(f"SELECT {_COLUMNS} FROM image ORDER BY name")
        return [Image(*row) for row in rows]

    def find(self, name: str) -> Image | None:
        """The image of that name, or None."""
        query = f"SELECT {_COLUMNS} FROM image WHERE name = ?"
        row = self._database.connection.execute(query, [name]).fetchone()
        return None if row is None else Image(*row)

    def open(self, image: Image) -> BinaryIO:
        """The content of an image."""
        return (self._folder / image.digest).open("rb")

    def add(self, filename: str, content: Iterable[bytes]) -> Image:
        """Keep an uploaded file under a name made from the client's ``filename``.

        The content is written as it arrives. Raises ``ImageRefused`` if it is no image or too
        large, and ``NameTaken``; nothing is kept then.
        """
        self._folder.mkdir(exist_ok=True)
        descriptor, draft = tempfile.mkstemp(dir=self._folder, prefix="new-")
        try:
            with open(descriptor, "wb") as file:
                image = _receive(filename, content, file)
            self._keep(image, draft)
        finally:
            Path(draft).unlink(missing_ok=True)
        return image

    def _keep(self, image: Image, draft: str) -> None:
        row = [image.name, image.digest, image.media_type, image.size, int(time.time())]
        with self._database.writing() as connection:
            kept = self.find(image.name)
            if kept == image:
                return
            if kept is not None:
                raise NameTaken(image.name)
            connection.execute(f"INSERT INTO image ({_COLUMNS}, created) VALUES (?, ?, ?, ?, ?)", row)
            # Before the commit, so that a row always has its file. Two names of one content share it.
            os.replace(draft, self._folder / image.digest)


def media_type(start: bytes) -> str | None:
    """The type of an image by its first 12 bytes, or None if it is none of those the wiki keeps.

    SVG is left out on purpose: it is a document that can carry scripts.
    """
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _MAGIC if start.startswith(magic)), None)


def _receive(filename: str, content: Iterable[bytes], file: BinaryIO) -> Image:
    start, size, digest = b"", 0, hashlib.sha256()
    for piece in content:
        size += len(piece)
        if size > MAX_SIZE:
            raise ImageRefused(f"An image may have at most {MAX_SIZE:,} bytes.")
        start = (start + piece[:_START])[:_START]
        digest.update(piece)
        file.write(piece)
    kind = media_type(start)
    if kind is None:
        raise ImageRefused("The file is not a PNG, JPEG, GIF or WebP image.")
    return Image(_name(filename, kind), digest.hexdigest(), kind, size)


def _name(filename: str, kind: str) -> str:
    """A plain name: no folder, no extension but that of the type, nothing that addresses or markup need."""
    stem = filename.replace("\\", "/").rpartition("/")[2].partition(".")[0].lower()
    plain = re.sub(r"[^a-z0-9]+", "-", stem).strip("-")[:_MAX_STEM]
    return f"{plain or 'image'}.{_EXTENSION[kind]}"


_COLUMNS = "name, digest, media_type, size"
_EXTENSION = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_MAX_STEM = 60
_START = 12

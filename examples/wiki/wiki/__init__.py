"""A wiki as a WSGI application: the standard library and SQLite, nothing else.

``application`` keeps its pages in the database that ``WIKI_DATABASE`` names, or in
``data/wiki.sqlite3`` beside this package. The file, its folder and a first page are made on first
start.
"""

from .application import Wiki
from .database import Database, default_path

__all__ = ["Wiki", "application"]

application = Wiki(Database(default_path()))

"""The store's own database: what was read, ready to be looked up. It knows nothing of tasks."""

import sqlite3
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from milepost.demo.extract import words

_SCHEMA = """
create table if not exists document (sha256 text primary key, name text not null, kind text not null);
create table if not exists page (sha256 text, number integer, text text, primary key (sha256, number));
create table if not exists word (word text, sha256 text, times integer, primary key (word, sha256));
"""


class Shelf:
    """One SQLite file."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path)
        self._db.executescript(_SCHEMA)

    def begin(self, sha256: str, name: str, kind: str) -> None:
        """Makes room for a document; what an earlier run left of it goes."""
        with self._db:
            self._db.execute("delete from page where sha256 = ?", (sha256,))
            self._db.execute("delete from word where sha256 = ?", (sha256,))
            self._db.execute("insert or replace into document values (?, ?, ?)", (sha256, name, kind))

    def add(self, sha256: str, number: int, text: str) -> None:
        """Stores one page."""
        with self._db:
            self._db.execute("insert or replace into page values (?, ?, ?)", (sha256, number, text))

    def index(self, sha256: str, texts: Iterable[str]) -> int:
        """Stores how often each word occurs; how many words there are in all."""
        counted = Counter(word.lower() for text in texts for word in words(text))
        with self._db:
            rows = [(word, sha256, times) for word, times in counted.items()]
            self._db.executemany("insert or replace into word values (?, ?, ?)", rows)
        return counted.total()

    def close(self) -> None:
        """Closes the file."""
        self._db.close()

"""SQLite as a site of the contract suite."""

from pathlib import Path

from msgspec import Struct

from milepost.clock import SystemClock
from milepost.storage.schema import upgrade
from milepost.storage.sqlite.store import SqliteStorage, open_sqlite


class SqliteSite(Struct, frozen=True):
    """One file. `lock_timeout` in seconds."""

    path: Path
    lock_timeout: float = 2.0

    @property
    def url(self) -> str:
        """Where the migrations find it."""
        return f"sqlite:///{self.path}"

    def migrate(self) -> "SqliteSite":
        """Makes the tables."""
        upgrade(self.url)
        return self

    def open(self) -> SqliteStorage:
        """One more hold on it."""
        return open_sqlite(self.path, SystemClock(), lock_timeout=self.lock_timeout)

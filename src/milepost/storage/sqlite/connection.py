"""Opens connections to one file, and says what an error of the driver means."""

import sqlite3
from pathlib import Path

WAITS = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
GONE = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}


class Fault(RuntimeError):
    """The database refused a statement of ours: a mistake in Milepost or a damaged file, not a matter of waiting."""


def connect(path: Path, lock_timeout: float, *, writes: bool) -> sqlite3.Connection:
    """A connection in write-ahead mode; `lock_timeout` in seconds. Without `writes` it can only read."""
    connection = sqlite3.connect(
        path, timeout=lock_timeout, isolation_level=None, check_same_thread=False, cached_statements=512
    )
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA cache_size=-32768")
    connection.execute("PRAGMA temp_store=MEMORY")
    if not writes:
        connection.execute("PRAGMA query_only=ON")
    return connection


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's result code without its extension; 0 where the driver gave none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF

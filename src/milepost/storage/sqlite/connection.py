"""Opens connections to one file, and says what an error of the driver means."""

import random
import sqlite3
import time
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


PATIENCE = 5
"""How many times the lock timeout a writer waits where others do commit."""


class Fault(RuntimeError):
    """The database refused a statement of ours: a mistake in Milepost or a damaged file, not a matter of waiting."""


def connect(path: Path, wait: float, *, writes: bool) -> sqlite3.Connection:
    """A connection in write-ahead mode; one that only reads waits so many seconds for a lock."""
    connection = sqlite3.connect(
        path, timeout=wait, isolation_level=None, check_same_thread=False, cached_statements=512
    )
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA cache_size=-32768")
    connection.execute("PRAGMA temp_store=MEMORY")
    # After a burst that no checkpoint could follow, the log's file gives its room back.
    connection.execute("PRAGMA journal_size_limit=67108864")
    # A writer waits in `begin`; once it has the lock it waits for nobody.
    connection.execute("PRAGMA busy_timeout=0" if writes else "PRAGMA query_only=ON")
    return connection


def begin(connection: sqlite3.Connection, wait: float) -> None:
    """Takes the write lock, or raises when nobody has committed for so many seconds, at last after `PATIENCE` of them.

    A lock that changes hands is busy, not stuck: among eight processes that come back at once, some wait for seconds
    whatever the way of waiting. This one asks every few milliseconds, out of step with others, where SQLite's own
    sleeps up to 100 ms: 1,600 commits of 2 ms by eight processes took 2.6 to 2.9 s instead of 3.1 to 3.6.
    """
    start = time.monotonic()
    stuck_at = start + wait
    commits = None
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            now = time.monotonic()
            if primary_code(error) not in WAITS or now > start + PATIENCE * wait:
                raise
            seen = connection.execute("PRAGMA data_version").fetchone()
            if seen != commits:
                commits, stuck_at = seen, now + wait
            elif now > stuck_at:
                raise
        else:
            return
        time.sleep(random.uniform(0.000_5, 0.005))


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's result code without its extension; 0 where the driver gave none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF

"""The storage port on one SQLite file."""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from milepost.clock import Clock
from milepost.ports.storage import Transaction, Unavailable
from milepost.storage.access import SqlAccess
from milepost.storage.claims import SqlClaims
from milepost.storage.definitions import SqlDefinitions
from milepost.storage.notices import SqlNotices
from milepost.storage.operating import SqlOperating
from milepost.storage.reading import SqlReading
from milepost.storage.retention import SqlRetention
from milepost.storage.schema import is_current
from milepost.storage.session import Session
from milepost.storage.sqlite import hot, life
from milepost.storage.sqlite.connection import GONE, WAITS, Fault, begin, connect, primary_code
from milepost.storage.sqlite.lanes import Lane
from milepost.storage.sqlite.session import SqliteSession
from milepost.storage.sqlite.stepping import finish
from milepost.storage.sqlite.transaction import SqliteTransaction
from milepost.storage.stream_log import SqlStreamLog
from milepost.storage.watching import SqlLiveness, SqlWatching
from milepost.telemetry.logs import get_logger

_log = get_logger(__name__)

T = TypeVar("T")

ATTEMPTS = 3
"""How often a transaction is tried that met a key another one had just taken."""

RECORD_AFTER = 0.5
"""Seconds from a commit to the rewriting of the witness; one is promised."""


class SchemaBehind(Exception):
    """The file's tables are older than this program."""


class SqliteStorage:
    """One file: transactions on one writer thread, views on a few reader threads."""

    def __init__(self, path: Path, clock: Clock, *, lock_timeout: float, readers: int) -> None:
        self._path = path
        self._witness = life.witness_path(path)
        self._clock = clock
        self._record_at: float | None = None
        self._closed = False
        self._lock_timeout = lock_timeout
        self._writer_connection = connect(path, lock_timeout, writes=True)
        self._reader_connections = [connect(path, lock_timeout, writes=False) for _ in range(readers)]
        self._epoch = self._commit(self._writer_connection, self._settle)
        self._writer = Lane("milepost-writer", [self._writer_connection], self._record_if_due)
        self._readers = Lane("milepost-reader", self._reader_connections, lambda: None)
        self.reading = SqlReading(self)
        self.definitions = SqlDefinitions(self)
        self.stream_log = SqlStreamLog(self)
        self.access = SqlAccess(self, clock)
        self.operating = SqlOperating(self)
        self.notices = SqlNotices(self)
        self.claims = SqlClaims(self, clock)
        self.watching = SqlWatching(self)
        self.liveness = SqlLiveness(self, clock)
        self.retention = SqlRetention(self)

    async def transaction(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Runs a use case in one transaction on the writer thread and commits it."""
        return await self._writer.do(lambda connection: self._commit(connection, lambda: self._use(connection, work)))

    async def write(self, work: Callable[[Session], Awaitable[T]]) -> T:
        """Runs shared statements in one transaction on the writer thread and commits them."""
        return await self._writer.do(
            lambda connection: self._commit(connection, lambda: finish(work(SqliteSession(connection))))
        )

    async def read(self, work: Callable[[Session], Awaitable[T]]) -> T:
        """Runs shared statements over one view on a reader thread."""
        return await self._readers.do(lambda connection: _view(connection, work))

    async def epoch(self) -> str:
        """The epoch as this process last saw it."""
        return self._epoch

    async def renew_epoch(self, seen: str) -> str:
        """Starts a new epoch unless somebody has done so already."""
        return await self._writer.do(lambda connection: self._commit(connection, lambda: self._renew(seen)))

    async def close(self) -> None:
        """Finishes what was asked before, rewrites the witness and lets go of the file. Twice is once."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._close)

    async def __aenter__(self) -> "SqliteStorage":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _use(self, connection: sqlite3.Connection, work: Callable[[Transaction], Awaitable[T]]) -> T:
        transaction = SqliteTransaction(connection, self._clock.now)
        value = finish(work(transaction))
        if transaction.epoch is not None:
            self._epoch = transaction.epoch
        if transaction.numbered and self._record_at is None:
            self._record_at = time.monotonic() + RECORD_AFTER
        return value

    def _commit(self, connection: sqlite3.Connection, work: Callable[[], T]) -> T:
        for _ in range(ATTEMPTS - 1):
            with suppress(sqlite3.IntegrityError):
                return self._once(connection, work)
        try:
            return self._once(connection, work)
        except sqlite3.IntegrityError as error:
            raise _told(error) from error

    def _once(self, connection: sqlite3.Connection, work: Callable[[], T]) -> T:
        try:
            begin(connection, self._lock_timeout)
            try:
                value = work()
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.IntegrityError:
            raise
        except sqlite3.Error as error:
            raise _told(error) from error
        return value

    def _settle(self) -> str:
        return life.settle(self._writer_connection, self._witness, self._clock.now())

    def _renew(self, seen: str) -> str:
        (self._epoch,) = self._writer_connection.execute(hot.EPOCH).fetchone()
        if self._epoch == seen:
            self._epoch = life.renew(self._writer_connection, self._witness, self._clock.now())
        return self._epoch

    def _record_if_due(self) -> float | None:
        if self._record_at is None:
            return None
        left = self._record_at - time.monotonic()
        if left > 0:
            return left
        self._record()
        return None

    def _record(self) -> None:
        self._record_at = None
        try:
            self._commit(self._writer_connection, lambda: life.record(self._writer_connection, self._witness))
        except (Unavailable, Fault, OSError) as error:
            # A witness that is late says less than it could, and is never wrong; the next commit tries again.
            _log.warning("%s could not be rewritten: %s", self._witness.name, error)

    def _close(self) -> None:
        self._readers.close()
        self._writer.close()
        self._record()
        for connection in (*self._reader_connections, self._writer_connection):
            connection.close()


def open_sqlite(path: str | Path, clock: Clock, *, lock_timeout: float = 2.0, readers: int = 4) -> SqliteStorage:
    """The storage in this file, whose tables must be current; `lock_timeout` in seconds. Blocks for milliseconds.

    Raises SchemaBehind or Unavailable.
    """
    place = Path(path).absolute()
    if not is_current(f"sqlite:///{place}"):
        raise SchemaBehind("The database's tables are not those of this version: run `milepost migrate`.")
    try:
        return SqliteStorage(place, clock, lock_timeout=lock_timeout, readers=readers)
    except sqlite3.Error as error:
        raise _told(error) from error


def _view(connection: sqlite3.Connection, work: Callable[[Session], Awaitable[T]]) -> T:
    try:
        connection.execute("BEGIN")
        try:
            return finish(work(SqliteSession(connection)))
        finally:
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        raise _told(error) from error


def _told(error: sqlite3.Error) -> Exception:
    code = primary_code(error)
    if code in WAITS or code in GONE:
        return Unavailable(f"The database cannot be used: {error}")
    return Fault(str(error))

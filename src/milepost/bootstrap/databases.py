"""Opens the database that the settings name. Each kind of database has its one place here."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct

from milepost.bootstrap.refusals import Misconfigured, NotAvailable, SchemaBehind
from milepost.clock import Clock
from milepost.ports.access import Access
from milepost.ports.claims import Claims
from milepost.ports.definitions import Definitions
from milepost.ports.notices import Notices
from milepost.ports.operating import Operating
from milepost.ports.reading import Reading
from milepost.ports.retention import Retention
from milepost.ports.storage import Storage, Unavailable
from milepost.ports.stream import StreamLog
from milepost.ports.watching import Liveness, Watching
from milepost.settings.sections import Settings

if TYPE_CHECKING:
    from milepost.storage.sqlite.store import SqliteStorage

T = TypeVar("T")

SERVERS: Final = ("postgresql://", "mysql://", "mariadb://")
_SQLITE: Final = "sqlite:///"


class Database(Struct, frozen=True):
    """One open database, by the ports it implements."""

    storage: Storage
    reading: Reading
    log: StreamLog
    access: Access
    operating: Operating
    notices: Notices
    claims: Claims
    watching: Watching
    liveness: Liveness
    retention: Retention
    definitions: Definitions


def embedded_file(settings: Settings) -> Path | None:
    """The file of an embedded database; None for one behind a server. Raises `Misconfigured` for any other URL."""
    url = settings.database.url.reveal()
    path = url.removeprefix(_SQLITE)
    if url.startswith(_SQLITE) and "?" not in url and path not in ("", ":memory:"):
        return Path(path)
    if url.startswith(SERVERS):
        return None
    raise Misconfigured(
        "database.url: expected sqlite:///path, postgresql://..., mysql://... or mariadb://...; "
        "a database in memory would not keep what it acknowledged"
    )


def is_current(settings: Settings) -> bool:
    """Whether the tables are those of this version. Raises `CannotStart`."""
    from milepost.storage import schema

    url = _url(settings)
    return _told(lambda: schema.is_current(url))


def migrate(settings: Settings) -> None:
    """Brings the tables to those of this version. Raises `CannotStart`."""
    from milepost.storage import schema

    url = _url(settings)
    _told(lambda: schema.upgrade(url))


def migration_sql(settings: Settings) -> str:
    """The statements that `migrate` would run on an empty database."""
    from milepost.storage import schema

    return schema.sql(_url(settings))


@asynccontextmanager
async def open_database(settings: Settings, clock: Clock) -> AsyncGenerator[Database]:
    """The open database; an embedded one is brought up to date by itself. Raises `CannotStart`."""
    from milepost.storage.sqlite.store import open_sqlite

    file = _file(settings)
    if not is_current(settings):
        migrate(settings)
    try:
        storage = open_sqlite(file, clock, lock_timeout=settings.database.lock_timeout.seconds)
    except (Unavailable, OSError) as error:
        raise NotAvailable(f"database {file}: {_line(error)}") from None
    try:
        yield _ports(storage)
    finally:
        await storage.close()


def _ports(storage: "SqliteStorage") -> Database:
    return Database(
        storage=storage,
        reading=storage.reading,
        log=storage.stream_log,
        access=storage.access,
        operating=storage.operating,
        definitions=storage.definitions,
        notices=storage.notices,
        claims=storage.claims,
        watching=storage.watching,
        liveness=storage.liveness,
        retention=storage.retention,
    )


def _file(settings: Settings) -> Path:
    file = embedded_file(settings)
    if file is None:
        raise Misconfigured("database.url: this version runs on SQLite only; other databases follow")
    return file


def _url(settings: Settings) -> str:
    return f"{_SQLITE}{_file(settings).absolute()}"


def _told(work: Callable[[], T]) -> T:
    """Runs what asks for or changes the tables; its trouble becomes one line."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        return work()
    except (SQLAlchemyError, OSError) as error:
        raise NotAvailable(f"database: {_line(getattr(error, 'orig', None) or error)}") from None
    except Exception as error:
        # Imported only here: most starts find the tables current and need no migration tool.
        from alembic.util import CommandError

        if not isinstance(error, CommandError):
            raise
        raise SchemaBehind(f"database: made by another version of Milepost: {_line(error)}") from None


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__

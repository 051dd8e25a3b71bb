"""Brings a database's tables to those of this version, forward only, while others use it."""

import io
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url, pool, text

if TYPE_CHECKING:
    from alembic.config import Config

_SCRIPTS = Path(__file__).parent / "migrations"

HEAD = "20261129_definitions"
"""The newest migration. Written down here, so that opening a database need not read the scripts."""

LOCK_TIMEOUT = 30.0
"""Seconds a migration waits for the lock of a process that serves."""


# Alembic keeps what it works on in module variables.
_ALONE = threading.Lock()


def upgrade(url: str) -> None:
    """Runs every migration that is missing, in one transaction; nothing where none is. Makes a new SQLite file."""
    from alembic import command

    engine = _engine(url)
    try:
        with _ALONE, engine.connect() as connection:
            config = _config(url)
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    finally:
        engine.dispose()


def is_current(url: str) -> bool:
    """Whether the tables are exactly those of this version; False for a SQLite file that is not there."""
    database = make_url(url).database
    if make_url(url).get_backend_name() == "sqlite" and not (database and Path(database).exists()):
        return False
    engine = _engine(url)
    try:
        with engine.connect() as connection:
            if not inspect(connection).has_table("alembic_version"):
                return False
            found = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
    finally:
        engine.dispose()
    return list(found) == [HEAD]


def sql(url: str) -> str:
    """The statements that make the tables, for those who run them by hand."""
    from alembic import command

    written = io.StringIO()
    config = _config(url)
    config.output_buffer = written
    with _ALONE:
        command.upgrade(config, "head", sql=True)
    return written.getvalue()


def _config(url: str) -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    config.set_main_option("path_separator", "os")
    config.attributes["url"] = url
    return config


def _engine(url: str) -> Engine:
    if make_url(url).get_backend_name() != "sqlite":
        return create_engine(url, poolclass=pool.NullPool)
    engine = create_engine(url, poolclass=pool.NullPool, connect_args={"timeout": LOCK_TIMEOUT})
    event.listen(engine, "connect", _sqlite_connect)
    event.listen(engine, "begin", _sqlite_begin)
    return engine


def _sqlite_connect(connection: Any, _: object) -> None:
    # The driver would commit before every CREATE TABLE; we begin and commit ourselves.
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")


def _sqlite_begin(connection: Connection) -> None:
    # Takes the write lock before the version is read: of two that migrate at once, the second finds nothing to do.
    connection.exec_driver_sql("BEGIN IMMEDIATE")

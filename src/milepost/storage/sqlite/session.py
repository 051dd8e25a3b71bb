"""Runs the shared statements on one SQLite connection."""

import sqlite3
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import Executable
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql import ClauseElement

from milepost.storage.rows import Row

_DIALECT = sqlite.dialect(paramstyle="named")


class SqliteSession:
    """A view or a transaction that somebody else begins and ends."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def rows(self, statement: Executable, values: Mapping[str, Any]) -> list[Row]:
        """All rows of a query."""
        return self._execute(statement, values).fetchall()

    async def run(self, statement: Executable, values: Mapping[str, Any]) -> int:
        """The number of rows a change touched."""
        return self._execute(statement, values).rowcount

    def _execute(self, statement: Executable, values: Mapping[str, Any]) -> sqlite3.Cursor:
        text, constants = compiled(statement)
        return self._connection.execute(text, {**constants, **values} if constants else values)


@lru_cache(maxsize=1024)
def compiled(statement: Executable) -> tuple[str, dict[str, Any]]:
    """The SQL of a statement object and the constants in it, worked out once."""
    if not isinstance(statement, ClauseElement):
        raise TypeError("only statements that can be compiled are run here")
    result = statement.compile(dialect=_DIALECT)
    return str(result), {name: value for name, value in (result.params or {}).items() if value is not None}

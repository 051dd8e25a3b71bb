"""What the shared statements need of a database: run one, in a view or in a transaction of its own.

The work is a coroutine, as in the ports: a server's driver awaits, SQLite steps it to its end without a pause. It may
be run again, so it changes nothing but the database.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeVar

from sqlalchemy import Executable

from milepost.storage.rows import Row

T = TypeVar("T")


class Session(Protocol):
    """One open view or transaction. A statement object is compiled once, so it is made once and takes bound values."""

    async def rows(self, statement: Executable, values: Mapping[str, Any]) -> list[Row]:
        """All rows of a query."""
        ...

    async def run(self, statement: Executable, values: Mapping[str, Any]) -> int:
        """The number of rows a change touched."""
        ...


class Database(Protocol):
    """Opens views and transactions for work that is given to it."""

    async def read(self, work: Callable[[Session], Awaitable[T]]) -> T:
        """Runs `work` over one consistent view. Raises `Unavailable`."""
        ...

    async def write(self, work: Callable[[Session], Awaitable[T]]) -> T:
        """Runs `work` in one transaction and commits. Raises `Unavailable`; then nothing is done."""
        ...

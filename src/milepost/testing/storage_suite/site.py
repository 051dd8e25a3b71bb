"""What the suite needs to know about a database under test, and how it speaks with it."""

from typing import Protocol

from milepost.domain.state import TaskKey, TaskState
from milepost.ports.access import Access
from milepost.ports.claims import Claims
from milepost.ports.definitions import Definitions
from milepost.ports.notices import Notices
from milepost.ports.operating import Operating
from milepost.ports.reading import Reading
from milepost.ports.retention import Retention
from milepost.ports.storage import Known, Storage, Transaction, Wanted, Writes
from milepost.ports.stream import StreamLog
from milepost.ports.watching import Liveness, Watching

TENANT = "acme"


class Store(Storage, Protocol):
    """One process's hold on the database."""

    @property
    def reading(self) -> Reading:
        """What viewers read."""
        ...

    @property
    def stream_log(self) -> StreamLog:
        """The stream log."""
        ...

    @property
    def access(self) -> Access:
        """Identities."""
        ...

    @property
    def operating(self) -> Operating:
        """What operators read and settle."""
        ...

    @property
    def notices(self) -> Notices:
        """The notification centre."""
        ...

    @property
    def claims(self) -> Claims:
        """Claims on named pieces of work."""
        ...

    @property
    def watching(self) -> Watching:
        """Who is due to be looked at."""
        ...

    @property
    def liveness(self) -> Liveness:
        """When the service listened."""
        ...

    @property
    def retention(self) -> Retention:
        """Removes what is old."""
        ...

    @property
    def definitions(self) -> Definitions:
        """Published definitions."""
        ...

    async def close(self) -> None:
        """Lets go."""
        ...


class Site(Protocol):
    """A database that is there and migrated. It can be pickled, so that other processes open it too."""

    def open(self) -> Store:
        """One more hold on it, by a clock that tells the real time."""
        ...


async def write(store: Store, writes: Writes) -> dict[str, int]:
    """Writes without a decision; the first new position of each tenant."""
    return await store.transaction(lambda transaction: transaction.write(writes))


async def locked(store: Store, *keys: TaskKey) -> dict[TaskKey, TaskState]:
    """What phase 1 finds."""
    return await store.transaction(lambda transaction: transaction.lock(keys))


async def known(store: Store, wanted: Wanted) -> Known:
    """What phase 2 finds."""
    return await store.transaction(lambda transaction: transaction.read(wanted))


async def broken(transaction: Transaction, writes: Writes) -> None:
    """Writes everything, then fails."""
    await transaction.write(writes)
    raise ZeroDivisionError

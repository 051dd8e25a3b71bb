"""`python -m milepost.testing.mortal`: the real service, which kills itself with SIGKILL at a chosen point of a commit.

`MILEPOST_MORTAL=point:count` says where: at the `count`-th transaction that passes `point`. Nothing is cleaned up, as
with a power cut; what was acknowledged before must be there when the service starts again.
"""

import os
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar

from msgspec.structs import replace

from milepost.bootstrap.databases import Database, open_database
from milepost.bootstrap.service import serve
from milepost.clock import Clock
from milepost.domain.state import TaskKey, TaskState
from milepost.ports.notices import ReadMark
from milepost.ports.storage import Known, StepKey, Storage, Transaction, Wanted, Writes
from milepost.settings.reading import load
from milepost.settings.sections import Settings

T = TypeVar("T")

POINTS: Final = ("begun", "locked", "read", "written", "committed")
"""Before the lock, after it, after what a decision depends on was read, before COMMIT, and before the answer."""


class Fate:
    """Counts how often a point was passed, and ends the process when its time has come."""

    def __init__(self, told: str) -> None:
        self._point, _, count = told.partition(":")
        self._left = int(count)

    def passes(self, point: str) -> None:
        """Marks that a transaction has come to `point`."""
        if point != self._point:
            return
        self._left -= 1
        if self._left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)


class MortalTransaction:
    """A transaction that may be the last thing its process does."""

    def __init__(self, inner: Transaction, fate: Fate) -> None:
        self._inner = inner
        self._fate = fate

    async def lock(self, keys: Sequence[TaskKey]) -> dict[TaskKey, TaskState]:
        """Phase 1."""
        self._fate.passes("begun")
        held = await self._inner.lock(keys)
        self._fate.passes("locked")
        return held

    async def look(self, keys: Sequence[TaskKey]) -> dict[TaskKey, TaskState]:
        """The same without a lock."""
        return await self._inner.look(keys)

    async def read(self, wanted: Wanted) -> Known:
        """Phase 2."""
        known = await self._inner.read(wanted)
        self._fate.passes("read")
        return known

    async def write(self, writes: Writes) -> dict[str, int]:
        """Phases 4 and 5."""
        first = await self._inner.write(writes)
        self._fate.passes("written")
        return first

    async def members(self, tenant_id: str, project_id: str) -> frozenset[str] | None:
        """A project's members."""
        return await self._inner.members(tenant_id, project_id)

    async def claimants(self, tenant_id: str, project_id: str, now: int) -> frozenset[str]:
        """Whose sessions claim a project."""
        return await self._inner.claimants(tenant_id, project_id, now)

    async def mark_read(self, mark: ReadMark) -> int:
        """Marks notifications."""
        return await self._inner.mark_read(mark)

    async def forget_results(self, tenant_id: str, before: int) -> None:
        """Forgets old results."""
        await self._inner.forget_results(tenant_id, before)

    async def touch(self, steps: Sequence[StepKey], now: int) -> None:
        """A sign of life."""
        await self._inner.touch(steps, now)


class MortalStorage:
    """A storage whose transactions may kill the process."""

    def __init__(self, inner: Storage, fate: Fate) -> None:
        self._inner = inner
        self._fate = fate

    async def transaction(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Runs `work` and commits, unless fate has it otherwise."""
        value = await self._inner.transaction(lambda tx: work(MortalTransaction(tx, self._fate)))
        self._fate.passes("committed")
        return value

    async def epoch(self) -> str:
        """The epoch of the database."""
        return await self._inner.epoch()

    async def renew_epoch(self, seen: str) -> str:
        """A new epoch."""
        return await self._inner.renew_epoch(seen)


@asynccontextmanager
async def _open(settings: Settings, clock: Clock) -> AsyncGenerator[Database]:
    async with open_database(settings, clock) as database:
        yield replace(database, storage=MortalStorage(database.storage, Fate(os.environ["MILEPOST_MORTAL"])))


def _tell(address: str) -> None:
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()


def main() -> None:
    """Serves on the port in the first argument until the time has come."""
    settings = load(None, os.environ, Path.cwd()).settings
    server = replace(settings.server, port=int(sys.argv[1]))
    serve(replace(settings, server=server), None, _tell, opened=_open)


if __name__ == "__main__":
    main()

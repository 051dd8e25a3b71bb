"""Commits what is about no task: members, broadcasts, read marks. One transaction each, told on like any commit."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from milepost.domain.events import StreamEntry
from milepost.ports.storage import Storage, Transaction
from milepost.ports.stream import Announcer, Committed, Logged

T = TypeVar("T")
Done = tuple[T, Committed | None]


class Teller:
    """Runs a command in a transaction and tells this process's readers what it added to the stream."""

    def __init__(self, storage: Storage, announcer: Announcer | None = None) -> None:
        self._storage = storage
        self._announcer = announcer

    async def __call__(self, work: Callable[[Transaction], Awaitable[Done[T]]]) -> T:
        """The outcome of `work`, committed. Raises what it raises, and `Unavailable`."""
        outcome, committed = await self._storage.transaction(work)
        if committed is not None and self._announcer is not None:
            self._announcer.announce(committed)
        return outcome


def told(tenant_id: str, epoch: str, first: dict[str, int], entries: Sequence[StreamEntry]) -> Committed | None:
    """What readers are told of these entries, which were numbered from `first` on; None where there are none."""
    if not entries:
        return None
    logged = tuple(Logged(first[tenant_id] + index, entry) for index, entry in enumerate(entries))
    return Committed(tenant_id, epoch, logged, {}, {})

"""The stream log: what viewers must learn, per tenant in gapless commit order."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from milepost.domain.events import Event, StreamEntry
from milepost.domain.state import TaskState
from milepost.ports.reading import Scope


class Window(Struct, frozen=True):
    """The positions a tenant's stream holds: `floor` < position ≤ `top`. A cursor below `floor` has expired."""

    top: int
    floor: int


class Tops(Struct, frozen=True):
    """The windows of several tenants and the epoch in which their positions count."""

    epoch: str
    windows: Mapping[str, Window]


class Logged(Struct, frozen=True):
    """One entry with its position."""

    position: int
    entry: StreamEntry


class StreamLog(Protocol):
    """Reads the stream log."""

    async def tops(self, tenant_ids: Sequence[str]) -> Tops:
        """The windows of these tenants, in one statement; unknown tenants are absent."""
        ...

    async def entries(
        self, tenant_id: str, after: int, upto: int, limit: int, scope: Scope | None = None
    ) -> tuple[Logged, ...]:
        """Entries with `after` < position ≤ `upto`, in order, at most `limit`; only what `scope` may learn of."""
        ...


class Committed(Struct, frozen=True):
    """What one commit added to one tenant's stream, for readers in the same process.

    `states` holds, for tasks among the entries, the state the batch left; `events` the event of each (task, version).
    """

    tenant_id: str
    epoch: str
    entries: tuple[Logged, ...]
    states: Mapping[str, TaskState]
    events: Mapping[tuple[str, int], Event]


class Announcer(Protocol):
    """Is told of every commit of this process, after it and in commit order. A lost call costs a second, no more."""

    def announce(self, committed: Committed) -> None:
        """Wakes whoever reads this tenant's stream; returns at once."""
        ...

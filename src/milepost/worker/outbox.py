"""Where reports wait until they were delivered.

In this version they wait in memory: what was not delivered when the process dies is lost, and the service then sees a
silent step (STALE), never a wrong one. A durable outbox takes the same place behind the same protocol later.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct

from milepost.domain.lifecycle import ends


class Item(Struct, eq=False):
    """One report. `made_at` is of the monotonic clock in seconds, `occurred_at` of the wall clock in ms.

    `says` is what it says, in the names of the wire; `sent` tells that a socket may have seen it, so that it must stay
    what it is; `bare` counts how often its content was left out after a refusal.
    """

    event_id: str
    event_type: str
    occurred_at: int
    made_at: float
    seq: int
    says: dict[str, Any]
    sent: bool = False
    bare: int = 0
    settled: Callable[[], None] | None = None

    @property
    def ends(self) -> bool:
        """Whether this is the end of its step."""
        return ends(self.event_type)


class Dead(Struct, frozen=True):
    """A report that the service will never take, and why."""

    task_id: str
    step_id: str
    event_id: str
    event_type: str
    code: str
    detail: str


class Outbox(Protocol):
    """Keeps the reports of one stream in order."""

    def __len__(self) -> int: ...

    def add(self, item: Item) -> None:
        """Puts a report at the end."""
        ...

    def heads(self, limit: int) -> list[Item]:
        """Up to `limit` reports from the front, which stay until removed."""
        ...

    def remove(self, item: Item) -> None:
        """Takes out a report that was delivered or given up."""
        ...

    def replace(self, item: Item, by: Item) -> None:
        """Puts another report in the place of one that was refused."""
        ...

    def droppable(self) -> Item | None:
        """The oldest progress that no socket has seen, or None."""
        ...


class MemoryOutbox:
    """The reports of one stream in memory."""

    def __init__(self) -> None:
        self._items: deque[Item] = deque()

    def __len__(self) -> int:
        return len(self._items)

    def add(self, item: Item) -> None:
        """Puts a report at the end."""
        self._items.append(item)

    def heads(self, limit: int) -> list[Item]:
        """Up to `limit` reports from the front."""
        return [item for item, _ in zip(self._items, range(limit), strict=False)]

    def remove(self, item: Item) -> None:
        """Takes out a report."""
        self._items.remove(item)

    def replace(self, item: Item, by: Item) -> None:
        """Puts another report in its place."""
        self._items[self._items.index(item)] = by

    def droppable(self) -> Item | None:
        """The oldest progress that no socket has seen, or None."""
        return next((item for item in self._items if item.event_type == "STEP_PROGRESS" and not item.sent), None)

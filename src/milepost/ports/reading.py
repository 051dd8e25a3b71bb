"""What viewers and services read. An answer that shows state carries the cursor, which was read before the state."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from milepost.domain.events import Event, Evidence
from milepost.domain.lifecycle import Lifecycle
from milepost.domain.state import Step, Task, TaskKey
from milepost.ports.storage import CommandResult, ResultKey


class Scope(Struct, frozen=True):
    """Which tasks of a tenant somebody may see: one's own, those of one's projects, or (administrators) all."""

    tenant_id: str
    user_id: str
    project_ids: frozenset[str] = frozenset()
    everything: bool = False

    def covers(self, task: Task) -> bool:
        """Whether this task is inside the scope."""
        if task.tenant_id != self.tenant_id:
            return False
        return self.everything or task.owner_id == self.user_id or task.project_id in self.project_ids


class Filters(Struct, frozen=True):
    """What a list is narrowed to. `text` matches titles and ids, without regard to case; `updated_after` in ms."""

    lifecycle: Lifecycle | None = None
    task_type: str | None = None
    project_id: str | None = None
    text: str | None = None
    updated_after: int | None = None


class Snapshot(Struct, frozen=True):
    """The complete state of one task, with the epoch and the stream's top as they were read before it."""

    task: Task
    steps: tuple[Step, ...]
    epoch: str
    cursor: int


class Page(Struct, frozen=True):
    """One page of tasks, newest created first (then by id, descending), and whether more follow."""

    tasks: tuple[Task, ...]
    more: bool
    epoch: str
    cursor: int


class Changes(Struct, frozen=True):
    """What changed after a position: tasks by ascending last position, ids of removed ones, and where to go on.

    `floor` is the lowest cursor that can still be answered: an older one has expired. `top` is the highest there is.
    """

    tasks: tuple[Task, ...]
    removed: tuple[str, ...]
    next: int
    epoch: str
    floor: int
    top: int


class Timeline(Struct, frozen=True):
    """Events of one task by ascending version; `oldest` is the oldest version that is kept."""

    events: tuple[Event, ...]
    oldest: int | None


class PendingStep(Struct, frozen=True):
    """A step whose merged progress waits to become a version."""

    key: TaskKey
    step_id: str


class Reading(Protocol):
    """Reads committed state, each call in one consistent view of the database."""

    async def snapshot(self, key: TaskKey, *, all_attempts: bool = False) -> Snapshot | None:
        """One task with its steps by ordinal (attempts newest first); a tombstone has `deleted_at`; None if unknown."""
        ...

    async def snapshots(self, tenant_id: str, task_ids: Sequence[str], *, steps: bool) -> dict[str, Snapshot]:
        """The current state of up to 500 tasks; unknown ids are absent; `steps` is empty unless asked for."""
        ...

    async def page(self, scope: Scope, filters: Filters, before: tuple[int, str] | None, limit: int) -> Page:
        """The page after `before` = (created_at, task_id) of the last task seen; deleted tasks are left out."""
        ...

    async def changes(self, scope: Scope, after: int, limit: int) -> Changes:
        """Up to `limit` tasks that changed after position `after`."""
        ...

    async def timeline(self, key: TaskKey, after_version: int, limit: int) -> Timeline:
        """Events with a task version above `after_version`."""
        ...

    async def events_at(self, keys: Sequence[tuple[TaskKey, int]]) -> dict[tuple[TaskKey, int], Event]:
        """The events that made these task versions."""
        ...

    async def evidence(self, key: TaskKey, limit: int) -> tuple[Evidence, ...]:
        """What was ignored, stale, fenced or in conflict, newest first."""
        ...

    async def result(self, key: ResultKey) -> CommandResult | None:
        """The remembered result of a command."""
        ...

    async def pending(self, since: int, limit: int) -> tuple[PendingStep, ...]:
        """Steps of any tenant whose progress has waited since `since` (UTC ms) or longer."""
        ...

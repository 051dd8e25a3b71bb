"""What a viewer knows, merged by version. Pure: no I/O, no clock.

Everything that arrives is a complete state with a version, so late, doubled, reordered and lost messages are harmless:
a gate per task lets a version through only if it is higher than the last. The list and the detail have gates of their
own, because they are different projections. Removal leaves a tombstone. All of it counts in one epoch of the database;
another epoch empties the store, and then only a snapshot counts.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from milepost.domain.notices import Notice
from milepost.wire.messages import (
    BroadcastProject,
    BroadcastSystem,
    BroadcastTenant,
    Message,
    TaskDetail,
    TaskRemoved,
    TaskSummary,
)
from milepost.wire.numbers import parse_cursor
from milepost.wire.views import StepView, TaskView

ALERTS = 5_000
"""How many alerts are remembered, so that none is shown twice."""

Effect = Literal["CHANGED", "REMOVED", "IGNORED", "REFETCH", "FOREIGN"]


class Detail(Struct, frozen=True):
    """A task with the newest attempt of each step."""

    task: TaskView
    steps: tuple[StepView, ...]


class _Known(Struct):
    position: int = 0
    summary: TaskView | None = None
    summary_version: int = 0
    detail: Detail | None = None
    detail_version: int = 0


class Store:
    """The tasks one viewer may see, as far as it has been told."""

    def __init__(self) -> None:
        self.epoch: str | None = None
        self.cursor: str | None = None
        self._known: dict[str, _Known] = {}
        self._tombstones: dict[str, int] = {}
        self._listed = 0
        self._alerts: dict[str, None] = {}

    # Reading

    def tasks(self) -> list[TaskView]:
        """All tasks, newest created first, then by id, descending."""
        found = [known.summary for known in self._known.values() if known.summary is not None]
        return sorted(found, key=_order, reverse=True)

    def task(self, task_id: str) -> TaskView | None:
        """One task as the list shows it."""
        known = self._known.get(task_id)
        return known.summary if known else None

    def detail(self, task_id: str) -> Detail | None:
        """One task with its steps, if they were ever loaded."""
        known = self._known.get(task_id)
        return known.detail if known else None

    def removed(self, task_id: str) -> bool:
        """Whether the task is known to be gone."""
        return task_id in self._tombstones

    # Messages

    def apply(self, message: Message) -> Effect:
        """Takes in a message. FOREIGN: it is of another epoch. REFETCH: it is news, but its steps must be read."""
        if isinstance(message, BroadcastSystem):
            return "IGNORED"
        if message.epoch != self.epoch:
            return "FOREIGN"
        if isinstance(message, TaskSummary):
            if int(message.position) <= self._listed and message.task_id not in self._known:
                # The list was read later and does not hold it: the message is of a task that is gone.
                return "IGNORED"
            return self._summary(message.task, int(message.version), int(message.position))
        if isinstance(message, TaskDetail):
            return self._detailed(message)
        if isinstance(message, TaskRemoved):
            return self._remove(message.task_id, int(message.version))
        return "IGNORED"

    def alert(self, message: Message) -> Notice | None:
        """The notice to show because of this message: each once, and none that was replayed, whatever its version."""
        if not isinstance(message, TaskSummary) or message.notice is None or not self._first(message.notice.id):
            return None
        return None if message.replayed else message.notice

    def broadcast(self, message: Message) -> BroadcastProject | BroadcastTenant | BroadcastSystem | None:
        """The broadcast to show because of this message: each id once, and none that was replayed."""
        if not isinstance(message, BroadcastProject | BroadcastTenant | BroadcastSystem) or not self._first(message.id):
            return None
        replayed = not isinstance(message, BroadcastSystem) and message.replayed
        return None if replayed else message

    def _first(self, alert_id: str) -> bool:
        if alert_id in self._alerts:
            return False
        self._alerts[alert_id] = None
        if len(self._alerts) > ALERTS:
            del self._alerts[next(iter(self._alerts))]
        return True

    def moved(self, cursor: str) -> None:
        """Notes how far the stream was read."""
        if cursor:
            self.cursor = cursor

    # Snapshots

    def enter(self, epoch: str) -> bool:
        """Counts in this epoch from now on; whether it is another one, in which case everything known is dropped."""
        if epoch == self.epoch:
            return False
        self.epoch = epoch
        self.cursor = None
        self._known.clear()
        self._tombstones.clear()
        self._listed = 0
        return True

    def take_list(self, epoch: str, cursor: str, items: Sequence[TaskView], *, complete: bool) -> list[str]:
        """Takes in the list as it was at `cursor`; the ids of tasks that are gone from it.

        `items` are the newest tasks; `complete` says that there are no older ones. What the list should hold and does
        not was removed or is not for us any more, unless a message told of it after `cursor`.
        """
        self.enter(epoch)
        position = _position(cursor)
        self._listed = max(self._listed, position)
        for item in items:
            self._summary(item, int(item.version), position)
        return self._prune({item.id for item in items}, _reach(items, complete=complete), position)

    def take_detail(self, epoch: str, task: TaskView, steps: Iterable[StepView]) -> Effect:
        """Takes in the snapshot of one task."""
        self.enter(epoch)
        return self._detail(Detail(task, tuple(steps)), int(task.version), 0)

    def forget(self, task_id: str) -> bool:
        """Drops a task that may not be seen any more; whether it was known. Without a tombstone: it may come back."""
        return self._known.pop(task_id, None) is not None

    # Gates

    def _summary(self, task: TaskView, version: int, position: int) -> Effect:
        known = self._entry(task.id, version)
        if known is None:
            return "IGNORED"
        known.position = max(known.position, position)
        if version <= known.summary_version:
            return "IGNORED"
        known.summary, known.summary_version = task, version
        return "CHANGED"

    def _detailed(self, message: TaskDetail) -> Effect:
        version = int(message.version)
        if message.steps is not None:
            return self._detail(Detail(message.task, message.steps), version, int(message.position))
        known = self._entry(message.task_id, version)
        return "REFETCH" if known is not None and version > known.detail_version else "IGNORED"

    def _detail(self, detail: Detail, version: int, position: int) -> Effect:
        known = self._entry(detail.task.id, version)
        if known is None:
            return "IGNORED"
        known.position = max(known.position, position)
        if version <= known.detail_version:
            return "IGNORED"
        known.detail, known.detail_version = detail, version
        return "CHANGED"

    def _remove(self, task_id: str, version: int) -> Effect:
        known = self._known.get(task_id)
        if known is not None and version <= max(known.summary_version, known.detail_version):
            return "IGNORED"
        repeated = self._tombstones.get(task_id, -1) >= version
        self._tombstones[task_id] = max(version, self._tombstones.get(task_id, 0))
        self._known.pop(task_id, None)
        return "IGNORED" if repeated else "REMOVED"

    def _entry(self, task_id: str, version: int) -> _Known | None:
        buried = self._tombstones.get(task_id)
        if buried is not None:
            if version <= buried:
                return None
            del self._tombstones[task_id]
        return self._known.setdefault(task_id, _Known())

    def _prune(self, listed: set[str], reach: tuple[str, str], position: int) -> list[str]:
        gone = [
            task_id
            for task_id, known in self._known.items()
            if task_id not in listed
            and known.summary is not None
            and known.position <= position
            and _order(known.summary) >= reach
        ]
        for task_id in gone:
            del self._known[task_id]
        return gone


def _order(task: TaskView) -> tuple[str, str]:
    return (task.created_at, task.id)


def _reach(items: Sequence[TaskView], *, complete: bool) -> tuple[str, str]:
    if complete:
        return ("", "")
    return _order(items[-1]) if items else ("~", "")


def _position(cursor: str) -> int:
    parsed = parse_cursor(cursor)
    return parsed[1] if parsed else 0

"""What people read: lists, one task, its timeline, what changed. Rights are checked on every call, per task."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from milepost.clock import Clock
from milepost.domain.state import Task, TaskKey
from milepost.ports.reading import Filters, Page, Reading, Scope, Snapshot
from milepost.ports.storage import Storage
from milepost.usecases.rulebook import Rulebook
from milepost.wire.answers import StatusBatch, TaskChanges, TaskList, TaskSnapshot, TimelinePage
from milepost.wire.ids import is_id
from milepost.wire.messages import timeline_item
from milepost.wire.numbers import cursor, instant, parse_cursor
from milepost.wire.problems import Rejection
from milepost.wire.views import Projection, TaskView, step_view, task_view

_COUNTED: Final = re.compile(r"[0-9]{1,18}")


class Views:
    """Reads for one kind of asker: a person, whose `Scope` decides what exists for them."""

    def __init__(self, storage: Storage, reading: Reading, rulebook: Rulebook, clock: Clock) -> None:
        self._storage = storage
        self._reading = reading
        self._rulebook = rulebook
        self._clock = clock

    async def detail(self, scope: Scope, task_id: str, *, all_attempts: bool = False) -> Snapshot:
        """One task. Raises `Rejection` NOT_FOUND where it is not for this person, TASK_DELETED for a tombstone."""
        found = await self._reading.snapshot(TaskKey(scope.tenant_id, task_id), all_attempts=all_attempts)
        if found is None or not scope.covers(found.task):
            raise Rejection("NOT_FOUND", "No such task.")
        if found.task.deleted_at is not None:
            raise Rejection("TASK_DELETED", "The task was deleted.")
        await self._rulebook.load((found.task,))
        return found

    def snapshot(self, found: Snapshot) -> TaskSnapshot:
        """A snapshot that `detail` or `newer` read, on the wire: all that an authorised viewer of the task may see."""
        now = self._clock.now()
        rules = self._rulebook.of(found.task)
        return TaskSnapshot(
            task_view(found.task, now, rules, projection="TASK_DETAIL"),
            tuple(step_view(step, now, rules) for step in found.steps),
            found.epoch,
            cursor(found.epoch, found.cursor),
        )

    async def page(self, scope: Scope, filters: Filters, after: str | None, limit: int) -> TaskList:
        """One page, newest created first. Later pages keep the first page's stream cursor."""
        before, first = _page_cursor(after)
        page = await self._reading.page(scope, filters, before, limit)
        start = first if first is not None else cursor(page.epoch, page.cursor)
        if first is not None and first.partition(":")[0] != page.epoch:
            raise Rejection("CURSOR_EXPIRED", "The database has begun another epoch; read the list from its start.")
        await self._rulebook.load(page.tasks)
        now = self._clock.now()
        items = tuple(self._summary(scope, found, now) for found in page.tasks)
        return TaskList(items, _next(page, start), instant(now), page.epoch, start)

    async def changes(self, scope: Scope, after: str, limit: int) -> TaskChanges:
        """What changed after a cursor. Raises `Rejection` CURSOR_EXPIRED outside the window or in another epoch."""
        place = parse_cursor(after)
        if place is None:
            raise Rejection.at("/query/changedAfter", "FIELD_INVALID", "A cursor has the form epoch:position.")
        epoch, position = place
        found = await self._reading.changes(scope, position, limit)
        if found.epoch != epoch or not found.floor <= position <= found.top:
            raise Rejection("CURSOR_EXPIRED", "This cursor can no longer be answered; read the list from its start.")
        await self._rulebook.load(found.tasks)
        now = self._clock.now()
        items = tuple(self._summary(scope, task, now) for task in found.tasks)
        more = len(found.tasks) + len(found.removed) >= limit
        return TaskChanges(items, found.removed, cursor(epoch, found.next), more, instant(now), epoch)

    async def newer(
        self, scope: Scope, task_ids: Sequence[str], known: Mapping[str, str], epoch: str | None, *, detail: bool
    ) -> StatusBatch:
        """Tasks that are newer than what the asker knows in this epoch, and those that are gone for them."""
        found = await self._reading.snapshots(scope.tenant_id, task_ids, steps=detail)
        seen = {task_id: item for task_id, item in found.items() if _visible(scope, item)}
        await self._rulebook.load(item.task for item in seen.values())
        now = self._clock.now()
        here = next(iter(found.values())).epoch if found else await self._storage.epoch()
        versions: Mapping[str, str] = known if epoch == here else {}
        newer = [item for task_id, item in seen.items() if item.task.version > int(versions.get(task_id, 0))]
        return StatusBatch(
            items=() if detail else tuple(self._summary(scope, item.task, now) for item in newer),
            details=tuple(self.snapshot(item) for item in newer) if detail else (),
            gone=tuple(task_id for task_id in dict.fromkeys(task_ids) if task_id not in seen),
            as_of=instant(now),
            epoch=here,
        )

    async def timeline(self, scope: Scope, task_id: str, after: int, limit: int) -> TimelinePage:
        """Events with a version above `after`. Raises `Rejection` CURSOR_EXPIRED where some of them are gone."""
        found = await self.detail(scope, task_id)
        line = await self._reading.timeline(found.task.key, after, limit)
        if line.oldest is not None and line.oldest > after + 1 and line.oldest > 1:
            raise Rejection("CURSOR_EXPIRED", f"Events before version {line.oldest} are no longer kept.")
        rules = self._rulebook.of(found.task)
        items = tuple(timeline_item(event, rules) for event in line.events)
        more = len(items) == limit
        return TimelinePage(items, str(line.events[-1].task_version) if more else None)

    def _summary(self, scope: Scope, task: Task, now: int) -> TaskView:
        return task_view(task, now, self._rulebook.of(task), projection=projection_for(scope, task.owner_id))


def _visible(scope: Scope, found: Snapshot) -> bool:
    return scope.covers(found.task) and found.task.deleted_at is None


def _page_cursor(after: str | None) -> tuple[tuple[int, str] | None, str | None]:
    if after is None:
        return None, None
    parts = after.split("|")
    if len(parts) != 3 or not _COUNTED.fullmatch(parts[0]) or not is_id(parts[1]) or parse_cursor(parts[2]) is None:
        raise Rejection.at("/query/cursor", "FIELD_INVALID", "Not a cursor of this list.")
    return (int(parts[0]), parts[1]), parts[2]


def _next(page: Page, start: str) -> str | None:
    if not page.more:
        return None
    last = page.tasks[-1]
    return f"{last.created_at}|{last.task_id}|{start}"


def projection_for(scope: Scope, owner_id: str) -> Projection:
    """The widest projection a person is due in a list: in full if own or administrator, else a project's."""
    return "USER_SUMMARY" if scope.everything or owner_id == scope.user_id else "PROJECT_BROADCAST"

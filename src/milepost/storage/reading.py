"""What viewers read, on every database: epoch and cursor first, then versions, then content, in one view."""

from collections.abc import Sequence
from typing import Any

from milepost.domain.events import Event, Evidence
from milepost.domain.state import Step, Task, TaskKey
from milepost.ports.reading import Changes, Filters, Page, PendingStep, Scope, Snapshot, Timeline
from milepost.ports.storage import CommandResult, ResultKey
from milepost.ports.stream import Logged
from milepost.storage import queries
from milepost.storage.rows import EVENT, EVIDENCE, RESULT, STEP, TASK, folded
from milepost.storage.session import Database, Session
from milepost.storage.stream_log import merged

KEYS = 64
"""The most keys one statement asks for."""

SCAN = 20_000
"""The most stream entries one call of `changes` looks at."""


class SqlReading:
    """The port's reading, each call in one view."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def snapshot(self, key: TaskKey, *, all_attempts: bool = False) -> Snapshot | None:
        """One task with its steps."""

        async def work(session: Session) -> Snapshot | None:
            found = await _snapshots(session, key.tenant_id, (key.task_id,), steps=True, every=all_attempts)
            return found.get(key.task_id)

        return await self._database.read(work)

    async def snapshots(self, tenant_id: str, task_ids: Sequence[str], *, steps: bool) -> dict[str, Snapshot]:
        """The current state of some tasks."""
        ids = sorted(set(task_ids))
        return await self._database.read(lambda session: _snapshots(session, tenant_id, ids, steps=steps, every=False))

    async def page(self, scope: Scope, filters: Filters, before: tuple[int, str] | None, limit: int) -> Page:
        """The page after the last task seen."""
        return await self._database.read(lambda session: _page(session, scope, filters, before, limit))

    async def changes(self, scope: Scope, after: int, limit: int) -> Changes:
        """What changed after a position."""
        return await self._database.read(lambda session: _changes(session, scope, after, limit))

    async def timeline(self, key: TaskKey, after_version: int, limit: int) -> Timeline:
        """Events of one task by ascending version."""
        values = {"tenant": key.tenant_id, "task": key.task_id, "after": after_version, "limit": limit}

        async def work(session: Session) -> Timeline:
            oldest = await session.rows(queries.OLDEST, values)
            rows = await session.rows(queries.TIMELINE, values)
            return Timeline(tuple(EVENT.value(row) for row in rows), oldest[0][0] if oldest else None)

        return await self._database.read(work)

    async def events_at(self, keys: Sequence[tuple[TaskKey, int]]) -> dict[tuple[TaskKey, int], Event]:
        """Events by the version they made."""

        async def work(session: Session) -> dict[tuple[TaskKey, int], Event]:
            found: dict[tuple[TaskKey, int], Event] = {}
            for piece in queries.pieces(sorted(set(keys)), KEYS):
                values = queries.listed("tenant", [key.tenant_id for key, _ in piece])
                values |= queries.listed("task", [key.task_id for key, _ in piece])
                values |= queries.listed("version", [version for _, version in piece])
                rows = await session.rows(queries.events_at(queries.padded(len(piece))), values)
                events = [EVENT.value(row) for row in rows]
                found |= {(TaskKey(one.tenant_id, one.task_id), one.task_version): one for one in events}
            return found

        return await self._database.read(work)

    async def evidence(self, key: TaskKey, limit: int) -> tuple[Evidence, ...]:
        """What changed nothing, newest first."""
        values = {"tenant": key.tenant_id, "task": key.task_id, "limit": limit}
        rows = await self._database.read(lambda session: session.rows(queries.EVIDENCE_OF_TASK, values))
        return tuple(EVIDENCE.value(row) for row in rows)

    async def result(self, key: ResultKey) -> CommandResult | None:
        """The remembered result of a command."""
        values = {"tenant": key.tenant_id, "credential": key.credential_id, "key": key.idempotency_key}
        rows = await self._database.read(lambda session: session.rows(queries.RESULT_BY_KEY, values))
        return RESULT.value(rows[0]) if rows else None

    async def pending(self, since: int, limit: int) -> tuple[PendingStep, ...]:
        """Steps whose merged progress waits, longest first."""
        values = {"since": since, "limit": limit}
        rows = await self._database.read(lambda session: session.rows(queries.PENDING, values))
        return tuple(PendingStep(TaskKey(tenant, task), step) for tenant, task, step in rows)


async def cursor_of(session: Session, tenant_id: str) -> tuple[str, int, int]:
    """The epoch, and the top and floor of a tenant's stream: read before what they are told with."""
    ((epoch,),) = await session.rows(queries.EPOCH, {})
    rows = await session.rows(queries.TOP, {"tenant": tenant_id})
    top, floor = rows[0] if rows else (0, 0)
    return epoch, top, floor


async def _tasks(session: Session, tenant_id: str, ids: Sequence[str]) -> dict[str, Task]:
    found: dict[str, Task] = {}
    for piece in queries.pieces(ids, KEYS):
        values = {"tenant": tenant_id, **queries.listed("id", piece)}
        for row in await session.rows(queries.tasks_by_id(queries.padded(len(piece))), values):
            task = TASK.value(row)
            found[task.task_id] = task
    return found


async def _steps(session: Session, tenant_id: str, ids: Sequence[str], *, every: bool) -> dict[str, list[Step]]:
    found: dict[str, list[Step]] = {}
    for piece in queries.pieces(ids, KEYS):
        values = {"tenant": tenant_id, **queries.listed("id", piece)}
        for row in await session.rows(queries.steps_of(queries.padded(len(piece)), every=every), values):
            step = STEP.value(row)
            found.setdefault(step.task_id, []).append(step)
    for steps in found.values():
        steps.sort(key=lambda step: (step.ordinal, step.step_id, -step.attempt))
    return found


async def _snapshots(
    session: Session, tenant_id: str, ids: Sequence[str], *, steps: bool, every: bool
) -> dict[str, Snapshot]:
    epoch, top, _ = await cursor_of(session, tenant_id)
    tasks = await _tasks(session, tenant_id, ids)
    parts = await _steps(session, tenant_id, list(tasks), every=every) if steps else {}
    return {key: Snapshot(task, tuple(parts.get(key, ())), epoch, top) for key, task in tasks.items()}


async def _page(session: Session, scope: Scope, filters: Filters, before: tuple[int, str] | None, limit: int) -> Page:
    epoch, top, _ = await cursor_of(session, scope.tenant_id)
    values: dict[str, Any] = {"tenant": scope.tenant_id, "user": scope.user_id, "limit": limit + 1}
    given = {name: value for name, value in _given(filters).items() if value is not None}
    names = set(given)
    values |= given
    if before is None:
        names.add("listed")
    else:
        names.add("before")
        values |= {"before_at": before[0], "before_id": before[1]}
    keys: set[tuple[int, str]] = set()
    for branches, bound in _branches(scope, filters):
        rows = await session.rows(queries.page(branches, frozenset(names)), values | bound)
        keys |= {(listed_at, task_id) for listed_at, task_id in rows}
    newest = [task_id for _, task_id in sorted(keys, reverse=True)[: limit + 1]]
    tasks = await _tasks(session, scope.tenant_id, newest[:limit])
    return Page(tuple(tasks[task_id] for task_id in newest[:limit]), len(newest) > limit, epoch, top)


def _given(filters: Filters) -> dict[str, Any]:
    return {
        "lifecycle": filters.lifecycle,
        "task_type": filters.task_type,
        "project_id": filters.project_id,
        "text": _pattern(filters.text) if filters.text else None,
        "updated_after": filters.updated_after,
    }


def _pattern(text: str) -> str:
    escaped = folded(text).replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{escaped}%"


def _branches(scope: Scope, filters: Filters) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    # Inside one project its own index gives the order, and a member may see all of it.
    if scope.everything or (filters.project_id is not None and filters.project_id in scope.project_ids):
        return [(("all",), {})]
    if filters.project_id is not None or not scope.project_ids:
        return [(("user",), {})]
    return queries.branched(sorted(scope.project_ids), "user")


async def _changes(session: Session, scope: Scope, after: int, limit: int) -> Changes:
    epoch, top, floor = await cursor_of(session, scope.tenant_id)
    tasks: list[Task] = []
    seen = 0
    place = after
    while place < top and len(tasks) < limit and seen < SCAN:
        logged = await merged(session, scope.tenant_id, place, top, queries.CHUNK, scope)
        place = top if len(logged) < queries.CHUNK else logged[-1].position
        seen += len(logged)
        tasks += await _newest(session, scope.tenant_id, logged)
    if len(tasks) > limit:
        tasks = tasks[:limit]
        place = tasks[-1].last_position
    kept = tuple(task for task in tasks if task.deleted_at is None)
    removed = tuple(task.task_id for task in tasks if task.deleted_at is not None)
    return Changes(kept, removed, max(place, after), epoch, floor, top)


async def _newest(session: Session, tenant_id: str, logged: Sequence[Logged]) -> list[Task]:
    """The tasks among these entries that have no newer entry, by ascending position."""
    places = {one.entry.task_id: one.position for one in logged if one.entry.task_id is not None}
    tasks = await _tasks(session, tenant_id, sorted(places))
    newest = [task for task in tasks.values() if task.last_position == places[task.task_id]]
    return sorted(newest, key=lambda task: task.last_position)

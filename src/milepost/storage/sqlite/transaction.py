"""One writing transaction on SQLite. It holds the only write lock, so phase 1 is already done when it begins."""

import sqlite3
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from milepost.domain.events import StreamEntry
from milepost.domain.notices import Notification
from milepost.domain.state import Step, Task, TaskKey, TaskState
from milepost.ports.notices import ReadMark
from milepost.ports.storage import (
    CommandResult,
    EventKey,
    Known,
    Remembered,
    ResultKey,
    SeqKey,
    StepKey,
    UnknownTenant,
    Wanted,
    Writes,
)
from milepost.storage import members, notices
from milepost.storage.rows import (
    EVENT,
    EVIDENCE,
    NOTIFICATION,
    REMEMBERED,
    RESULT,
    STEP,
    TASK,
    Row,
    audit_row,
    entry_row,
)
from milepost.storage.sqlite import hot
from milepost.storage.sqlite.session import SqliteSession


class SqliteTransaction:
    """The port's transaction; its methods never suspend."""

    def __init__(self, connection: sqlite3.Connection, now: Callable[[], int]) -> None:
        self._connection = connection
        self._now = now
        self.numbered = False
        self.epoch: str | None = None

    async def lock(self, keys: Sequence[TaskKey]) -> dict[TaskKey, TaskState]:
        """The tasks and their current steps."""
        return self._states(keys)

    async def look(self, keys: Sequence[TaskKey]) -> dict[TaskKey, TaskState]:
        """The same: nobody else writes while this transaction is open."""
        return self._states(keys)

    async def read(self, wanted: Wanted) -> Known:
        """All that a decision depends on besides the rows."""
        (epoch,) = self._connection.execute(hot.EPOCH).fetchone()
        self.epoch = epoch
        return Known(
            self._now(),
            epoch,
            self._answers(wanted.events),
            self._owners(wanted.sequences),
            self._results(wanted.results),
            self._definitions(wanted.definitions),
        )

    async def write(self, writes: Writes) -> dict[str, int]:
        """Writes everything; the first new position of each tenant."""
        connection = self._connection
        first = self._number(writes.entries)
        placed, newest, versions = _place(writes.entries, first)
        hot.put(connection, hot.INSERT_TASK, [TASK.row(_moved(task, newest)) for task in writes.new_tasks])
        hot.put(connection, hot.UPDATE_TASK, [TASK.row(_moved(task, newest)) for task in writes.tasks])
        for task in writes.tasks:
            if task.deleted_at is not None:
                connection.execute(hot.UNLIST_TASK, task.key)
        hot.put(connection, hot.INSERT_STEP, [STEP.row(step) for step in writes.new_steps])
        hot.put(connection, hot.UPDATE_STEP, [STEP.row(step) for step in writes.steps])
        hot.put(connection, hot.INSERT_EVENT, [EVENT.row(event) for event in writes.events])
        hot.put(connection, hot.INSERT_EVIDENCE, [EVIDENCE.row(evidence) for evidence in writes.evidence])
        answers = sorted(writes.answers, key=lambda answer: (answer.tenant_id, answer.event_id))
        hot.put(connection, hot.INSERT_ANSWER, [REMEMBERED.row(answer) for answer in answers])
        hot.put(connection, hot.INSERT_RESULT, [RESULT.row(result) for result in writes.results])
        hot.put(connection, hot.INSERT_AUDIT, [audit_row(entry) for entry in writes.audits])
        hot.put(
            connection, hot.INSERT_NOTIFICATION, [NOTIFICATION.row(_at(one, versions)) for one in writes.notifications]
        )
        hot.put(connection, hot.INSERT_ENTRY, placed)
        await self._write_seldom(writes)
        return first

    async def _write_seldom(self, writes: Writes) -> None:
        session = SqliteSession(self._connection)
        for membership in writes.memberships:
            await members.change(session, membership)
        for broadcast in writes.broadcasts:
            await notices.announce(session, broadcast)

    async def members(self, tenant_id: str, project_id: str) -> frozenset[str] | None:
        """A project's members, if they are kept here."""
        return await members.members(SqliteSession(self._connection), tenant_id, project_id)

    async def claimants(self, tenant_id: str, project_id: str, now: int) -> frozenset[str]:
        """Whose sessions claim a project."""
        return await members.claimants(SqliteSession(self._connection), tenant_id, project_id, now)

    async def mark_read(self, mark: ReadMark) -> int:
        """Marks what is unread."""
        return await notices.mark_read(SqliteSession(self._connection), mark)

    async def forget_results(self, tenant_id: str, before: int) -> None:
        """Forgets old results of commands about no task."""
        await notices.forget_results(SqliteSession(self._connection), tenant_id, before)

    async def touch(self, steps: Sequence[StepKey], now: int) -> None:
        """Records a sign of life of attempts that have not ended."""
        for piece in hot.cut(sorted(set(steps))):
            self._connection.execute(hot.TOUCH(len(piece)), [now, *hot.flat(piece)])

    def _states(self, keys: Sequence[TaskKey]) -> dict[TaskKey, TaskState]:
        wanted = sorted(set(keys))
        steps: dict[TaskKey, dict[str, Step]] = {}
        for row in hot.find(self._connection, hot.FIND_STEPS, wanted):
            step = STEP.value(row)
            steps.setdefault(TaskKey(step.tenant_id, step.task_id), {})[step.step_id] = step
        tasks = [TASK.value(row) for row in hot.find(self._connection, hot.FIND_TASKS, wanted)]
        return {task.key: TaskState(task, steps.get(task.key, {})) for task in tasks}

    def _answers(self, keys: Sequence[EventKey]) -> dict[EventKey, Remembered]:
        found = [REMEMBERED.value(row) for row in hot.find(self._connection, hot.FIND_ANSWERS, sorted(set(keys)))]
        return {EventKey(answer.tenant_id, answer.event_id): answer for answer in found}

    def _results(self, keys: Sequence[ResultKey]) -> dict[ResultKey, CommandResult]:
        found = [RESULT.value(row) for row in hot.find(self._connection, hot.FIND_RESULTS, sorted(set(keys)))]
        return {ResultKey(result.tenant_id, result.credential_id, result.idempotency_key): result for result in found}

    def _definitions(self, ids: Sequence[str]) -> dict[str, bytes]:
        rows = hot.find(self._connection, hot.FIND_DOCUMENTS, [(one,) for one in sorted(set(ids))])
        return {definition_id: document.encode() for definition_id, document in rows}

    def _owners(self, keys: Sequence[SeqKey]) -> dict[SeqKey, str]:
        of_steps = [key for key in keys if key.step_id is not None]
        of_tasks = [key for key in keys if key.step_id is None]
        rows: list[Row] = hot.find(self._connection, hot.FIND_STEP_SEQS, of_steps)
        rows += hot.find(self._connection, hot.FIND_TASK_SEQS, of_tasks)
        return {SeqKey(*row[:6]): row[6] for row in rows}

    def _number(self, entries: Sequence[StreamEntry]) -> dict[str, int]:
        counts: dict[str, int] = {}
        for entry in entries:
            counts[entry.tenant_id] = counts.get(entry.tenant_id, 0) + 1
        first: dict[str, int] = {}
        for tenant_id in sorted(counts):
            row = self._connection.execute(hot.NUMBER, (counts[tenant_id], tenant_id)).fetchall()
            if not row:
                raise UnknownTenant(tenant_id)
            first[tenant_id] = row[0][0] - counts[tenant_id] + 1
        self.numbered = self.numbered or bool(first)
        return first


def _place(
    entries: Sequence[StreamEntry], first: dict[str, int]
) -> tuple[list[Row], dict[TaskKey, int], dict[tuple[TaskKey, int], int]]:
    """The rows of entries, the newest position of each task, and that of each version."""
    following = dict(first)
    rows: list[Row] = []
    newest: dict[TaskKey, int] = {}
    versions: dict[tuple[TaskKey, int], int] = {}
    for entry in entries:
        position = following[entry.tenant_id]
        following[entry.tenant_id] = position + 1
        rows.append(entry_row(entry, position))
        if entry.task_id is not None:
            key = TaskKey(entry.tenant_id, entry.task_id)
            newest[key] = position
            versions[key, entry.task_version or 0] = position
    return rows, newest, versions


def _at(kept: Notification, versions: dict[tuple[TaskKey, int], int]) -> Notification:
    return replace(kept, position=versions[TaskKey(kept.tenant_id, kept.task_id), kept.task_version])


def _moved(task: Task, newest: dict[TaskKey, int]) -> Task:
    position = newest.get(task.key)
    return task if position is None else replace(task, last_position=position)

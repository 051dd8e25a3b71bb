"""Who is due to be looked at, and when the service listened, on every database."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BindParameter, bindparam, func, insert, null, select, tuple_, update

from milepost.clock import Clock
from milepost.domain.listening import GAP_MS, Listening, Span
from milepost.domain.state import Task
from milepost.ports.storage import StepKey
from milepost.ports.watching import Hearing, Place, Watched
from milepost.storage.rows import STEP, TASK, Row
from milepost.storage.session import Database, Session
from milepost.storage.tables import task, task_step
from milepost.storage.turn_tables import ingest_liveness

_NOW: BindParameter[Any] = bindparam("now")
_LIMIT: BindParameter[Any] = bindparam("limit")
_PROCESS: BindParameter[Any] = bindparam("process")
_SINCE: BindParameter[Any] = bindparam("since")

_STEP_COLUMNS = [task_step.c[name] for name in STEP.columns[: STEP.width]]
_TASK_COLUMNS = [task.c[name] for name in TASK.columns[: TASK.width]]
_OF_TASK = (task.c.tenant_id == task_step.c.tenant_id) & (task.c.task_id == task_step.c.task_id)
_WALK = tuple_(
    task_step.c.look_at, task_step.c.tenant_id, task_step.c.task_id, task_step.c.step_id, task_step.c.attempt
)
_PLACE: list[BindParameter[Any]] = [bindparam(f"after{index}") for index in range(5)]
_BEHIND = tuple_(*_PLACE)

# An outer join, so that the walk begins with the steps that are due and not with all tasks there are.
DUE = (
    select(task_step.c.look_at, *_STEP_COLUMNS, *_TASK_COLUMNS)
    .select_from(task_step.outerjoin(task, _OF_TASK))
    .where(task_step.c.look_at <= _NOW, _WALK > _BEHIND)
    .order_by(*_WALK.clauses)
    .limit(_LIMIT)
)
WATCHED = select(func.count()).select_from(task_step).where(task_step.c.look_at.is_not(None))
UNWATCH = (
    update(task_step)
    .values(look_at=null())
    .where(
        task_step.c.tenant_id == bindparam("tenant"),
        task_step.c.task_id == bindparam("task"),
        task_step.c.step_id == bindparam("step"),
        task_step.c.attempt == bindparam("number"),
    )
)
UNANSWERED = select(*_TASK_COLUMNS).where(task.c.cancel_due_at <= _NOW).order_by(task.c.cancel_due_at).limit(_LIMIT)

SPANS = select(ingest_liveness.c.since_at, ingest_liveness.c.until_at)
PROLONG = (
    update(ingest_liveness)
    .values(until_at=_NOW)
    .where(
        ingest_liveness.c.process_id == _PROCESS,
        ingest_liveness.c.since_at == _SINCE,
        ingest_liveness.c.until_at >= bindparam("oldest"),
    )
)
BEGIN = insert(ingest_liveness).values(process_id=_PROCESS, since_at=_NOW, until_at=_NOW)

_START = Place(-1, StepKey("", "", "", 0))


class SqlWatching:
    """The port's watching."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def due(self, now: int, after: Place | None, limit: int) -> tuple[Watched, ...]:
        """Running steps whose health may change."""
        look_at, key = after or _START
        behind = {f"after{index}": value for index, value in enumerate((look_at, *key))}
        values = {"now": now, "limit": limit, **behind}
        rows = await self._database.read(lambda session: session.rows(DUE, values))
        return tuple(_watched(row) for row in rows)

    async def watched(self) -> int:
        """How many steps are watched."""
        ((count,),) = await self._database.read(lambda session: session.rows(WATCHED, {}))
        return count

    async def unwatch(self, steps: Sequence[StepKey]) -> None:
        """Takes steps out of the walk."""

        async def work(session: Session) -> None:
            for tenant, task_id, step_id, attempt in sorted(steps):
                await session.run(UNWATCH, {"tenant": tenant, "task": task_id, "step": step_id, "number": attempt})

        if steps:
            await self._database.write(work)

    async def unanswered(self, now: int, limit: int) -> tuple[Task, ...]:
        """Tasks whose request to cancel waits for too long."""
        values = {"now": now, "limit": limit}
        rows = await self._database.read(lambda session: session.rows(UNANSWERED, values))
        return tuple(TASK.value(row) for row in rows)


class SqlLiveness:
    """The port's liveness; `clock` is the database's."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def stamp(self, process_id: str, since: int | None) -> int:
        """Prolongs this process's span, or begins one."""

        async def work(session: Session) -> int:
            now = self._clock.now()
            values = {"process": process_id, "since": since, "now": now, "oldest": now - GAP_MS}
            if since is not None and await session.run(PROLONG, values) == 1:
                return since
            await session.run(BEGIN, values)
            return now

        return await self._database.write(work)

    async def hearing(self) -> Hearing:
        """All spans, joined."""
        rows = await self._database.read(lambda session: session.rows(SPANS, {}))
        return Hearing(self._clock.now(), Listening.of(Span(since, until) for since, until in rows))


def _watched(row: Row) -> Watched:
    step = STEP.value(row[1 : 1 + STEP.width])
    key = StepKey(step.tenant_id, step.task_id, step.step_id, step.attempt)
    return Watched(Place(row[0], key), step, TASK.value(row[1 + STEP.width :]))

"""Removes what is no longer needed, on every database. Each method is one small transaction."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct
from sqlalchemy import BindParameter, ColumnElement, Delete, Select, Table, bindparam, delete, select, tuple_, update

from milepost.domain.state import Task
from milepost.ports.retention import AnswerPlace, Swept
from milepost.storage import queries
from milepost.storage.rows import TASK
from milepost.storage.session import Database, Session
from milepost.storage.tables import (
    stream,
    stream_log,
    task_event_dedup,
    used_once,
    user_session,
)
from milepost.storage.turn_tables import ingest_liveness

_TENANT: BindParameter[Any] = bindparam("tenant")
_BEFORE: BindParameter[Any] = bindparam("before")
_LIMIT: BindParameter[Any] = bindparam("limit")

OLDEST = (
    select(stream_log.c.position, stream_log.c.committed_at)
    .where(stream_log.c.tenant_id == _TENANT)
    .order_by(stream_log.c.position)
    .limit(_LIMIT)
)
TRIM = delete(stream_log).where(stream_log.c.tenant_id == _TENANT, stream_log.c.position <= bindparam("upto"))
RAISE_FLOOR = update(stream).values(floor=bindparam("upto")).where(stream.c.tenant_id == _TENANT)

_AGE = tuple_(task_event_dedup.c.created_at, task_event_dedup.c.tenant_id, task_event_dedup.c.event_id)
_PLACE: list[BindParameter[Any]] = [bindparam(f"after{index}") for index in range(3)]
_BEHIND = tuple_(*_PLACE)
ANSWERS = (
    select(*_AGE.clauses, task_event_dedup.c.answer)
    .where(task_event_dedup.c.created_at <= _BEFORE, _AGE > _BEHIND)
    .order_by(*_AGE.clauses)
    .limit(_LIMIT)
)
FORGET = delete(task_event_dedup).where(
    task_event_dedup.c.tenant_id == _TENANT, task_event_dedup.c.event_id == bindparam("event")
)


class Expired(NamedTuple):
    """How expired rows of a table are found and then removed, each by its key: no database scans for that."""

    find: Select[*tuple[Any, ...]]
    drop: Delete

    @classmethod
    def of(cls, table: Table, moment: ColumnElement[Any]) -> "Expired":
        """Rows whose moment has passed, the oldest first."""
        keys = list(table.primary_key)
        find = select(*keys).where(moment < _BEFORE).order_by(moment).limit(_LIMIT)
        mine = [key == bindparam(f"key{index}") for index, key in enumerate(keys)]
        return cls(find, delete(table).where(*mine))


CODES = Expired.of(used_once, used_once.c.expires_at)
SESSIONS = Expired.of(user_session, user_session.c.expires_at)
SPANS = Expired.of(ingest_liveness, ingest_liveness.c.until_at)


class _Answered(Struct, rename="camel"):
    task_id: str | None = None


_answered: Final = msgspec.json.Decoder(_Answered)


class SqlRetention:
    """The port's retention."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def trim_stream(self, tenant_id: str, before: int, limit: int) -> int:
        """Removes a tenant's oldest entries and raises the floor with them."""
        values = {"tenant": tenant_id, "limit": limit}

        async def work(session: Session) -> int:
            upto, count = 0, 0
            for position, committed_at in await session.rows(OLDEST, values):
                if committed_at >= before:
                    break
                upto, count = position, count + 1
            if count:
                # The stream row last: nothing that can wait for another transaction may follow it.
                await session.run(TRIM, {"tenant": tenant_id, "upto": upto})
                await session.run(RAISE_FLOOR, {"tenant": tenant_id, "upto": upto})
            return count

        return await self._database.write(work)

    async def forget_answers(self, after: AnswerPlace | None, before: int, limit: int) -> Swept:
        """Removes old answers of tasks that ended long ago."""
        place = after or AnswerPlace(-1, "", "")
        values = {"before": before, "limit": limit, **{f"after{index}": part for index, part in enumerate(place)}}

        async def looked(session: Session) -> tuple[list[AnswerPlace], AnswerPlace | None]:
            rows = await session.rows(ANSWERS, values)
            found = [(AnswerPlace(*row[:3]), _answered.decode(row[3]).task_id) for row in rows]
            tasks = await _tasks(session, {(place.tenant_id, task_id) for place, task_id in found})
            old = [place for place, task_id in found if _over(tasks.get((place.tenant_id, task_id or "")), before)]
            return old, found[-1][0] if len(found) == limit else None

        old, following = await self._database.read(looked)

        async def forgotten(session: Session) -> None:
            for one in sorted(old, key=lambda place: place[1:]):
                await session.run(FORGET, {"tenant": one.tenant_id, "event": one.event_id})

        if old:
            await self._database.write(forgotten)
        return Swept(len(old), following)

    async def drop_codes(self, before: int, limit: int) -> int:
        """Removes expired codes."""
        return await self._drop(CODES, before, limit)

    async def drop_sessions(self, before: int, limit: int) -> int:
        """Removes expired sessions."""
        return await self._drop(SESSIONS, before, limit)

    async def drop_spans(self, before: int, limit: int) -> int:
        """Removes old spans."""
        return await self._drop(SPANS, before, limit)

    async def _drop(self, expired: Expired, before: int, limit: int) -> int:
        async def work(session: Session) -> int:
            rows = await session.rows(expired.find, {"before": before, "limit": limit})
            for row in rows:
                await session.run(expired.drop, {f"key{index}": key for index, key in enumerate(row)})
            return len(rows)

        return await self._database.write(work)


async def _tasks(session: Session, keys: Iterable[tuple[str, str | None]]) -> dict[tuple[str, str], Task]:
    by_tenant: dict[str, list[str]] = {}
    for tenant_id, task_id in sorted((tenant_id, task_id) for tenant_id, task_id in keys if task_id is not None):
        by_tenant.setdefault(tenant_id, []).append(task_id)
    found: dict[tuple[str, str], Task] = {}
    for tenant_id, ids in by_tenant.items():
        for piece in queries.pieces(ids, 64):
            values = {"tenant": tenant_id, **queries.listed("id", piece)}
            for row in await session.rows(queries.tasks_by_id(queries.padded(len(piece))), values):
                task = TASK.value(row)
                found[task.tenant_id, task.task_id] = task
    return found


def _over(task: Task | None, before: int) -> bool:
    """Whether nothing can be decided by the answer any more; a task that was opened again is not over."""
    if task is None:
        return True
    # The end may have been reported long after it happened; it counts from its commit.
    return task.ended and max(task.finished_at or 0, task.updated_at) < before

"""What operators read and settle, on every database."""

from typing import Any

import msgspec
from sqlalchemy import BindParameter, Select, and_, bindparam, func, insert, literal_column, or_, select, update

from milepost.ports.access import AuditEntry
from milepost.ports.operating import Audited, Conflict, ConflictState, Figures, Resolution
from milepost.storage.rows import AUDITED, EVIDENCE, Row, audit_row
from milepost.storage.session import Database, Session
from milepost.storage.tables import audit_log, task, task_event_evidence

_EVIDENCE = task_event_evidence.c
_TENANT: BindParameter[Any] = bindparam("tenant")
_LIMIT: BindParameter[Any] = bindparam("limit")
_SETTLED = (_EVIDENCE.conflict, _EVIDENCE.resolved_at, _EVIDENCE.resolved_by, _EVIDENCE.note)
_CONFLICTS = select(*(_EVIDENCE[name] for name in EVIDENCE.columns[: EVIDENCE.width]), *_SETTLED).where(
    _EVIDENCE.tenant_id == _TENANT
)
_NEWEST = (_EVIDENCE.received_at.desc(), _EVIDENCE.event_id.desc())
_BEFORE = or_(
    _EVIDENCE.received_at < bindparam("at"),
    and_(_EVIDENCE.received_at == bindparam("at"), _EVIDENCE.event_id < bindparam("event")),
)


def _listed(*, state: bool, before: bool) -> Select[*tuple[Any, ...]]:
    found = _CONFLICTS.where(_EVIDENCE.conflict == bindparam("state") if state else _EVIDENCE.conflict.is_not(None))
    found = found.where(_BEFORE) if before else found
    return found.order_by(*_NEWEST).limit(_LIMIT)


LISTED = {(state, before): _listed(state=state, before=before) for state in (False, True) for before in (False, True)}
ONE = _CONFLICTS.where(_EVIDENCE.event_id == bindparam("event"), _EVIDENCE.conflict.is_not(None))
SETTLE = (
    update(task_event_evidence)
    .values(
        conflict=literal_column("'RESOLVED'"),
        resolved_at=bindparam("at"),
        resolved_by=bindparam("by"),
        note=bindparam("why"),
    )
    .where(
        _EVIDENCE.tenant_id == _TENANT,
        _EVIDENCE.event_id == bindparam("event"),
        _EVIDENCE.conflict == literal_column("'OPEN'"),
    )
)
ADD_AUDIT = insert(audit_log).values({name: bindparam(name) for name in AUDITED})
AUDIT = (
    select(audit_log.c.audit_id, *(audit_log.c[name] for name in AUDITED))
    .where(audit_log.c.tenant_id == _TENANT, audit_log.c.audit_id < bindparam("before"))
    .order_by(audit_log.c.audit_id.desc())
    .limit(_LIMIT)
)
COUNTS = (
    select(task.c.lifecycle, task.c.health, func.count())
    .where(task.c.tenant_id == _TENANT, task.c.listed_at.is_not(None))
    .group_by(task.c.lifecycle, task.c.health)
)
OPEN = select(func.count()).where(_EVIDENCE.tenant_id == _TENANT, _EVIDENCE.conflict == literal_column("'OPEN'"))
_UNFINISHED = ("PENDING", "RUNNING")
_LAST = 2**62


class SqlOperating:
    """The port's operating."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def conflicts(
        self, tenant_id: str, state: ConflictState | None, before: tuple[int, str] | None, limit: int
    ) -> tuple[Conflict, ...]:
        """Conflicts newest first."""
        values: dict[str, Any] = {"tenant": tenant_id, "limit": limit}
        if state is not None:
            values["state"] = state
        if before is not None:
            values |= {"at": before[0], "event": before[1]}
        statement = LISTED[state is not None, before is not None]
        rows = await self._database.read(lambda session: session.rows(statement, values))
        return tuple(map(_conflict, rows))

    async def resolve(self, resolution: Resolution) -> Conflict | None:
        """Settles an open conflict, once."""
        key = {"tenant": resolution.tenant_id, "event": resolution.event_id}
        said = {"at": resolution.at, "by": resolution.operator, "why": resolution.note}

        async def work(session: Session) -> Conflict | None:
            if await session.run(SETTLE, key | said):
                await session.run(ADD_AUDIT, dict(zip(AUDITED, audit_row(_audit(resolution)), strict=True)))
            rows = await session.rows(ONE, key)
            return _conflict(rows[0]) if rows else None

        return await self._database.write(work)

    async def audited(self, tenant_id: str, before: int | None, limit: int) -> tuple[Audited, ...]:
        """The audit log, newest first."""
        values = {"tenant": tenant_id, "before": _LAST if before is None else before, "limit": limit}
        rows = await self._database.read(lambda session: session.rows(AUDIT, values))
        return tuple(Audited(number, AuditEntry(*rest)) for number, *rest in rows)

    async def figures(self, tenant_id: str) -> Figures:
        """Counts as they are now, in one view."""
        values = {"tenant": tenant_id}

        async def work(session: Session) -> Figures:
            counts = await session.rows(COUNTS, values)
            ((conflicts,),) = await session.rows(OPEN, values)
            return Figures(*_counted(counts), conflicts)

        return await self._database.read(work)


def _conflict(row: Row) -> Conflict:
    return Conflict(EVIDENCE.value(row), *row[EVIDENCE.width :])


def _counted(rows: list[Row]) -> tuple[dict[str, int], dict[str, int]]:
    tasks: dict[str, int] = {}
    unfinished: dict[str, int] = {}
    for lifecycle, health, count in rows:
        tasks[lifecycle] = tasks.get(lifecycle, 0) + count
        if lifecycle in _UNFINISHED:
            unfinished[health] = unfinished.get(health, 0) + count
    return tasks, unfinished


def _audit(resolution: Resolution) -> AuditEntry:
    detail = msgspec.json.encode({"old": "OPEN", "new": "RESOLVED", "note": resolution.note}).decode()
    return AuditEntry(
        resolution.tenant_id, resolution.operator, "conflict.resolved", resolution.event_id, detail, resolution.at
    )

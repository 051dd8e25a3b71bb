"""The shared queries, one statement object for each shape, so that each is compiled once.

A list of keys is a row of bound values whose length is rounded up to a power of two, the rest repeating the last one:
few shapes, whatever the length.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import BindParameter, Select, and_, bindparam, literal_column, or_, select, union_all
from sqlalchemy.sql.elements import ColumnElement

from milepost.storage.rows import EVENT, EVIDENCE, RESULT, STEP, TASK, Shape
from milepost.storage.tables import (
    command_result,
    database_epoch,
    stream,
    stream_log,
    task,
    task_event_evidence,
    task_event_log,
    task_step,
)

BRANCHES = 32
"""The most projects one statement asks for; every project is a branch that follows an index of its own."""

CHUNK = 500
"""How many stream entries are looked at in one go."""

TENANT: BindParameter[Any] = bindparam("tenant")
LIMIT: BindParameter[Any] = bindparam("limit")
AFTER: BindParameter[Any] = bindparam("after")


def padded(size: int) -> int:
    """The number of bound values for a list of this length."""
    return 1 << max(0, size - 1).bit_length()


def listed(prefix: str, values: Sequence[Any]) -> dict[str, Any]:
    """Bound values for a list: the last one fills the places that are left."""
    width = padded(len(values))
    return {f"{prefix}{index}": values[min(index, len(values) - 1)] for index in range(width)}


def pieces(values: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """The values in pieces of at most this length."""
    return [values[start : start + size] for start in range(0, len(values), size)]


def branched(project_ids: Sequence[str], *first: str) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """Branches for some projects and what they bind, in groups one statement can hold; `first` go with the first."""
    groups = pieces(project_ids, BRANCHES) or [()]
    split: list[tuple[tuple[str, ...], dict[str, Any]]] = []
    for index, group in enumerate(groups):
        bound = listed("project", group) if group else {}
        split.append(((*(first if index == 0 else ()), *bound), bound))
    return split


def _own(shape: Shape[Any]) -> list[ColumnElement[Any]]:
    return [shape.table.c[name] for name in shape.columns[: shape.width]]


def places(prefix: str, width: int) -> list[Any]:
    """The places of a list of bound values."""
    return [bindparam(f"{prefix}{index}") for index in range(width)]


EPOCH = select(database_epoch.c.epoch)
TOP = select(stream.c.top, stream.c.floor).where(stream.c.tenant_id == TENANT)
RESULT_BY_KEY = select(*_own(RESULT)).where(
    command_result.c.tenant_id == TENANT,
    command_result.c.credential_id == bindparam("credential"),
    command_result.c.idempotency_key == bindparam("key"),
)
TIMELINE = (
    select(*_own(EVENT))
    .where(
        task_event_log.c.tenant_id == TENANT,
        task_event_log.c.task_id == bindparam("task"),
        task_event_log.c.task_version > AFTER,
    )
    .order_by(task_event_log.c.task_version)
    .limit(LIMIT)
)
OLDEST = (
    select(task_event_log.c.task_version)
    .where(task_event_log.c.tenant_id == TENANT, task_event_log.c.task_id == bindparam("task"))
    .order_by(task_event_log.c.task_version)
    .limit(literal_column("1"))
)
EVIDENCE_OF_TASK = (
    select(*_own(EVIDENCE))
    .where(task_event_evidence.c.tenant_id == TENANT, task_event_evidence.c.task_id == bindparam("task"))
    .order_by(task_event_evidence.c.received_at.desc())
    .limit(LIMIT)
)
PENDING = (
    select(task_step.c.tenant_id, task_step.c.task_id, task_step.c.step_id)
    .where(task_step.c.pending_since <= bindparam("since"))
    .order_by(task_step.c.pending_since)
    .limit(LIMIT)
)


@lru_cache
def tasks_by_id(width: int) -> Select[*tuple[Any, ...]]:
    """Tasks of one tenant by their ids."""
    return select(*_own(TASK)).where(task.c.tenant_id == TENANT, task.c.task_id.in_(places("id", width)))


@lru_cache
def steps_of(width: int, *, every: bool) -> Select[*tuple[Any, ...]]:
    """The steps of some tasks: all attempts, or the current ones."""
    found = select(*_own(STEP)).where(task_step.c.tenant_id == TENANT, task_step.c.task_id.in_(places("id", width)))
    return found if every else found.where(task_step.c.current == literal_column("1"))


@lru_cache
def events_at(width: int) -> Select[*tuple[Any, ...]]:
    """Events by tenant, task and version."""
    log = task_event_log.c
    keys = zip(places("tenant", width), places("task", width), places("version", width), strict=True)
    return select(*_own(EVENT)).where(
        or_(*(and_(log.tenant_id == a, log.task_id == b, log.task_version == c) for a, b, c in keys))
    )


@lru_cache
def windows(width: int) -> Select[*tuple[Any, ...]]:
    """The tops and floors of some tenants."""
    return select(stream.c.tenant_id, stream.c.top, stream.c.floor).where(stream.c.tenant_id.in_(places("id", width)))


@lru_cache
def entries(branches: tuple[str, ...]) -> Any:
    """Stream entries after one position up to another, as (tenant, position, …), each branch along its own index."""
    ordered = [_entries(branch) for branch in branches]
    if len(ordered) == 1:
        return ordered[0]
    inner = union_all(*(select(part.subquery()) for part in ordered)).subquery()
    return select(inner).order_by(inner.c.position).limit(LIMIT)


def _entries(branch: str) -> Select[*tuple[Any, ...]]:
    log = stream_log.c
    found = select(stream_log).where(log.tenant_id == TENANT, log.position > AFTER, log.position <= bindparam("upto"))
    mine = log.audience_user == bindparam("user")
    if branch == "user":
        found = found.where(mine)
    elif branch == "tenant":
        found = found.where(log.audience_user.is_(None), log.audience_project.is_(None))
    elif branch != "all":
        others = or_(log.audience_user.is_(None), log.audience_user != bindparam("user"))
        found = found.where(log.audience_project == bindparam(branch), others)
    return found.order_by(log.position).limit(LIMIT)


@lru_cache
def page(branches: tuple[str, ...], filters: frozenset[str]) -> Any:
    """Keys of a page as (listed_at, task id), newest first, each branch along its own index."""
    ordered = [_page(branch, filters) for branch in branches]
    if len(ordered) == 1:
        return ordered[0]
    inner = union_all(*(select(part.subquery()) for part in ordered)).subquery()
    return select(inner).order_by(inner.c.listed_at.desc(), inner.c.task_id.desc()).limit(LIMIT)


def _page(branch: str, filters: frozenset[str]) -> Select[*tuple[Any, ...]]:
    found = select(task.c.listed_at, task.c.task_id).where(task.c.tenant_id == TENANT, *_branch(branch))
    for name in sorted(filters):
        found = found.where(_FILTERS[name])
    return found.order_by(task.c.listed_at.desc(), task.c.task_id.desc()).limit(LIMIT)


def _branch(branch: str) -> list[ColumnElement[bool]]:
    if branch == "all":
        return []
    if branch == "user":
        return [task.c.owner_id == bindparam("user")]
    return [task.c.project_id == bindparam(branch), task.c.owner_id != bindparam("user")]


_BEFORE: BindParameter[Any] = bindparam("before_at")
_FILTERS: Mapping[str, ColumnElement[bool]] = {
    # The first comparison bounds the index, the second breaks ties inside one millisecond.
    "before": and_(
        task.c.listed_at <= _BEFORE,
        or_(task.c.listed_at < _BEFORE, task.c.task_id < bindparam("before_id")),
    ),
    "listed": task.c.listed_at.is_not(None),
    "lifecycle": task.c.lifecycle == bindparam("lifecycle"),
    "task_type": task.c.task_type == bindparam("task_type"),
    "project_id": task.c.project_id == bindparam("project_id"),
    "text": task.c.search.like(bindparam("text"), escape="!"),
    "updated_after": task.c.updated_at > bindparam("updated_after"),
}

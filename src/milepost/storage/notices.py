"""The notification centre, on every database."""

from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Select,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    select,
    update,
)

from milepost.domain.notices import NoticeType, Preferences
from milepost.ports.notices import Broadcast, NotificationPage, ReadMark
from milepost.storage import queries
from milepost.storage.notice_tables import notification, notification_preference, system_broadcast
from milepost.storage.reading import cursor_of
from milepost.storage.rows import BROADCAST, NOTIFICATION
from milepost.storage.session import Database, Session
from milepost.storage.tables import command_result

IDS = 64
"""The most notifications one statement marks by their ids."""

_USER: BindParameter[Any] = bindparam("user")
_NOW: BindParameter[Any] = bindparam("now")
_kept = notification.c
_MINE = (_kept.tenant_id == queries.TENANT, _kept.user_id == _USER)
_preferred = notification_preference.c
_THEIRS = (_preferred.tenant_id == queries.TENANT, _preferred.user_id == _USER)

PREFERENCES = select(_preferred.min_level, _preferred.muted).where(*_THEIRS)
FORGET_PREFERENCES = delete(notification_preference).where(*_THEIRS)
PREFER = insert(notification_preference).values(
    tenant_id=queries.TENANT,
    user_id=_USER,
    min_level=bindparam("least"),
    muted=bindparam("muted_types"),
    updated_at=_NOW,
)
IN_FORCE = (
    select(*[system_broadcast.c[name] for name in BROADCAST.columns])
    .where(system_broadcast.c.valid_until > _NOW)
    .order_by(system_broadcast.c.created_at, system_broadcast.c.broadcast_id)
)
ANNOUNCED = select(system_broadcast.c.broadcast_id).where(system_broadcast.c.broadcast_id == bindparam("id"))
ANNOUNCE = insert(system_broadcast)
FORGET_RESULTS = delete(command_result).where(
    command_result.c.tenant_id == queries.TENANT,
    command_result.c.task_id == literal_column("''"),
    command_result.c.created_at < bindparam("before"),
)
MARK_UP_TO = (
    update(notification)
    .values(read_at=_NOW)
    .where(*_MINE, _kept.read_at.is_(None), _kept.position <= bindparam("up_to"))
)


def _types(count: int) -> ColumnElement[bool]:
    return _kept.type.in_(queries.places("type", queries.padded(count)))


@lru_cache
def listed(types: int, *, unread: bool, below: bool) -> Select[*tuple[Any, ...]]:
    """A page of some types, newest first."""
    found = select(*[_kept[name] for name in NOTIFICATION.columns]).where(*_MINE, _types(types))
    if unread:
        found = found.where(_kept.read_at.is_(None))
    if below:
        found = found.where(_kept.position < bindparam("below"))
    return found.order_by(_kept.position.desc()).limit(queries.LIMIT)


@lru_cache
def counted(types: int) -> Select[*tuple[Any, ...]]:
    """How many of some types are unread."""
    return select(func.count()).where(*_MINE, _kept.read_at.is_(None), _types(types))


@lru_cache
def mark_named(width: int) -> Any:
    """Marks notifications by their ids."""
    return (
        update(notification)
        .values(read_at=_NOW)
        .where(*_MINE, _kept.read_at.is_(None), _kept.notice_id.in_(queries.places("id", width)))
    )


class SqlNotices:
    """The port's notification centre, each call in one view or transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, tenant_id: str, user_id: str, *, unread: bool, before: int | None, limit: int
    ) -> NotificationPage:
        """A page as the user's preferences filter it."""
        values = {"tenant": tenant_id, "user": user_id, "limit": limit + 1, "below": before}

        async def work(session: Session) -> NotificationPage:
            epoch, top, _ = await cursor_of(session, tenant_id)
            types = (await _preferences(session, tenant_id, user_id)).types
            if not types:
                return NotificationPage((), False, 0, epoch, top)
            values.update(queries.listed("type", types))
            ((count,),) = await session.rows(counted(len(types)), values)
            rows = await session.rows(listed(len(types), unread=unread, below=before is not None), values)
            items = tuple(NOTIFICATION.value(row) for row in rows[:limit])
            return NotificationPage(items, len(rows) > limit, count, epoch, top)

        return await self._database.read(work)

    async def preferences(self, tenant_id: str, user_id: str) -> Preferences:
        """What a user wants to be told of."""
        return await self._database.read(lambda session: _preferences(session, tenant_id, user_id))

    async def prefer(self, tenant_id: str, user_id: str, preferences: Preferences, now: int) -> None:
        """Replaces a user's preferences."""
        muted = msgspec.json.encode(sorted(preferences.muted)).decode()
        values = {
            "tenant": tenant_id,
            "user": user_id,
            "now": now,
            "least": preferences.min_level,
            "muted_types": muted,
        }

        async def work(session: Session) -> None:
            await session.run(FORGET_PREFERENCES, values)
            await session.run(PREFER, values)

        await self._database.write(work)

    async def in_force(self, now: int) -> tuple[Broadcast, ...]:
        """What everyone online is told now."""
        rows = await self._database.read(lambda session: session.rows(IN_FORCE, {"now": now}))
        return tuple(BROADCAST.value(row) for row in rows)


async def announce(session: Session, broadcast: Broadcast) -> None:
    """Keeps a broadcast to everyone; one whose id is there already says nothing new."""
    if not await session.rows(ANNOUNCED, {"id": broadcast.broadcast_id}):
        await session.run(ANNOUNCE, dict(zip(BROADCAST.columns, BROADCAST.row(broadcast), strict=True)))


async def forget_results(session: Session, tenant_id: str, before: int) -> None:
    """Forgets results of commands about no task that are older than this."""
    await session.run(FORGET_RESULTS, {"tenant": tenant_id, "before": before})


async def mark_read(session: Session, mark: ReadMark) -> int:
    """Marks what is unread; how many that were."""
    values: dict[str, Any] = {"tenant": mark.tenant_id, "user": mark.user_id, "now": mark.at}
    if mark.up_to is not None:
        return await session.run(MARK_UP_TO, values | {"up_to": mark.up_to})
    marked = 0
    for piece in queries.pieces(sorted(set(mark.ids)), IDS):
        marked += await session.run(mark_named(queries.padded(len(piece))), values | queries.listed("id", piece))
    return marked


async def _preferences(session: Session, tenant_id: str, user_id: str) -> Preferences:
    rows = await session.rows(PREFERENCES, {"tenant": tenant_id, "user": user_id})
    if not rows:
        return Preferences()
    least, muted = rows[0]
    return Preferences(least, msgspec.json.decode(muted, type=frozenset[NoticeType]))

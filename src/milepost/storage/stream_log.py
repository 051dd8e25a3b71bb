"""Reads the stream log, on every database."""

from collections.abc import Sequence
from typing import Any

from milepost.ports.reading import Scope
from milepost.ports.stream import Logged, Tops, Window
from milepost.storage import queries
from milepost.storage.rows import entry_value
from milepost.storage.session import Database, Session


class SqlStreamLog:
    """The port's stream log, each call in one view."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def tops(self, tenant_ids: Sequence[str]) -> Tops:
        """The windows of these tenants and the epoch."""
        ids = sorted(set(tenant_ids))

        async def work(session: Session) -> Tops:
            ((epoch,),) = await session.rows(queries.EPOCH, {})
            if not ids:
                return Tops(epoch, {})
            rows = await session.rows(queries.windows(queries.padded(len(ids))), queries.listed("id", ids))
            return Tops(epoch, {tenant_id: Window(top, floor) for tenant_id, top, floor in rows})

        return await self._database.read(work)

    async def entries(
        self, tenant_id: str, after: int, upto: int, limit: int, scope: Scope | None = None
    ) -> tuple[Logged, ...]:
        """Entries in position order."""
        return await self._database.read(lambda session: merged(session, tenant_id, after, upto, limit, scope))


async def merged(
    session: Session, tenant_id: str, after: int, upto: int, limit: int, scope: Scope | None
) -> tuple[Logged, ...]:
    """Entries that a scope may learn of; None and administrators learn of all."""
    values: dict[str, Any] = {"tenant": tenant_id, "after": after, "upto": upto, "limit": limit}
    found: dict[int, Logged] = {}
    for branches, bound in _branches(scope):
        for row in await session.rows(queries.entries(branches), values | bound):
            position, entry = entry_value(row)
            found[position] = Logged(position, entry)
    return tuple(found[position] for position in sorted(found)[:limit])


def _branches(scope: Scope | None) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    if scope is None or scope.everything:
        return [(("all",), {})]
    split = queries.branched(sorted(scope.project_ids), "user", "tenant")
    return [(branches, {"user": scope.user_id, **bound}) for branches, bound in split]

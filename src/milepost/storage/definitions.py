"""Stores published definitions, on every database. Each method is a transaction of its own."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import BindParameter, ColumnElement, Select, bindparam, func, insert, literal_column, or_, select

from milepost.ports.definitions import Published
from milepost.storage import queries
from milepost.storage.definition_tables import task_definition
from milepost.storage.rows import PUBLISHED
from milepost.storage.session import Database, Session

KEYS: Final = 64
"""The most documents one statement asks for."""

_TENANT: BindParameter[Any] = bindparam("tenant")
_PRODUCT: BindParameter[Any] = bindparam("product")
_TYPE: BindParameter[Any] = bindparam("task_type")
_EMPTY: ColumnElement[Any] = literal_column("''")
_c = task_definition.c
_HEADING: Final = [_c[name] for name in PUBLISHED.columns[: PUBLISHED.width]]
_USABLE: Final = or_(_c.tenant_id == _TENANT, _c.tenant_id == _EMPTY)
NEWEST: Final = select(func.max(_c.version)).where(
    _c.tenant_id == _TENANT, _c.product == _PRODUCT, _c.task_type == _TYPE
)
ADD: Final = insert(task_definition)
VERSIONS: Final = (
    select(*_HEADING)
    .where(_USABLE, or_(_c.product == _PRODUCT, _c.product == _EMPTY), _c.task_type == _TYPE)
    .order_by(_c.tenant_id.desc(), _c.product.desc(), _c.version)
)
LISTED: Final = (
    select(*_HEADING).where(_USABLE).order_by(_c.task_type, _c.tenant_id.desc(), _c.product.desc(), _c.version)
)


class SqlDefinitions:
    """The port's definitions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def publish(self, heading: Published, document: bytes, after: int) -> bool:
        """Stores a new version, unless another was published meanwhile."""
        line = {"tenant": heading.tenant_id, "product": heading.product, "task_type": heading.task_type}
        row = dict(zip(PUBLISHED.columns, (*PUBLISHED.row(heading), document.decode()), strict=True))

        async def work(session: Session) -> bool:
            ((newest,),) = await session.rows(NEWEST, line)
            if (newest or 0) != after:
                return False
            await session.run(ADD, row)
            return True

        return await self._database.write(work)

    async def versions(self, tenant_id: str, product: str, task_type: str) -> tuple[Published, ...]:
        """Every version that may serve such a task."""
        return await self._headings(VERSIONS, {"tenant": tenant_id, "product": product, "task_type": task_type})

    async def listed(self, tenant_id: str) -> tuple[Published, ...]:
        """Every version this tenant may use."""
        return await self._headings(LISTED, {"tenant": tenant_id})

    async def documents(self, definition_ids: Sequence[str]) -> dict[str, bytes]:
        """Documents by the id of their definition."""
        ids = sorted(set(definition_ids))

        async def work(session: Session) -> dict[str, bytes]:
            found: dict[str, bytes] = {}
            for piece in queries.pieces(ids, KEYS):
                rows = await session.rows(by_id(queries.padded(len(piece))), queries.listed("id", piece))
                found |= {definition_id: document.encode() for definition_id, document in rows}
            return found

        return await self._database.read(work)

    async def _headings(self, statement: Select[*tuple[Any, ...]], values: dict[str, Any]) -> tuple[Published, ...]:
        rows = await self._database.read(lambda session: session.rows(statement, values))
        return tuple(PUBLISHED.value(row) for row in rows)


@lru_cache
def by_id(width: int) -> Select[*tuple[Any, ...]]:
    """Documents by the ids of their definitions."""
    places: list[BindParameter[Any]] = [bindparam(f"id{index}") for index in range(width)]
    return select(_c.definition_id, _c.document).where(_c.definition_id.in_(places))

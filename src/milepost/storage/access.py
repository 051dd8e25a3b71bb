"""Stores identities, on every database. Each method is a transaction of its own."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import BindParameter, Executable, bindparam, delete, insert, literal_column, select, update

from milepost.clock import Clock
from milepost.ports.access import AuditEntry, Credential, OnceCode, UserSession
from milepost.storage.members import projects_of
from milepost.storage.rows import AUDITED, CODE, CREDENTIAL, SESSION, Row, Shape, audit_row
from milepost.storage.session import Database, Session
from milepost.storage.tables import audit_log, service_credential, stream, used_once, user_session

_ID: BindParameter[Any] = bindparam("id")
_NOW: BindParameter[Any] = bindparam("now")

TENANTS = select(stream.c.tenant_id).order_by(stream.c.tenant_id)
TENANT = select(stream.c.tenant_id).where(stream.c.tenant_id == _ID)
ADD_TENANT = insert(stream).values(tenant_id=_ID, top=literal_column("0"), floor=literal_column("0"), created_at=_NOW)
CREDENTIALS = select(service_credential).order_by(service_credential.c.credential_id)
CREDENTIAL_BY_ID = select(service_credential).where(service_credential.c.credential_id == _ID)
ADD_CREDENTIAL = insert(service_credential)
REVOKE_CREDENTIAL = (
    update(service_credential)
    .values(revoked_at=_NOW)
    .where(service_credential.c.credential_id == _ID, service_credential.c.revoked_at.is_(None))
)
SESSION_BY_ID = select(user_session).where(user_session.c.session_id == _ID)
OPEN_SESSIONS = (
    select(user_session)
    .where(
        user_session.c.tenant_id == bindparam("tenant"),
        user_session.c.user_id == bindparam("user"),
        user_session.c.revoked_at.is_(None),
        user_session.c.expires_at > _NOW,
    )
    .order_by(user_session.c.session_id)
)
ADD_SESSION = insert(user_session)
REVOKE_SESSION = (
    update(user_session)
    .values(revoked_at=_NOW)
    .where(
        user_session.c.session_id == _ID,
        user_session.c.revoked_at.is_(None),
        user_session.c.expires_at > _NOW,
    )
)
ADD_CODE = insert(used_once)
DROP_CODES = delete(used_once).where(used_once.c.expires_at <= _NOW)
_THIS_CODE = (used_once.c.kind == bindparam("of_kind"), used_once.c.secret_hash == bindparam("of_hash"))
CODE_BY_HASH = select(used_once.c.body).where(*_THIS_CODE, used_once.c.expires_at > _NOW)
TAKE_CODE = delete(used_once).where(*_THIS_CODE)
ADD_AUDIT = insert(audit_log).values({name: bindparam(name) for name in AUDITED})


class SqlAccess:
    """The port's access."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add_tenant(self, tenant_id: str, now: int) -> bool:
        """Makes a tenant with its stream."""
        values = {"id": tenant_id, "now": now}

        async def work(session: Session) -> bool:
            if await session.rows(TENANT, values):
                return False
            await session.run(ADD_TENANT, values)
            return True

        return await self._database.write(work)

    async def tenants(self) -> tuple[str, ...]:
        """All tenant ids, sorted."""
        return tuple(tenant_id for (tenant_id,) in await self._rows(TENANTS, {}))

    async def has_tenant(self, tenant_id: str) -> bool:
        """Whether this tenant exists."""
        return bool(await self._rows(TENANT, {"id": tenant_id}))

    async def add_credential(self, credential: Credential) -> None:
        """Stores a new credential."""
        await self._change(ADD_CREDENTIAL, _named(CREDENTIAL, credential))

    async def credential(self, credential_id: str) -> Credential | None:
        """A credential by its id."""
        rows = await self._rows(CREDENTIAL_BY_ID, {"id": credential_id})
        return CREDENTIAL.value(rows[0]) if rows else None

    async def credentials(self) -> tuple[Credential, ...]:
        """All credentials by id."""
        return tuple(CREDENTIAL.value(row) for row in await self._rows(CREDENTIALS, {}))

    async def revoke_credential(self, credential_id: str, now: int) -> bool:
        """Revokes one, once."""
        return await self._change(REVOKE_CREDENTIAL, {"id": credential_id, "now": now}) == 1

    async def add_session(self, session: UserSession) -> None:
        """Stores a new user session."""
        await self._change(ADD_SESSION, _named(SESSION, session))

    async def session(self, session_id: str) -> UserSession | None:
        """A session by its id."""
        rows = await self._rows(SESSION_BY_ID, {"id": session_id})
        return SESSION.value(rows[0]) if rows else None

    async def open_sessions(self, tenant_id: str, user_id: str, now: int) -> tuple[UserSession, ...]:
        """A user's sessions that hold now."""
        rows = await self._rows(OPEN_SESSIONS, {"tenant": tenant_id, "user": user_id, "now": now})
        return tuple(SESSION.value(row) for row in rows)

    async def revoke_session(self, session_id: str, now: int) -> bool:
        """Ends one, once."""
        return await self._change(REVOKE_SESSION, {"id": session_id, "now": now}) == 1

    async def projects_of(self, tenant_id: str, user_id: str, claimed: Collection[str]) -> frozenset[str]:
        """The projects a user may see now."""
        return await self._database.read(lambda session: projects_of(session, tenant_id, user_id, claimed))

    async def add_code(self, code: OnceCode) -> None:
        """Stores a one-time code, and forgets those whose time is over."""
        now = self._clock.now()

        async def work(session: Session) -> None:
            await session.run(DROP_CODES, {"now": now})
            await session.run(ADD_CODE, _named(CODE, code))

        await self._database.write(work)

    async def take_code(self, kind: str, secret_hash: bytes, now: int) -> bytes | None:
        """The body of a code, once."""
        values = {"of_kind": kind, "of_hash": secret_hash, "now": now}

        async def work(session: Session) -> bytes | None:
            rows = await session.rows(CODE_BY_HASH, values)
            if not rows or await session.run(TAKE_CODE, values) != 1:
                return None
            return rows[0][0].encode()

        return await self._database.write(work)

    async def audit(self, entry: AuditEntry) -> None:
        """Appends to the audit log."""
        await self._change(ADD_AUDIT, dict(zip(AUDITED, audit_row(entry), strict=True)))

    async def _rows(self, statement: Executable, values: Mapping[str, Any]) -> list[Row]:
        return await self._database.read(lambda session: session.rows(statement, values))

    async def _change(self, statement: Executable, values: Mapping[str, Any]) -> int:
        return await self._database.write(lambda session: session.run(statement, values))


def _named(shape: Shape[Any], value: Any) -> dict[str, Any]:
    return dict(zip(shape.columns, shape.row(value), strict=True))

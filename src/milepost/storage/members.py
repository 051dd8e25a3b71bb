"""Who belongs to a project, on every database."""

from collections.abc import Collection
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import BindParameter, Select, bindparam, delete, insert, select, update

from milepost.ports.access import Membership
from milepost.storage import queries
from milepost.storage.notice_tables import project, project_member
from milepost.storage.session import Session
from milepost.storage.tables import user_session

IDS = 64
"""The most projects one statement asks for."""

_PROJECT: BindParameter[Any] = bindparam("project")
_USER: BindParameter[Any] = bindparam("user")
_NOW: BindParameter[Any] = bindparam("now")
_THIS = (project.c.tenant_id == queries.TENANT, project.c.project_id == _PROJECT)
_OF_THIS = (project_member.c.tenant_id == queries.TENANT, project_member.c.project_id == _PROJECT)

# A database with row locks holds the project's row until the change is committed; SQLite has one writer anyway.
KEPT = select(project.c.project_id).where(*_THIS).with_for_update()
MEMBERS = select(project_member.c.user_id).where(*_OF_THIS)
PROJECTS = select(project_member.c.project_id).where(
    project_member.c.tenant_id == queries.TENANT, project_member.c.user_id == _USER
)
KEEP = insert(project).values(tenant_id=queries.TENANT, project_id=_PROJECT, changed_at=_NOW)
CHANGED = update(project).values(changed_at=_NOW).where(*_THIS)
GRANT = insert(project_member).values(tenant_id=queries.TENANT, project_id=_PROJECT, user_id=_USER, granted_at=_NOW)
REVOKE = delete(project_member).where(*_OF_THIS, project_member.c.user_id == _USER)
CLAIMS = select(user_session.c.user_id, user_session.c.project_ids).where(
    user_session.c.tenant_id == queries.TENANT, user_session.c.revoked_at.is_(None), user_session.c.expires_at > _NOW
)

_decoded = msgspec.json.Decoder(frozenset[str]).decode


@lru_cache
def kept_here(width: int) -> Select[*tuple[Any, ...]]:
    """Which of some projects have their members here."""
    return select(project.c.project_id).where(
        project.c.tenant_id == queries.TENANT, project.c.project_id.in_(queries.places("id", width))
    )


async def members(session: Session, tenant_id: str, project_id: str) -> frozenset[str] | None:
    """A project's members, or None where they are not kept here."""
    values = {"tenant": tenant_id, "project": project_id}
    if not await session.rows(KEPT, values):
        return None
    return frozenset(user_id for (user_id,) in await session.rows(MEMBERS, values))


async def claimants(session: Session, tenant_id: str, project_id: str, now: int) -> frozenset[str]:
    """The users of sessions in force that claim a project."""
    rows = await session.rows(CLAIMS, {"tenant": tenant_id, "now": now})
    return frozenset(user_id for user_id, projects in rows if project_id in _decoded(projects))


async def change(session: Session, membership: Membership) -> None:
    """Takes members in and out; from now on they are kept here."""
    values = {"tenant": membership.tenant_id, "project": membership.project_id, "now": membership.at}
    if not await session.run(CHANGED, values):
        await session.run(KEEP, values)
    for user_id in membership.granted:
        await session.run(GRANT, values | {"user": user_id})
    for user_id in membership.revoked:
        await session.run(REVOKE, values | {"user": user_id})


async def projects_of(session: Session, tenant_id: str, user_id: str, claimed: Collection[str]) -> frozenset[str]:
    """The projects whose member a user is, and claimed ones whose members are not kept here."""
    values = {"tenant": tenant_id, "user": user_id}
    found = {project_id for (project_id,) in await session.rows(PROJECTS, values)}
    here: set[str] = set()
    for piece in queries.pieces(sorted(claimed), IDS):
        rows = await session.rows(kept_here(queries.padded(len(piece))), values | queries.listed("id", piece))
        here |= {project_id for (project_id,) in rows}
    return frozenset(found | (set(claimed) - here))

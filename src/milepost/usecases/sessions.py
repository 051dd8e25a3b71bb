"""Sessions of people: minted for the host product's backend, opened by a one-time link, ended by signing out."""

from typing import Final

import msgspec
from msgspec import Struct

from milepost.clock import Clock
from milepost.ports.access import ROLES, Access, AuditEntry, Credential, OnceCode, Role, UserSession
from milepost.tokens import secrets
from milepost.wire.problems import Rejection

LINK_MS: Final = 10 * 60 * 1000
DAY_SECONDS: Final = 86_400


class Grant(Struct, frozen=True):
    """What a session stands for. `ttl_seconds` at most a day."""

    tenant_id: str
    user_id: str
    project_ids: frozenset[str] = frozenset()
    roles: frozenset[Role] = frozenset(("member",))
    ttl_seconds: int = 3_600


class Minted(Struct, frozen=True):
    """A new session and its bearer, which is shown once."""

    session: UserSession
    token: str


async def mint(access: Access, clock: Clock, grant: Grant) -> Minted:
    """A new session for a user of an existing tenant. Raises `Rejection` NOT_FOUND for an unknown tenant."""
    if not await access.has_tenant(grant.tenant_id):
        raise Rejection("NOT_FOUND", "No such tenant.")
    secret = secrets.make("mps")
    now = clock.now()
    session = UserSession(
        session_id=secret.id,
        secret_hash=secret.hash,
        tenant_id=grant.tenant_id,
        user_id=grant.user_id,
        project_ids=grant.project_ids,
        roles=grant.roles,
        created_at=now,
        expires_at=now + min(grant.ttl_seconds, DAY_SECONDS) * 1000,
    )
    await access.add_session(session)
    return Minted(session, secret.text)


def check_ceiling(credential: Credential, roles: frozenset[Role]) -> None:
    """Refuses roles above the credential's ceiling. Raises `Rejection` FORBIDDEN."""
    ceiling = ROLES.index(credential.roles_up_to)
    if any(ROLES.index(role) > ceiling for role in roles):
        raise Rejection("FORBIDDEN", f"This credential mints roles up to {credential.roles_up_to}.")


async def audit(access: Access, clock: Clock, actor: str, session: UserSession, action: str) -> None:
    """Records who minted or ended a session, for whom and with which roles."""
    detail = msgspec.json.encode({"user": session.user_id, "roles": sorted(session.roles)}).decode()
    await access.audit(AuditEntry(session.tenant_id, actor, action, session.session_id, detail, clock.now()))


async def make_link_code(access: Access, clock: Clock, grant: Grant) -> str:
    """A code for a sign-in link: it opens one session, once, within ten minutes."""
    secret = secrets.make("mpl")
    body = msgspec.json.encode(grant)
    await access.add_code(OnceCode("link", secret.hash, body, clock.now() + LINK_MS))
    return secret.text


async def open_link(access: Access, clock: Clock, code: str) -> Minted:
    """The session a link's code opens; the code is used up. Raises `Rejection` UNAUTHENTICATED."""
    secret = secrets.parse(code, "mpl")
    body = await access.take_code("link", secret.hash, clock.now()) if secret else None
    if body is None:
        raise Rejection("UNAUTHENTICATED", "This link was used already or has expired; ask for a new one.")
    return await mint(access, clock, msgspec.json.decode(body, type=Grant))

"""Who may: tenants, credentials, user sessions, one-time codes and the audit log. Secrets are stored as hashes."""

from collections.abc import Collection
from typing import Literal, Protocol

from msgspec import Struct

Right = Literal["report", "coordinate", "sessions", "definitions", "broadcast", "providers", "policy"]
Role = Literal["member", "admin", "operator"]

ROLES: tuple[Role, ...] = ("member", "admin", "operator")
"""Roles by rising power."""


class Credential(Struct, frozen=True):
    """A service's identity: its producer, its rights, and the highest role of the sessions it may mint.

    `tenant_id` is None for a credential of all tenants, which names the tenant with every request.
    """

    credential_id: str
    secret_hash: bytes
    producer_id: str
    tenant_id: str | None
    rights: frozenset[Right]
    roles_up_to: Role
    created_at: int
    revoked_at: int | None = None


class UserSession(Struct, frozen=True):
    """A signed-in user: one tenant, the projects and roles the host product vouched for, and an end."""

    session_id: str
    secret_hash: bytes
    tenant_id: str
    user_id: str
    project_ids: frozenset[str]
    roles: frozenset[Role]
    created_at: int
    expires_at: int
    revoked_at: int | None = None


class Membership(Struct, frozen=True):
    """A change of who may see a project. From the first one on, its members are kept here and claims count no more."""

    tenant_id: str
    project_id: str
    granted: tuple[str, ...]
    revoked: tuple[str, ...]
    at: int


class OnceCode(Struct, frozen=True):
    """Something that may be used once before it expires: a sign-in link's code, a stream ticket. `body` is JSON."""

    kind: Literal["link", "ticket"]
    secret_hash: bytes
    body: bytes
    expires_at: int


class AuditEntry(Struct, frozen=True):
    """One use of a privileged route or command: who, what, on what, when. `detail` is JSON without secrets."""

    tenant_id: str
    actor: str
    action: str
    subject: str
    detail: str
    at: int


class Access(Protocol):
    """Stores identities. All methods are their own transactions."""

    async def add_tenant(self, tenant_id: str, now: int) -> bool:
        """Makes a tenant with its stream; False if it is there already."""
        ...

    async def tenants(self) -> tuple[str, ...]:
        """All tenant ids, sorted."""
        ...

    async def has_tenant(self, tenant_id: str) -> bool:
        """Whether this tenant exists."""
        ...

    async def add_credential(self, credential: Credential) -> None:
        """Stores a new credential."""
        ...

    async def credential(self, credential_id: str) -> Credential | None:
        """A credential by its id, revoked ones included."""
        ...

    async def credentials(self) -> tuple[Credential, ...]:
        """All credentials by id."""
        ...

    async def revoke_credential(self, credential_id: str, now: int) -> bool:
        """Revokes one; False if it is unknown or revoked already."""
        ...

    async def add_session(self, session: UserSession) -> None:
        """Stores a new user session."""
        ...

    async def session(self, session_id: str) -> UserSession | None:
        """A session by its id, expired and revoked ones included."""
        ...

    async def open_sessions(self, tenant_id: str, user_id: str, now: int) -> tuple[UserSession, ...]:
        """A user's sessions that have neither expired nor been ended, by id."""
        ...

    async def revoke_session(self, session_id: str, now: int) -> bool:
        """Ends one; False if it is unknown or ended already."""
        ...

    async def projects_of(self, tenant_id: str, user_id: str, claimed: Collection[str]) -> frozenset[str]:
        """The projects a user may see now: those with the user as a member, and claimed ones without members here.

        The one rule of membership: lists, details, streams and tokens all ask it.
        """
        ...

    async def add_code(self, code: OnceCode) -> None:
        """Stores a one-time code."""
        ...

    async def take_code(self, kind: str, secret_hash: bytes, now: int) -> bytes | None:
        """The body of a code that was neither used nor expired; it is used up by this call. None otherwise."""
        ...

    async def audit(self, entry: AuditEntry) -> None:
        """Appends to the audit log."""
        ...

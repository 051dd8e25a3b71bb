"""Who is calling: a service by its credential, a person by a session. What they may do is decided where it is used."""

from typing import Final, TypeVar

from msgspec import Struct

from milepost.clock import Clock
from milepost.ports.access import Access, Credential, Role, UserSession
from milepost.ports.reading import Scope
from milepost.tokens import secrets
from milepost.usecases.tickets import take_ticket
from milepost.wire.problems import Rejection

SESSION_COOKIE: Final = "milepost_session"
_REMEMBERED_MS: Final = 2_000
_REMEMBERED_MAX: Final = 20_000
T = TypeVar("T")


class Viewer(Struct, frozen=True):
    """A signed-in person: one tenant, the projects the person may see now, the roles the host product vouched for.

    `expires_at` in UTC ms.
    """

    session_id: str
    tenant_id: str
    user_id: str
    project_ids: frozenset[str]
    roles: frozenset[Role]
    expires_at: int

    @property
    def scope(self) -> Scope:
        """The tasks this person may see."""
        everything = bool(self.roles & {"admin", "operator"})
        return Scope(self.tenant_id, self.user_id, self.project_ids, everything)


class Identities:
    """Tells who a secret belongs to. What it found is remembered for two seconds, so a revocation holds by then."""

    def __init__(self, access: Access, clock: Clock) -> None:
        self._access = access
        self._clock = clock
        self._credentials: dict[str, tuple[int, Credential]] = {}
        self._sessions: dict[str, tuple[int, UserSession]] = {}

    async def viewer(self, token: str | None) -> Viewer:
        """The person behind a session's token. Raises `Rejection` UNAUTHENTICATED."""
        presented = secrets.parse(token or "", "mps")
        session = await self._session(presented.id) if presented else None
        if session is None or presented is None or not presented.matches(session.secret_hash):
            raise Rejection("UNAUTHENTICATED", "Sign in: the session is unknown.")
        return await self._standing(session)

    async def by_ticket(self, ticket: str) -> Viewer:
        """The person behind a ticket, which is used up. Raises `Rejection` UNAUTHENTICATED."""
        session_id = await take_ticket(self._access, self._clock, ticket)
        session = await self._session(session_id) if session_id is not None else None
        if session is None:
            raise Rejection("UNAUTHENTICATED", "This ticket was used already or has expired; ask for a new one.")
        return await self._standing(session)

    async def again(self, viewer: Viewer) -> Viewer:
        """The same person as the session stands now. Raises `Rejection` UNAUTHENTICATED where it has ended."""
        session = await self._session(viewer.session_id)
        if session is None:
            raise Rejection("UNAUTHENTICATED", "Sign in: the session is unknown.")
        return await self._standing(session)

    async def _standing(self, session: UserSession) -> Viewer:
        if session.revoked_at is not None or session.expires_at <= self._clock.now():
            raise Rejection("UNAUTHENTICATED", "Sign in again: the session has ended.")
        # Not remembered, unlike the session: who reads after joining a stream must see every change up to there.
        projects = await self._access.projects_of(session.tenant_id, session.user_id, session.project_ids)
        return Viewer(
            session.session_id,
            session.tenant_id,
            session.user_id,
            projects,
            session.roles,
            session.expires_at,
        )

    async def service(self, token: str | None) -> Credential:
        """The service behind a credential's secret. Raises `Rejection` UNAUTHENTICATED."""
        presented = secrets.parse(token or "", "mpc")
        credential = await self._credential(presented.id) if presented else None
        if credential is None or presented is None or not presented.matches(credential.secret_hash):
            raise Rejection("UNAUTHENTICATED", "The credential is unknown.")
        if credential.revoked_at is not None:
            raise Rejection("UNAUTHENTICATED", "The credential was revoked.")
        return credential

    def forget(self, session_id: str) -> None:
        """Makes this process look a session up again at its next use."""
        self._sessions.pop(session_id, None)

    async def _session(self, session_id: str) -> UserSession | None:
        now = self._clock.now()
        held = self._sessions.get(session_id)
        if held is not None and now - held[0] < _REMEMBERED_MS:
            return held[1]
        found = await self._access.session(session_id)
        if found is not None:
            _remember(self._sessions, session_id, (now, found))
        return found

    async def _credential(self, credential_id: str) -> Credential | None:
        now = self._clock.now()
        held = self._credentials.get(credential_id)
        if held is not None and now - held[0] < _REMEMBERED_MS:
            return held[1]
        found = await self._access.credential(credential_id)
        if found is not None:
            _remember(self._credentials, credential_id, (now, found))
        return found


def _remember(cache: dict[str, T], key: str, value: T) -> None:
    if len(cache) >= _REMEMBERED_MAX:
        cache.clear()
    cache[key] = value

"""All viewers of this process: how many each user and tenant has, whose session they live in, when they end."""

from collections.abc import Hashable
from typing import TypeVar

from milepost.gateway.limits import StreamLimits
from milepost.gateway.viewer import Interest, Viewer
from milepost.wire.problems import Rejection

SLOTS = 16
K = TypeVar("K", bound=Hashable)


class Register:
    """Counts, finds and times viewers with one timer for all of them: a slot of the wheel has its turn per tick."""

    def __init__(self, limits: StreamLimits) -> None:
        self._limits = limits
        self._users: dict[tuple[str, str], int] = {}
        self._tenants: dict[str, int] = {}
        self._sessions: dict[str, set[Viewer]] = {}
        self._ends: dict[int, set[Viewer]] = {}
        self._wheel: tuple[set[Viewer], ...] = tuple(set() for _ in range(SLOTS))
        self._hand = 0
        self._next = 0

    def __len__(self) -> int:
        return sum(self._tenants.values())

    def admit(self, interest: Interest) -> None:
        """Takes a place. Raises `Rejection` RATE_LIMITED where the user or the tenant has no more."""
        user = (interest.tenant_id, interest.user_id)
        if self._users.get(user, 0) >= self._limits.per_user:
            raise self._full("This user has as many streams open as are allowed.")
        if self._tenants.get(interest.tenant_id, 0) >= self._limits.per_tenant:
            raise self._full("This tenant has as many streams open as are allowed.")
        self._users[user] = self._users.get(user, 0) + 1
        self._tenants[interest.tenant_id] = self._tenants.get(interest.tenant_id, 0) + 1

    def release(self, interest: Interest) -> None:
        """Gives the place back."""
        _less(self._users, (interest.tenant_id, interest.user_id))
        _less(self._tenants, interest.tenant_id)

    def add(self, viewer: Viewer) -> None:
        """Times a viewer that was admitted."""
        viewer.slot = self._next
        self._next = (self._next + 1) % SLOTS
        self._wheel[viewer.slot].add(viewer)
        self._sessions.setdefault(viewer.interest.session_id, set()).add(viewer)
        self._ends.setdefault(_second(viewer.interest.expires_at), set()).add(viewer)

    def discard(self, viewer: Viewer) -> None:
        """Forgets a viewer; its place is given back by `release`."""
        self._wheel[viewer.slot].discard(viewer)
        _without(self._sessions, viewer.interest.session_id, viewer)
        _without(self._ends, _second(viewer.interest.expires_at), viewer)

    def turn(self) -> tuple[Viewer, ...]:
        """The viewers whose turn it is to be sent a heartbeat."""
        self._hand = (self._hand + 1) % SLOTS
        return tuple(self._wheel[self._hand])

    def expired(self, now: int) -> list[Viewer]:
        """The viewers whose session has ended by `now` (UTC ms)."""
        due = [second for second in self._ends if second <= now // 1000]
        return [viewer for second in due for viewer in self._ends[second]]

    def of_session(self, session_id: str) -> tuple[Viewer, ...]:
        """The viewers that live in one session."""
        return tuple(self._sessions.get(session_id, ()))

    def everybody(self) -> list[Viewer]:
        """All viewers."""
        return [viewer for slot in self._wheel for viewer in slot]

    def _full(self, detail: str) -> Rejection:
        return Rejection("RATE_LIMITED", detail, retry_after=self._limits.retry_after())


def _second(instant: int) -> int:
    # Rounded up: a session may be used until its end, and a stream that outlives it by a second sends nothing new.
    return -(-instant // 1000)


def _less(counts: dict[K, int], key: K) -> None:
    left = counts.get(key, 0) - 1
    if left > 0:
        counts[key] = left
    else:
        counts.pop(key, None)


def _without(index: dict[K, set[Viewer]], key: K, viewer: Viewer) -> None:
    members = index.get(key)
    if members is not None:
        members.discard(viewer)
        if not members:
            del index[key]

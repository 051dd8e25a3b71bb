"""The notification centre, and what is told to everyone online."""

from typing import Protocol

from msgspec import Struct

from milepost.domain.notices import Level, Notification, Preferences


class NotificationPage(Struct, frozen=True):
    """One page, newest first, with how many of all are unread; epoch and cursor as they were read before it."""

    items: tuple[Notification, ...]
    more: bool
    unread: int
    epoch: str
    cursor: int


class Broadcast(Struct, frozen=True):
    """Something that is told to many: plain text, until `valid_until` (UTC ms)."""

    broadcast_id: str
    level: Level
    title: str
    message: str
    valid_until: int
    created_at: int


class ReadMark(Struct, frozen=True):
    """Says which of a user's notifications were read: those named, or all up to a position."""

    tenant_id: str
    user_id: str
    at: int
    ids: tuple[str, ...] = ()
    up_to: int | None = None


class Notices(Protocol):
    """Reads the notification centre; preferences are its only writes, each a transaction of its own."""

    async def page(
        self, tenant_id: str, user_id: str, *, unread: bool, before: int | None, limit: int
    ) -> NotificationPage:
        """The notifications of a user below position `before`, as the user's preferences filter them."""
        ...

    async def preferences(self, tenant_id: str, user_id: str) -> Preferences:
        """What a user wants to be told of; everything where nothing was said."""
        ...

    async def prefer(self, tenant_id: str, user_id: str, preferences: Preferences, now: int) -> None:
        """Replaces a user's preferences."""
        ...

    async def in_force(self, now: int) -> tuple[Broadcast, ...]:
        """The broadcasts to everyone that are valid at `now`, oldest first."""
        ...

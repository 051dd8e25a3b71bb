"""The notification centre, broadcasts and members of projects on the wire, and what entries without a task hold."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from milepost.domain.notices import Action, Level, NoticeType, Notification, Preferences
from milepost.wire.ids import Id
from milepost.wire.numbers import Decimal, Instant, instant, instant_or_none

NoticeId = Annotated[str, Meta(min_length=1, max_length=255)]
Title = Annotated[str, Meta(min_length=1, max_length=300)]
Text = Annotated[str, Meta(max_length=2_000)]


class NotificationView(Struct, frozen=True, rename="camel"):
    """A lasting notice as it is kept for its reader."""

    id: str
    type: NoticeType
    level: Level
    title: str
    message: str
    operation_code: str | None
    error_code: str | None
    retryable: bool
    requires_action: bool
    actions: tuple[Action, ...]
    task_id: str
    task_version: Decimal
    project_id: str | None
    created_at: Instant
    read_at: Instant | None


class NotificationList(Struct, frozen=True, rename="camel"):
    """One page, newest first. `unreadCount` counts all; `streamCursor` is the `upTo` that marks everything here."""

    items: tuple[NotificationView, ...]
    next_cursor: str | None
    unread_count: int
    as_of: Instant
    epoch: str
    stream_cursor: str


class MarkRead(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Which notifications were read: those named, or all up to a stream cursor. Exactly one of the two is given."""

    ids: Annotated[tuple[NoticeId, ...], Meta(min_length=1, max_length=200)] | None = None
    up_to: Annotated[str, Meta(max_length=64)] | None = None


class MarkedRead(Struct, frozen=True):
    """How many of them were unread until now."""

    marked: int


class PreferencesBody(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What a person wants to be told of: nothing below a level, and no muted type."""

    min_level: Level = "INFO"
    muted: tuple[NoticeType, ...] = ()


class CreateBroadcast(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Plain text for many. `audience` project needs `projectId`; system needs a credential of all tenants.

    Without `id` the service makes one; without `validUntil` it holds for a day.
    """

    audience: Literal["project", "tenant", "system"]
    title: Title
    message: Text = ""
    level: Level = "INFO"
    project_id: Id | None = None
    id: Id | None = None
    valid_until: Instant | None = None


class BroadcastMade(Struct, frozen=True, rename="camel"):
    """What was told, under which id, until when."""

    id: str
    valid_until: Instant
    committed_at: Instant


class SetMembers(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """All members of a project. From the first time on, they alone may see it, whatever sessions claim."""

    user_ids: Annotated[tuple[Id, ...], Meta(max_length=10_000)]


class MembersSet(Struct, frozen=True, rename="camel"):
    """The members a project has now, and who was taken in and out by this request."""

    project_id: str
    user_ids: tuple[str, ...]
    granted: tuple[str, ...]
    revoked: tuple[str, ...]


class AccessBody(Struct, frozen=True, rename="camel"):
    """What an entry of kind `access.granted` or `access.revoked` holds."""

    project_id: str


class ReadBody(Struct, frozen=True, rename="camel"):
    """What an entry of kind `notice.read` holds."""

    ids: tuple[str, ...] | None
    up_to: str | None


class BroadcastBody(Struct, frozen=True, rename="camel"):
    """What an entry of kind `broadcast` holds."""

    id: str
    level: Level
    title: str
    message: str
    valid_until: Instant


def notification_view(kept: Notification) -> NotificationView:
    """A row of the notification centre as its reader sees it."""
    return NotificationView(
        id=kept.notice_id,
        type=kept.type,
        level=kept.level,
        title=kept.title,
        message=kept.message,
        operation_code=kept.operation_code,
        error_code=kept.error_code,
        retryable=kept.retryable,
        requires_action=kept.requires_action,
        actions=kept.actions,
        task_id=kept.task_id,
        task_version=str(kept.task_version),
        project_id=kept.project_id,
        created_at=instant(kept.created_at),
        read_at=instant_or_none(kept.read_at),
    )


def preferences_view(preferences: Preferences) -> PreferencesBody:
    """Preferences as they are sent and taken."""
    return PreferencesBody(preferences.min_level, tuple(sorted(preferences.muted)))

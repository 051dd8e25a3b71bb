"""The part of the table of routes that is about notices, broadcasts and members of projects."""

from typing import Final

from milepost.api import notices
from milepost.api.endpoints import Endpoint, Query
from milepost.wire import notifications

FOR_SERVICES: Final = (
    Endpoint(
        "POST",
        "/internal/v1/broadcasts",
        notices.broadcast,
        "Tell something to a project, a tenant or everyone.",
        "service",
        {200: notifications.BroadcastMade, 201: notifications.BroadcastMade},
        notifications.CreateBroadcast,
        ("IDEMPOTENCY_KEY_CONFLICT", "NOT_FOUND"),
        once=True,
    ),
    Endpoint(
        "PUT",
        "/internal/v1/projects/{project_id}/members",
        notices.set_members,
        "Set who belongs to a project.",
        "service",
        {200: notifications.MembersSet},
        notifications.SetMembers,
    ),
)

FOR_VIEWERS: Final = (
    Endpoint(
        "GET",
        "/api/notifications",
        notices.list_notifications,
        "List one's notifications, newest first.",
        "viewer",
        {200: notifications.NotificationList},
        query=(
            Query("unread", "`true`: only those that were not read."),
            Query("cursor", "The nextCursor of the page before."),
            Query("limit", "At most this many, 1 to 200.", "integer"),
        ),
    ),
    Endpoint(
        "POST",
        "/api/notifications:markRead",
        notices.mark_read,
        "Mark notifications as read, on all devices.",
        "viewer",
        {200: notifications.MarkedRead},
        notifications.MarkRead,
        ("CURSOR_EXPIRED",),
    ),
    Endpoint(
        "GET",
        "/api/notification-preferences",
        notices.read_preferences,
        "What one wants to be told of.",
        "viewer",
        {200: notifications.PreferencesBody},
    ),
    Endpoint(
        "PUT",
        "/api/notification-preferences",
        notices.write_preferences,
        "Set what one wants to be told of.",
        "viewer",
        {200: notifications.PreferencesBody},
        notifications.PreferencesBody,
    ),
)

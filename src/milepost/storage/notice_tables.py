"""The tables of notices, of members of projects and of broadcasts; the rules are those of `tables`."""

from sqlalchemy import Column, PrimaryKeyConstraint, UniqueConstraint

from milepost.storage.columns import Count, Flag, Id, Json, Key, Millis, Prose, Word
from milepost.storage.metadata import index, metadata, table

__all__ = ["metadata", "notification", "notification_preference", "project", "project_member", "system_broadcast"]

notification = table(
    "notification",
    Column("tenant_id", Id, nullable=False),
    Column("user_id", Id, nullable=False),
    Column("position", Count, nullable=False),
    Column("notice_id", Key, nullable=False),
    Column("task_id", Id, nullable=False),
    Column("task_version", Count, nullable=False),
    Column("project_id", Id),
    Column("type", Word, nullable=False),
    Column("level", Word, nullable=False),
    Column("title", Prose, nullable=False),
    Column("message", Prose, nullable=False),
    Column("operation_code", Id),
    Column("error_code", Prose),
    Column("retryable", Flag, nullable=False),
    Column("requires_action", Flag, nullable=False),
    Column("actions", Json, nullable=False),
    Column("created_at", Millis, nullable=False),
    Column("read_at", Millis),
    PrimaryKeyConstraint("tenant_id", "user_id", "position"),
    UniqueConstraint("tenant_id", "user_id", "notice_id", name="notification_once"),
)
_unread = notification.c.read_at.is_(None)
index("notification_unread", notification, "tenant_id", "user_id", "position", where=_unread)

notification_preference = table(
    "notification_preference",
    Column("tenant_id", Id, nullable=False),
    Column("user_id", Id, nullable=False),
    Column("min_level", Word, nullable=False),
    Column("muted", Json, nullable=False),
    Column("updated_at", Millis, nullable=False),
    PrimaryKeyConstraint("tenant_id", "user_id"),
)

# A row here says that the project's members are kept here; sessions' claims to it count no more, even if it has none.
project = table(
    "project",
    Column("tenant_id", Id, nullable=False),
    Column("project_id", Id, nullable=False),
    Column("changed_at", Millis, nullable=False),
    PrimaryKeyConstraint("tenant_id", "project_id"),
)

project_member = table(
    "project_member",
    Column("tenant_id", Id, nullable=False),
    Column("project_id", Id, nullable=False),
    Column("user_id", Id, nullable=False),
    Column("granted_at", Millis, nullable=False),
    PrimaryKeyConstraint("tenant_id", "project_id", "user_id"),
)
index("project_member_by_user", project_member, "tenant_id", "user_id")

# Of no tenant: everyone online is told.
system_broadcast = table(
    "system_broadcast",
    Column("broadcast_id", Id, nullable=False),
    Column("level", Word, nullable=False),
    Column("title", Prose, nullable=False),
    Column("message", Prose, nullable=False),
    Column("valid_until", Millis, nullable=False),
    Column("created_at", Millis, nullable=False),
    PrimaryKeyConstraint("broadcast_id"),
)
index("system_broadcast_in_force", system_broadcast, "valid_until")

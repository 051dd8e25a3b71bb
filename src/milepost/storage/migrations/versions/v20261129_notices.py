"""The notification centre, members of projects, broadcasts to everyone."""

from alembic import op
from sqlalchemy import Column, PrimaryKeyConstraint, UniqueConstraint, text

from milepost.storage.columns import Count, Flag, Id, Key, Millis, Prose, Word

revision = "20261129_notices"
down_revision = "20261129_conflicts"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _make_notifications()
    _make_projects()
    op.create_table(
        "system_broadcast",
        Column("broadcast_id", Id, nullable=False),
        Column("level", Word, nullable=False),
        Column("title", Prose, nullable=False),
        Column("message", Prose, nullable=False),
        Column("valid_until", Millis, nullable=False),
        Column("created_at", Millis, nullable=False),
        PrimaryKeyConstraint("broadcast_id"),
    )
    op.create_index("system_broadcast_in_force", "system_broadcast", ["valid_until"])


def _make_notifications() -> None:
    op.create_table(
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
        Column("actions", Prose, nullable=False),
        Column("created_at", Millis, nullable=False),
        Column("read_at", Millis),
        PrimaryKeyConstraint("tenant_id", "user_id", "position"),
        UniqueConstraint("tenant_id", "user_id", "notice_id", name="notification_once"),
    )
    unread = text("read_at IS NULL")
    op.create_index(
        "notification_unread",
        "notification",
        ["tenant_id", "user_id", "position"],
        sqlite_where=unread,
        postgresql_where=unread,
    )
    op.create_table(
        "notification_preference",
        Column("tenant_id", Id, nullable=False),
        Column("user_id", Id, nullable=False),
        Column("min_level", Word, nullable=False),
        Column("muted", Prose, nullable=False),
        Column("updated_at", Millis, nullable=False),
        PrimaryKeyConstraint("tenant_id", "user_id"),
    )


def _make_projects() -> None:
    op.create_table(
        "project",
        Column("tenant_id", Id, nullable=False),
        Column("project_id", Id, nullable=False),
        Column("changed_at", Millis, nullable=False),
        PrimaryKeyConstraint("tenant_id", "project_id"),
    )
    op.create_table(
        "project_member",
        Column("tenant_id", Id, nullable=False),
        Column("project_id", Id, nullable=False),
        Column("user_id", Id, nullable=False),
        Column("granted_at", Millis, nullable=False),
        PrimaryKeyConstraint("tenant_id", "project_id", "user_id"),
    )
    op.create_index("project_member_by_user", "project_member", ["tenant_id", "user_id"])

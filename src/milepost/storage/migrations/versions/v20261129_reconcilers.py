"""Claims, the service's own liveness, and what the health of steps and requests to cancel is judged by."""

from alembic import op
from sqlalchemy import Column, MetaData, PrimaryKeyConstraint, Table, func, text

from milepost.storage.columns import Count, Flag, Id, Key, Millis, Word

revision = "20261129_reconcilers"
down_revision = "20261129_notices"
branch_labels = None
depends_on = None

LIMIT_MS = 60_000
"""The built-in limit, which held for every task type before this step."""


def upgrade() -> None:
    _add_columns()
    _begin_to_watch()
    where = text("look_at IS NOT NULL")
    key = ["look_at", "tenant_id", "task_id", "step_id", "attempt"]
    op.create_index("task_step_look", "task_step", key, sqlite_where=where, postgresql_where=where)
    where = text("cancel_due_at IS NOT NULL")
    op.create_index("task_cancel_due", "task", ["cancel_due_at"], sqlite_where=where, postgresql_where=where)
    op.create_index("task_event_dedup_by_age", "task_event_dedup", ["created_at", "tenant_id", "event_id"])
    op.create_index("user_session_expired", "user_session", ["expires_at"])
    op.create_table(
        "claim",
        Column("work", Id, nullable=False),
        Column("token", Count, nullable=False),
        Column("holder", Key),
        Column("expires_at", Millis),
        Column("available_at", Millis, nullable=False),
        PrimaryKeyConstraint("work"),
    )
    op.create_table(
        "ingest_liveness",
        Column("process_id", Id, nullable=False),
        Column("since_at", Millis, nullable=False),
        Column("until_at", Millis, nullable=False),
        PrimaryKeyConstraint("process_id", "since_at"),
    )


def _add_columns() -> None:
    op.add_column("task", _limit("cancel_deadline_ms"))
    op.add_column("task", Column("cancel_unanswered_at", Millis))
    op.add_column("task", Column("cancel_due_at", Millis))
    op.add_column("task_step", _limit("stale_after_ms"))
    op.add_column("task_step", _limit("patience_ms"))
    op.add_column("task_step", Column("calm_at", Millis))
    op.add_column("task_step", Column("silent_since", Millis))
    op.add_column("task_step", Column("escalated", Flag, nullable=False, server_default="0"))
    op.add_column("task_step", Column("look_at", Millis))


def _limit(name: str) -> Column[int]:
    return Column(name, Millis, nullable=False, server_default=str(LIMIT_MS))


def _begin_to_watch() -> None:
    times = [Column(name, Millis) for name in ("last_seen_at", "started_at", "opened_at", "look_at")]
    step = Table("task_step", MetaData(), Column("current", Flag, quote=True), Column("lifecycle", Word), *times).c
    sign = func.coalesce(step.last_seen_at, step.started_at, step.opened_at)
    running = step.current == 1, step.lifecycle == "RUNNING"
    op.execute(step.look_at.table.update().values(look_at=sign + LIMIT_MS).where(*running))
    times = [Column(name, Millis) for name in ("cancel_requested_at", "deleted_at", "cancel_due_at")]
    task = Table("task", MetaData(), Column("lifecycle", Word), *times).c
    open_ = task.cancel_requested_at.is_not(None), task.lifecycle.in_(("PENDING", "RUNNING")), task.deleted_at.is_(None)
    due = task.cancel_requested_at + LIMIT_MS
    op.execute(task.lifecycle.table.update().values(cancel_due_at=due).where(*open_))

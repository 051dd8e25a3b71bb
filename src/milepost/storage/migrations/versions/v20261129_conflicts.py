"""Conflicts can be settled: what became of a contradicting terminal, who settled it and why."""

from alembic import op
from sqlalchemy import Column, text

from milepost.storage.columns import Id, Millis, Prose, Word

revision = "20261129_conflicts"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for column in (
        Column("conflict", Word),
        Column("resolved_at", Millis),
        Column("resolved_by", Id),
        Column("note", Prose),
    ):
        op.add_column("task_event_evidence", column)
    op.execute("UPDATE task_event_evidence SET conflict = 'OPEN' WHERE reason = 'CONFLICTING_TERMINAL'")
    stands = text("conflict IS NOT NULL")
    op.create_index(
        "task_event_evidence_conflicts",
        "task_event_evidence",
        ["tenant_id", "received_at", "event_id"],
        sqlite_where=stands,
        postgresql_where=stands,
    )

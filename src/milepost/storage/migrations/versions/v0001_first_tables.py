"""The first tables."""

from alembic import op
from sqlalchemy import Column, PrimaryKeyConstraint, UniqueConstraint, text

from milepost.storage.columns import Count, Flag, Hash, Id, Key, Millis, Prose, RowId, Small, Word

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


STREAM_LOG_AT_WORK = (
    "ANALYZE sqlite_master",
    "INSERT INTO sqlite_stat1 VALUES ('stream_log', 'stream_log', '10000000 100000 1')",
    "INSERT INTO sqlite_stat1 VALUES ('stream_log', 'stream_log_by_user', '10000000 100000 100 1')",
    "INSERT INTO sqlite_stat1 VALUES ('stream_log', 'stream_log_by_project', '10000000 100000 1000 1')",
)
"""How full the tables will be. Without figures SQLite takes a tenant for ten rows and reads everybody's entries to
replay one viewer's."""


def upgrade() -> None:
    _make_tables()
    if op.get_context().dialect.name == "sqlite":
        for statement in STREAM_LOG_AT_WORK:
            op.execute(statement)


def _make_tables() -> None:
    op.create_table(
        "audit_log",
        Column("audit_id", RowId, autoincrement=True, nullable=False),
        Column("tenant_id", Id, nullable=False),
        Column("actor", Key, nullable=False),
        Column("action", Key, nullable=False),
        Column("subject", Key, nullable=False),
        Column("detail", Prose, nullable=False),
        Column("at", Millis, nullable=False),
        PrimaryKeyConstraint("audit_id"),
    )
    op.create_index("audit_log_by_time", "audit_log", ["tenant_id", "at"])
    op.create_table(
        "command_result",
        Column("tenant_id", Id, nullable=False),
        Column("credential_id", Id, nullable=False),
        Column("idempotency_key", Key, nullable=False),
        Column("body_hash", Hash, nullable=False),
        Column("task_id", Id, nullable=False),
        Column("answer", Prose, nullable=False),
        Column("created_at", Millis, nullable=False),
        PrimaryKeyConstraint("tenant_id", "credential_id", "idempotency_key"),
    )
    op.create_index("command_result_by_task", "command_result", ["tenant_id", "task_id"])
    op.create_table(
        "database_epoch",
        Column("only", Small, autoincrement=False, nullable=False),
        Column("epoch", Word, nullable=False),
        Column("identity", Key, nullable=False),
        Column("since_at", Millis, nullable=False),
        PrimaryKeyConstraint("only"),
    )
    op.create_table(
        "service_credential",
        Column("credential_id", Id, nullable=False),
        Column("secret_hash", Hash, nullable=False),
        Column("producer_id", Id, nullable=False),
        Column("tenant_id", Id),
        Column("rights", Prose, nullable=False),
        Column("roles_up_to", Word, nullable=False),
        Column("created_at", Millis, nullable=False),
        Column("revoked_at", Millis),
        PrimaryKeyConstraint("credential_id"),
    )
    op.create_table(
        "stream",
        Column("tenant_id", Id, nullable=False),
        Column("top", Count, nullable=False),
        Column("floor", Count, nullable=False),
        Column("created_at", Millis, nullable=False),
        PrimaryKeyConstraint("tenant_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "stream_log",
        Column("tenant_id", Id, nullable=False),
        Column("position", Count, nullable=False),
        Column("kind", Word, nullable=False),
        Column("committed_at", Millis, nullable=False),
        Column("task_id", Id),
        Column("task_version", Count),
        Column("audience_user", Id),
        Column("audience_project", Id),
        Column("mergeable", Flag, nullable=False),
        Column("body", Prose),
        PrimaryKeyConstraint("tenant_id", "position"),
        sqlite_with_rowid=False,
    )
    op.create_index("stream_log_by_project", "stream_log", ["tenant_id", "audience_project", "position"])
    op.create_index("stream_log_by_user", "stream_log", ["tenant_id", "audience_user", "position"])
    op.create_table(
        "task",
        Column("tenant_id", Id, nullable=False),
        Column("task_id", Id, nullable=False),
        Column("owner_id", Id, nullable=False),
        Column("project_id", Id),
        Column("coordinator_id", Id, nullable=False),
        Column("product", Id),
        Column("task_type", Id, nullable=False),
        Column("title", Prose, nullable=False),
        Column("definition_version", Small, nullable=False),
        Column("lifecycle", Word, nullable=False),
        Column("business_status", Id, nullable=False),
        Column("attempt", Small, nullable=False),
        Column("source_seq", Count),
        Column("version", Count, nullable=False),
        Column("last_position", Count, nullable=False),
        Column("health", Word, nullable=False),
        Column("percent", Small),
        Column("steps_done", Small, nullable=False),
        Column("steps_total", Small, nullable=False),
        Column("stage", Prose),
        Column("current_step", Id),
        Column("summary", Prose),
        Column("result_ref", Prose),
        Column("failure", Prose),
        Column("cancel_requested_at", Millis),
        Column("cancel_requested_by", Id),
        Column("created_at", Millis, nullable=False),
        Column("opened_at", Millis, nullable=False),
        Column("started_at", Millis),
        Column("finished_at", Millis),
        Column("run_duration_ms", Millis),
        Column("total_duration_ms", Millis),
        Column("updated_at", Millis, nullable=False),
        Column("deleted_at", Millis),
        Column("listed_at", Millis),
        Column("search", Prose, nullable=False),
        PrimaryKeyConstraint("tenant_id", "task_id"),
    )
    op.create_index("task_by_owner", "task", ["tenant_id", "owner_id", "listed_at", "task_id"])
    op.create_index("task_by_project", "task", ["tenant_id", "project_id", "listed_at", "task_id"])
    op.create_index("task_by_tenant", "task", ["tenant_id", "listed_at", "task_id"])
    op.create_table(
        "task_event_dedup",
        Column("tenant_id", Id, nullable=False),
        Column("event_id", Id, nullable=False),
        Column("payload_hash", Hash, nullable=False),
        Column("answer", Prose, nullable=False),
        Column("created_at", Millis, nullable=False),
        PrimaryKeyConstraint("tenant_id", "event_id"),
    )
    op.create_table(
        "task_event_evidence",
        Column("tenant_id", Id, nullable=False),
        Column("event_id", Id, nullable=False),
        Column("reason", Word, nullable=False),
        Column("task_id", Id, nullable=False),
        Column("step_id", Id),
        Column("event_type", Word, nullable=False),
        Column("producer_id", Id, nullable=False),
        Column("task_attempt", Small, nullable=False),
        Column("step_attempt", Small),
        Column("source_epoch", Count),
        Column("source_seq", Count),
        Column("task_version", Count, nullable=False),
        Column("lifecycle", Word, nullable=False),
        Column("step_lifecycle", Word),
        Column("payload", Prose, nullable=False),
        Column("occurred_at", Millis, nullable=False),
        Column("received_at", Millis, nullable=False),
        PrimaryKeyConstraint("tenant_id", "event_id", "reason"),
    )
    op.create_index("task_event_evidence_by_task", "task_event_evidence", ["tenant_id", "task_id", "received_at"])
    op.create_table(
        "task_event_log",
        Column("tenant_id", Id, nullable=False),
        Column("task_id", Id, nullable=False),
        Column("task_version", Count, nullable=False),
        Column("event_id", Id, nullable=False),
        Column("event_type", Word, nullable=False),
        Column("step_id", Id),
        Column("operation_code", Id),
        Column("step_version", Count),
        Column("task_attempt", Small, nullable=False),
        Column("step_attempt", Small),
        Column("producer_id", Id, nullable=False),
        Column("source_epoch", Count),
        Column("source_seq", Count),
        Column("gap", Flag, nullable=False),
        Column("derived", Flag, nullable=False),
        Column("lifecycle", Word, nullable=False),
        Column("business_status", Id, nullable=False),
        Column("health", Word, nullable=False),
        Column("step_lifecycle", Word),
        Column("step_business_status", Id),
        Column("data_schema", Prose),
        Column("error_code", Prose),
        Column("occurred_at", Millis, nullable=False),
        Column("age_ms", Millis),
        Column("received_at", Millis, nullable=False),
        Column("committed_at", Millis, nullable=False),
        Column("duration_ms", Millis),
        Column("public", Prose, nullable=False),
        Column("private", Prose, nullable=False),
        PrimaryKeyConstraint("tenant_id", "task_id", "task_version"),
    )
    op.create_index("task_event_log_seq", "task_event_log", ["tenant_id", "task_id", "step_id", "source_seq"])
    op.create_table(
        "task_outbox",
        Column("tenant_id", Id, nullable=False),
        Column("outbox_id", Id, nullable=False),
        Column("target", Id, nullable=False),
        Column("aggregate_id", Id, nullable=False),
        Column("aggregate_version", Count, nullable=False),
        Column("channel", Key, nullable=False),
        Column("projection", Word, nullable=False),
        Column("payload", Prose, nullable=False),
        Column("status", Word, nullable=False),
        Column("available_at", Millis, nullable=False),
        Column("locked_by", Key),
        Column("locked_at", Millis),
        Column("lock_token", Id),
        Column("attempts", Small, nullable=False),
        Column("last_error", Prose),
        Column("created_at", Millis, nullable=False),
        Column("published_at", Millis),
        PrimaryKeyConstraint("tenant_id", "outbox_id"),
        UniqueConstraint(
            "tenant_id", "target", "aggregate_id", "aggregate_version", "channel", "projection", name="task_outbox_once"
        ),
    )
    op.create_index("task_outbox_due", "task_outbox", ["status", "available_at"])
    op.create_table(
        "task_step",
        Column("tenant_id", Id, nullable=False),
        Column("task_id", Id, nullable=False),
        Column("step_id", Id, nullable=False),
        Column("attempt", Small, nullable=False),
        Column("task_attempt", Small, nullable=False),
        Column("current", Flag, nullable=False),
        Column("ordinal", Small, nullable=False),
        Column("weight", Prose, nullable=False),
        Column("on_failure", Word, nullable=False),
        Column("operation_code", Id, nullable=False),
        Column("producer_id", Id, nullable=False),
        Column("source_epoch", Count, nullable=False),
        Column("source_seq", Count, nullable=False),
        Column("version", Count, nullable=False),
        Column("lifecycle", Word, nullable=False),
        Column("business_status", Id, nullable=False),
        Column("health", Word, nullable=False),
        Column("last_seen_at", Millis),
        Column("progress", Prose),
        Column("stage", Prose),
        Column("message", Prose),
        Column("progressed_at", Millis),
        Column("pending", Prose),
        Column("data", Prose),
        Column("opened_at", Millis, nullable=False),
        Column("started_at", Millis),
        Column("started_derived", Flag, nullable=False),
        Column("finished_at", Millis),
        Column("duration_ms", Millis),
        Column("duration_source", Word),
        Column("error", Prose),
        Column("updated_at", Millis, nullable=False),
        Column("pending_since", Millis),
        PrimaryKeyConstraint("tenant_id", "task_id", "step_id", "attempt"),
    )
    op.create_index(
        "task_step_pending",
        "task_step",
        ["pending_since"],
        sqlite_where=text("pending_since IS NOT NULL"),
        postgresql_where=text("pending_since IS NOT NULL"),
    )
    op.create_table(
        "used_once",
        Column("kind", Word, nullable=False),
        Column("secret_hash", Hash, nullable=False),
        Column("body", Prose, nullable=False),
        Column("expires_at", Millis, nullable=False),
        PrimaryKeyConstraint("kind", "secret_hash"),
    )
    op.create_index("used_once_expired", "used_once", ["expires_at"])
    op.create_table(
        "user_session",
        Column("session_id", Id, nullable=False),
        Column("secret_hash", Hash, nullable=False),
        Column("tenant_id", Id, nullable=False),
        Column("user_id", Id, nullable=False),
        Column("project_ids", Prose, nullable=False),
        Column("roles", Prose, nullable=False),
        Column("created_at", Millis, nullable=False),
        Column("expires_at", Millis, nullable=False),
        Column("revoked_at", Millis),
        PrimaryKeyConstraint("session_id"),
    )
    op.create_index("user_session_by_user", "user_session", ["tenant_id", "user_id"])

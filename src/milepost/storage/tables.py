"""Every run-time table, once, for all databases.

The columns of a table that holds a value of the domain or of a port are that value's fields, in their order; what
storage derives from them for an index stands behind. Every key begins with the tenant, except where the row belongs
to none.
"""

from sqlalchemy import Column, Index, MetaData, PrimaryKeyConstraint, Table, UniqueConstraint

from milepost.storage.columns import Count, Flag, Hash, Id, Json, Key, Millis, Prose, RowId, Small, Word

metadata = MetaData()

task = Table(
    "task",
    metadata,
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
    Column("summary", Json),
    Column("result_ref", Json),
    Column("failure", Json),
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
    # created_at until the task is deleted, so that lists never walk over tombstones.
    Column("listed_at", Millis),
    # Title and id without case, folded by us: databases disagree about what case is.
    Column("search", Prose, nullable=False),
    PrimaryKeyConstraint("tenant_id", "task_id"),
)
Index("task_by_tenant", task.c.tenant_id, task.c.listed_at, task.c.task_id)
Index("task_by_owner", task.c.tenant_id, task.c.owner_id, task.c.listed_at, task.c.task_id)
Index("task_by_project", task.c.tenant_id, task.c.project_id, task.c.listed_at, task.c.task_id)

task_step = Table(
    "task_step",
    metadata,
    Column("tenant_id", Id, nullable=False),
    Column("task_id", Id, nullable=False),
    Column("step_id", Id, nullable=False),
    Column("attempt", Small, nullable=False),
    Column("task_attempt", Small, nullable=False),
    Column("current", Flag, nullable=False, quote=True),
    Column("ordinal", Small, nullable=False),
    Column("weight", Json, nullable=False),
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
    Column("progress", Json),
    Column("stage", Prose),
    Column("message", Prose),
    Column("progressed_at", Millis),
    Column("pending", Json),
    Column("data", Json),
    Column("opened_at", Millis, nullable=False),
    Column("started_at", Millis),
    Column("started_derived", Flag, nullable=False),
    Column("finished_at", Millis),
    Column("duration_ms", Millis),
    Column("duration_source", Word),
    Column("error", Json),
    Column("updated_at", Millis, nullable=False),
    # Since when merged progress waits to become a version.
    Column("pending_since", Millis),
    PrimaryKeyConstraint("tenant_id", "task_id", "step_id", "attempt"),
)
_waits = task_step.c.pending_since.is_not(None)
Index("task_step_pending", task_step.c.pending_since, sqlite_where=_waits, postgresql_where=_waits)

task_event_log = Table(
    "task_event_log",
    metadata,
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
    Column("public", Json, nullable=False),
    Column("private", Json, nullable=False),
    PrimaryKeyConstraint("tenant_id", "task_id", "task_version"),
)
# Not unique: a sequence counts inside an attempt and a source epoch, of which a step has few.
Index(
    "task_event_log_seq",
    task_event_log.c.tenant_id,
    task_event_log.c.task_id,
    task_event_log.c.step_id,
    task_event_log.c.source_seq,
)

task_event_evidence = Table(
    "task_event_evidence",
    metadata,
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
    Column("payload", Json, nullable=False),
    Column("occurred_at", Millis, nullable=False),
    Column("received_at", Millis, nullable=False),
    PrimaryKeyConstraint("tenant_id", "event_id", "reason"),
)
Index(
    "task_event_evidence_by_task",
    task_event_evidence.c.tenant_id,
    task_event_evidence.c.task_id,
    task_event_evidence.c.received_at,
)

task_event_dedup = Table(
    "task_event_dedup",
    metadata,
    Column("tenant_id", Id, nullable=False),
    Column("event_id", Id, nullable=False),
    Column("payload_hash", Hash, nullable=False),
    Column("answer", Json, nullable=False),
    Column("created_at", Millis, nullable=False),
    PrimaryKeyConstraint("tenant_id", "event_id"),
)

command_result = Table(
    "command_result",
    metadata,
    Column("tenant_id", Id, nullable=False),
    Column("credential_id", Id, nullable=False),
    Column("idempotency_key", Key, nullable=False),
    Column("body_hash", Hash, nullable=False),
    Column("task_id", Id, nullable=False),
    Column("answer", Json, nullable=False),
    Column("created_at", Millis, nullable=False),
    PrimaryKeyConstraint("tenant_id", "credential_id", "idempotency_key"),
)
Index("command_result_by_task", command_result.c.tenant_id, command_result.c.task_id)

stream = Table(
    "stream",
    metadata,
    Column("tenant_id", Id, nullable=False),
    Column("top", Count, nullable=False),
    Column("floor", Count, nullable=False),
    Column("created_at", Millis, nullable=False),
    PrimaryKeyConstraint("tenant_id"),
    sqlite_with_rowid=False,
)

stream_log = Table(
    "stream_log",
    metadata,
    Column("tenant_id", Id, nullable=False),
    Column("position", Count, nullable=False),
    Column("kind", Word, nullable=False),
    Column("committed_at", Millis, nullable=False),
    Column("task_id", Id),
    Column("task_version", Count),
    Column("audience_user", Id),
    Column("audience_project", Id),
    Column("mergeable", Flag, nullable=False),
    Column("body", Json),
    PrimaryKeyConstraint("tenant_id", "position"),
    sqlite_with_rowid=False,
)
Index("stream_log_by_user", stream_log.c.tenant_id, stream_log.c.audience_user, stream_log.c.position)
Index("stream_log_by_project", stream_log.c.tenant_id, stream_log.c.audience_project, stream_log.c.position)

task_outbox = Table(
    "task_outbox",
    metadata,
    Column("tenant_id", Id, nullable=False),
    Column("outbox_id", Id, nullable=False),
    Column("target", Id, nullable=False),
    Column("aggregate_id", Id, nullable=False),
    Column("aggregate_version", Count, nullable=False),
    Column("channel", Key, nullable=False),
    Column("projection", Word, nullable=False),
    Column("payload", Json, nullable=False),
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
Index("task_outbox_due", task_outbox.c.status, task_outbox.c.available_at)

service_credential = Table(
    "service_credential",
    metadata,
    Column("credential_id", Id, nullable=False),
    Column("secret_hash", Hash, nullable=False),
    Column("producer_id", Id, nullable=False),
    Column("tenant_id", Id),
    Column("rights", Json, nullable=False),
    Column("roles_up_to", Word, nullable=False),
    Column("created_at", Millis, nullable=False),
    Column("revoked_at", Millis),
    PrimaryKeyConstraint("credential_id"),
)

user_session = Table(
    "user_session",
    metadata,
    Column("session_id", Id, nullable=False),
    Column("secret_hash", Hash, nullable=False),
    Column("tenant_id", Id, nullable=False),
    Column("user_id", Id, nullable=False),
    Column("project_ids", Json, nullable=False),
    Column("roles", Json, nullable=False),
    Column("created_at", Millis, nullable=False),
    Column("expires_at", Millis, nullable=False),
    Column("revoked_at", Millis),
    PrimaryKeyConstraint("session_id"),
)
Index("user_session_by_user", user_session.c.tenant_id, user_session.c.user_id)

used_once = Table(
    "used_once",
    metadata,
    Column("kind", Word, nullable=False),
    Column("secret_hash", Hash, nullable=False),
    Column("body", Json, nullable=False),
    Column("expires_at", Millis, nullable=False),
    PrimaryKeyConstraint("kind", "secret_hash"),
)
Index("used_once_expired", used_once.c.expires_at)

audit_log = Table(
    "audit_log",
    metadata,
    Column("audit_id", RowId, primary_key=True, autoincrement=True),
    Column("tenant_id", Id, nullable=False),
    Column("actor", Key, nullable=False),
    Column("action", Key, nullable=False),
    Column("subject", Key, nullable=False),
    Column("detail", Json, nullable=False),
    Column("at", Millis, nullable=False),
)
Index("audit_log_by_time", audit_log.c.tenant_id, audit_log.c.at)

database_epoch = Table(
    "database_epoch",
    metadata,
    Column("only", Small, primary_key=True, autoincrement=False),
    Column("epoch", Word, nullable=False),
    Column("identity", Key, nullable=False),
    Column("since_at", Millis, nullable=False),
)

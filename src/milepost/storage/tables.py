"""Every run-time table, once, for all databases. Every key begins with the tenant, unless the row belongs to none.

The columns of a table that holds a value of the domain or of a port are its fields, in order, then what is derived.
"""

from sqlalchemy import Column, PrimaryKeyConstraint, UniqueConstraint

from milepost.storage import definition_tables, notice_tables, turn_tables
from milepost.storage.columns import Count, Flag, Hash, Id, Json, Key, Millis, Prose, RowId, Small, Word
from milepost.storage.metadata import index as _index
from milepost.storage.metadata import table as _table

metadata = notice_tables.metadata
OTHERS = (definition_tables, notice_tables, turn_tables)
"""Where the other tables are written down: whoever knows these knows all."""

# Derived: listed_at is created_at until the task is deleted, lists never walk over tombstones; search is title and id
# without case, folded by us, because databases disagree about case.
task = _table(
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
    Column("cancel_deadline_ms", Millis, nullable=False),
    Column("cancel_unanswered_at", Millis),
    Column("definition_id", Id),
    Column("listed_at", Millis),
    Column("search", Prose, nullable=False),
    Column("cancel_due_at", Millis),
    PrimaryKeyConstraint("tenant_id", "task_id"),
)
_index("task_by_tenant", task, "tenant_id", "listed_at", "task_id")
_index("task_by_owner", task, "tenant_id", "owner_id", "listed_at", "task_id")
_index("task_by_project", task, "tenant_id", "project_id", "listed_at", "task_id")
_index("task_cancel_due", task, "cancel_due_at", where=task.c.cancel_due_at.is_not(None))

task_step = _table(
    "task_step",
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
    Column("stale_after_ms", Millis, nullable=False),
    Column("patience_ms", Millis, nullable=False),
    Column("calm_at", Millis),
    Column("silent_since", Millis),
    Column("escalated", Flag, nullable=False),
    Column("pending_since", Millis),
    Column("look_at", Millis),
    PrimaryKeyConstraint("tenant_id", "task_id", "step_id", "attempt"),
)
_index("task_step_pending", task_step, "pending_since", where=task_step.c.pending_since.is_not(None))
# The whole key behind it: the scan walks along this index and goes on where it stopped.
_LOOK = ("look_at", "tenant_id", "task_id", "step_id", "attempt")
_index("task_step_look", task_step, *_LOOK, where=task_step.c.look_at.is_not(None))

task_event_log = _table(
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
    Column("public", Json, nullable=False),
    Column("private", Json, nullable=False),
    PrimaryKeyConstraint("tenant_id", "task_id", "task_version"),
)
# Not unique: a sequence counts inside an attempt and a source epoch, of which a step has few.
_index("task_event_log_seq", task_event_log, "tenant_id", "task_id", "step_id", "source_seq")

task_event_evidence = _table(
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
    Column("payload", Json, nullable=False),
    Column("occurred_at", Millis, nullable=False),
    Column("received_at", Millis, nullable=False),
    Column("conflict", Word),
    Column("resolved_at", Millis),
    Column("resolved_by", Id),
    Column("note", Prose),
    PrimaryKeyConstraint("tenant_id", "event_id", "reason"),
)
_index(
    "task_event_evidence_conflicts",
    task_event_evidence,
    *("tenant_id", "received_at", "event_id"),
    where=task_event_evidence.c.conflict.is_not(None),
)
_index("task_event_evidence_by_task", task_event_evidence, "tenant_id", "task_id", "received_at")

task_event_dedup = _table(
    "task_event_dedup",
    Column("tenant_id", Id, nullable=False),
    Column("event_id", Id, nullable=False),
    Column("payload_hash", Hash, nullable=False),
    Column("answer", Json, nullable=False),
    Column("created_at", Millis, nullable=False),
    PrimaryKeyConstraint("tenant_id", "event_id"),
)
_index("task_event_dedup_by_age", task_event_dedup, "created_at", "tenant_id", "event_id")

command_result = _table(
    "command_result",
    Column("tenant_id", Id, nullable=False),
    Column("credential_id", Id, nullable=False),
    Column("idempotency_key", Key, nullable=False),
    Column("body_hash", Hash, nullable=False),
    Column("task_id", Id, nullable=False),
    Column("answer", Json, nullable=False),
    Column("created_at", Millis, nullable=False),
    PrimaryKeyConstraint("tenant_id", "credential_id", "idempotency_key"),
)
_index("command_result_by_task", command_result, "tenant_id", "task_id")

stream = _table(
    "stream",
    Column("tenant_id", Id, nullable=False),
    Column("top", Count, nullable=False),
    Column("floor", Count, nullable=False),
    Column("created_at", Millis, nullable=False),
    PrimaryKeyConstraint("tenant_id"),
    sqlite_with_rowid=False,
)

stream_log = _table(
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
    Column("body", Json),
    PrimaryKeyConstraint("tenant_id", "position"),
    sqlite_with_rowid=False,
)
_index("stream_log_by_user", stream_log, "tenant_id", "audience_user", "position")
_index("stream_log_by_project", stream_log, "tenant_id", "audience_project", "position")

_ONCE = ("tenant_id", "target", "aggregate_id", "aggregate_version", "channel", "projection")
task_outbox = _table(
    "task_outbox",
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
    UniqueConstraint(*_ONCE, name="task_outbox_once"),
)
_index("task_outbox_due", task_outbox, "status", "available_at")

service_credential = _table(
    "service_credential",
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

user_session = _table(
    "user_session",
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
_index("user_session_by_user", user_session, "tenant_id", "user_id")
_index("user_session_expired", user_session, "expires_at")

used_once = _table(
    "used_once",
    Column("kind", Word, nullable=False),
    Column("secret_hash", Hash, nullable=False),
    Column("body", Json, nullable=False),
    Column("expires_at", Millis, nullable=False),
    PrimaryKeyConstraint("kind", "secret_hash"),
)
_index("used_once_expired", used_once, "expires_at")

audit_log = _table(
    "audit_log",
    Column("audit_id", RowId, primary_key=True, autoincrement=True),
    Column("tenant_id", Id, nullable=False),
    Column("actor", Key, nullable=False),
    Column("action", Key, nullable=False),
    Column("subject", Key, nullable=False),
    Column("detail", Json, nullable=False),
    Column("at", Millis, nullable=False),
)
_index("audit_log_by_time", audit_log, "tenant_id", "at")

database_epoch = _table(
    "database_epoch",
    Column("only", Small, primary_key=True, autoincrement=False),
    Column("epoch", Word, nullable=False),
    Column("identity", Key, nullable=False),
    Column("since_at", Millis, nullable=False),
)

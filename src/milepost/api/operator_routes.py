"""The part of the table of routes that is for operators."""

from typing import Final

from milepost.api import operators
from milepost.api.endpoints import Endpoint, Query
from milepost.wire import answers, commands, operating

_PAGED = (
    Query("cursor", "The nextCursor of the page before."),
    Query("limit", "At most this many, 1 to 200.", "integer"),
)

FOR_OPERATORS: Final = (
    Endpoint(
        "POST",
        "/admin/v1/tasks/{task_id}:correct",
        operators.correct,
        "Set a task to the terminal state it is in truth in.",
        "viewer",
        {200: answers.TaskCorrected},
        commands.CorrectTask,
        (
            "TASK_UNKNOWN",
            "TASK_DELETED",
            "VERSION_CONFLICT",
            "ILLEGAL_TRANSITION",
            "BUSINESS_STATUS_UNKNOWN",
            "IDEMPOTENCY_KEY_CONFLICT",
        ),
        once=True,
    ),
    Endpoint(
        "GET",
        "/admin/v1/conflicts",
        operators.list_conflicts,
        "List terminal facts that contradicted an end, newest first.",
        "viewer",
        {200: operating.ConflictPage},
        query=(Query("state", "`open` (the default), `resolved` or `all`."), *_PAGED),
    ),
    Endpoint(
        "POST",
        "/admin/v1/conflicts/{event_id}:resolve",
        operators.resolve_conflict,
        "Settle a conflict with a note; again, the first answer stands.",
        "viewer",
        {200: operating.ConflictView},
        operating.ResolveConflict,
    ),
    Endpoint(
        "GET",
        "/admin/v1/audit",
        operators.audit,
        "Read the audit log, newest first.",
        "viewer",
        {200: operating.AuditPage},
        query=_PAGED,
    ),
    Endpoint(
        "GET",
        "/admin/v1/credentials",
        operators.credentials,
        "List the credentials that may act in the tenant, without secrets.",
        "viewer",
        {200: operating.CredentialList},
    ),
    Endpoint("GET", "/admin/v1/stats", operators.stats, "Counts of the tenant.", "viewer", {200: operating.Stats}),
)

"""Every route, in one table."""

from typing import Any, Final

from milepost.api import machinery, operators, sessions, tasks, viewers
from milepost.api.endpoints import Endpoint, Query
from milepost.wire import answers, commands
from milepost.wire.events import EventBody

_TASK = "/internal/v1/tasks/{task_id}"
_COMMON = ("TASK_UNKNOWN", "TASK_DELETED", "CONTEXT_MISMATCH")
_ATTEMPT = ("ATTEMPT_SUPERSEDED", "ATTEMPT_NOT_NEXT", "ATTEMPT_UNFINISHED", "CANCEL_PENDING")
_REPORT = (
    *_COMMON,
    "IDEMPOTENCY_KEY_MISMATCH",
    "TOKEN_EXPIRED",
    "TOKEN_INVALID",
    "ATTEMPT_UNKNOWN",
    "EVENT_ID_CONFLICT",
    "SOURCE_SEQ_CONFLICT",
    "CONFLICTING_TERMINAL",
    "ILLEGAL_TRANSITION",
    "PROGRESS_INVALID",
    "EVENT_TYPE_UNKNOWN",
    "BUSINESS_STATUS_UNKNOWN",
    "SCHEMA_UNKNOWN",
)

SERVICE_ROUTES: Final = (
    Endpoint(
        "POST",
        "/internal/v1/tasks",
        tasks.create,
        "Create a task with its known steps.",
        "service",
        {200: answers.TaskOpened, 201: answers.TaskOpened},
        commands.CreateTask,
        ("IDEMPOTENCY_KEY_CONFLICT", "TASK_ID_TAKEN", "TASK_TYPE_UNKNOWN", "SCHEMA_UNKNOWN", "NOT_FOUND"),
        once=True,
    ),
    Endpoint(
        "GET",
        "/internal/v1/tasks",
        tasks.find,
        "Find the task that a creation under an idempotency key made.",
        "service",
        {200: answers.ServiceSnapshot},
        codes=("NOT_FOUND", *_COMMON),
        query=(Query("idempotencyKey", "The key of the creation."),),
    ),
    Endpoint(
        "GET",
        _TASK,
        tasks.read,
        "Read one task: state, standing request to cancel, evidence.",
        "service",
        {200: answers.ServiceSnapshot},
        codes=_COMMON,
    ),
    Endpoint(
        "POST",
        _TASK + "/steps",
        tasks.add_steps,
        "Add steps to an unfinished task; its percentage may fall.",
        "service",
        {200: answers.TaskOpened, 201: answers.TaskOpened},
        commands.AddSteps,
        (*_COMMON, "TASK_FINISHED", "SCHEMA_UNKNOWN", "IDEMPOTENCY_KEY_CONFLICT"),
        once=True,
    ),
    Endpoint(
        "DELETE",
        _TASK,
        tasks.delete,
        "Delete a finished task; again, the same answer.",
        "service",
        {200: answers.TaskGone},
        codes=("TASK_UNKNOWN", "CONTEXT_MISMATCH", "TASK_UNFINISHED"),
    ),
    Endpoint(
        "PUT",
        _TASK + "/attempts/{number}",
        tasks.open_task_attempt,
        "Open a task attempt by number; the current number answers the same again.",
        "service",
        {200: answers.TaskOpened},
        commands.OpenTaskAttempt,
        (*_COMMON, *_ATTEMPT),
    ),
    Endpoint(
        "PUT",
        _TASK + "/steps/{step_id}/attempts/{number}",
        tasks.open_step_attempt,
        "Open a step attempt by number; the current number answers the same again.",
        "service",
        {200: answers.TaskOpened},
        commands.OpenStepAttempt,
        (*_COMMON, *_ATTEMPT, "TASK_FINISHED"),
    ),
    Endpoint(
        "POST",
        _TASK + "/steps/{step_id}/token",
        tasks.token,
        "Get a fresh execution token; a new source fences the older ones.",
        "service",
        {200: answers.Context},
        commands.FreshToken,
        (*_COMMON, "ATTEMPT_UNKNOWN", "ATTEMPT_SUPERSEDED"),
    ),
    Endpoint(
        "POST",
        _TASK + ":requestCancel",
        tasks.request_cancel,
        "Ask for a task to be cancelled.",
        "service",
        {200: answers.CancelAnswer},
        commands.RequestCancel,
        (*_COMMON, "IDEMPOTENCY_KEY_CONFLICT"),
        once=True,
    ),
    Endpoint(
        "POST",
        "/internal/v1/task-events",
        None,
        "Report one fact.",
        "execution",
        {200: answers.ReportAnswer},
        EventBody,
        _REPORT,
        once=True,
    ),
    Endpoint(
        "POST",
        "/internal/v1/task-events:batch",
        None,
        "Report up to 500 facts, each answered by itself.",
        "service",
        {200: answers.BatchAnswer},
        commands.ReportBatch,
    ),
    Endpoint(
        "POST",
        "/internal/v1/user-sessions",
        sessions.mint,
        "Mint a session for a user of the host product.",
        "service",
        {201: commands.SessionMade},
        commands.CreateSession,
        ("NOT_FOUND",),
    ),
    Endpoint(
        "DELETE",
        "/internal/v1/user-sessions/{session_id}",
        sessions.revoke,
        "End a session and its streams.",
        "service",
        {204: None},
    ),
)

_LIST = (
    Query("lifecycleStatus", "Only tasks in this lifecycle status."),
    Query("taskType", "Only tasks of this type."),
    Query("projectId", "Only tasks of this project."),
    Query("q", "Only tasks whose title or id holds this text."),
    Query("updatedAfter", "Only tasks updated after this instant."),
    Query("changedAfter", "What changed after this cursor, by ascending position."),
    Query("cursor", "The nextCursor of the page before."),
    Query("limit", "At most this many, 1 to 200.", "integer"),
)

VIEWER_ROUTES: Final = (
    Endpoint(
        "GET",
        "/api/tasks",
        viewers.list_tasks,
        "List tasks, newest created first.",
        "viewer",
        {200: (answers.TaskList, answers.TaskChanges)},
        codes=("CURSOR_EXPIRED",),
        query=_LIST,
    ),
    Endpoint(
        "POST",
        "/api/tasks/status:batchGet",
        viewers.batch_get,
        "Get what is newer than the versions a client knows.",
        "viewer",
        {200: answers.StatusBatch},
        commands.BatchGet,
    ),
    Endpoint(
        "GET",
        "/api/tasks/{task_id}",
        viewers.show,
        "Read one task in full.",
        "viewer",
        {200: answers.TaskSnapshot, 304: None},
        codes=("TASK_DELETED",),
        query=(Query("attempts", "`all` shows superseded attempts as well."),),
    ),
    Endpoint(
        "GET",
        "/api/tasks/{task_id}/events",
        viewers.timeline,
        "Read the timeline of one task.",
        "viewer",
        {200: answers.TimelinePage},
        codes=("TASK_DELETED", "CURSOR_EXPIRED"),
        query=(
            Query("afterTaskVersion", "Only events above this version.", "integer"),
            Query("limit", "At most this many, 1 to 500.", "integer"),
        ),
    ),
    Endpoint(
        "POST",
        "/api/tasks/{task_id}:requestCancel",
        viewers.request_cancel,
        "Ask for a task to be cancelled.",
        "viewer",
        {200: answers.CancelAnswer},
        commands.RequestCancel,
        ("TASK_DELETED", "IDEMPOTENCY_KEY_CONFLICT"),
        once=True,
    ),
    Endpoint(
        "POST",
        "/api/session",
        sessions.sign_in,
        "Exchange a link's code for a cookie.",
        "anyone",
        {201: commands.SessionState},
        commands.ExchangeCode,
        ("UNAUTHENTICATED", "FORBIDDEN", "NOT_FOUND", "UNAVAILABLE"),
    ),
    Endpoint("GET", "/api/session", sessions.who_am_i, "Who is signed in.", "viewer", {200: commands.SessionState}),
    Endpoint("DELETE", "/api/session", sessions.sign_out, "Sign out.", "viewer", {204: None}),
)

OPERATOR_ROUTES: Final = (
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
)

MACHINERY: Final = (
    Endpoint("GET", "/healthz", machinery.healthz, "Whether the process lives.", "anyone", {200: dict[str, Any]}),
    Endpoint(
        "GET",
        "/readyz",
        machinery.readyz,
        "Whether it can serve.",
        "anyone",
        {200: dict[str, Any]},
        codes=("UNAVAILABLE",),
    ),
    Endpoint(
        "GET",
        "/metrics",
        machinery.metrics,
        "Metrics in Prometheus' text form.",
        "insider",
        {200: None},
        codes=("NOT_FOUND",),
    ),
    Endpoint("GET", "/openapi.json", machinery.contract, "This document.", "insider", {200: dict[str, Any]}),
)

PAGES: Final = (
    Endpoint("GET", "/docs", machinery.docs, "The contract as a page.", "insider", {200: None}),
    Endpoint("GET", "/", machinery.page, "The console.", "anyone", {200: None}),
    Endpoint("GET", "/assets/{name}", machinery.asset, "The console's files.", "anyone", {200: None}),
)

DOCUMENTED: Final = (*SERVICE_ROUTES, *VIEWER_ROUTES, *OPERATOR_ROUTES, *MACHINERY)
EVERY: Final = (*DOCUMENTED, *PAGES)

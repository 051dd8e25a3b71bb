"""The shapes of a task and its steps on the wire, and how state becomes them. What is not here is never shown."""

from typing import Any, Literal

from msgspec import Struct

from milepost.domain.lifecycle import Health, Lifecycle
from milepost.domain.masks import Mask, shown
from milepost.domain.rules import ProgressMode, TaskRules
from milepost.domain.state import Step, Task
from milepost.domain.values import Data, DurationSource, ErrorCategory, Number, Progress, StructuredError
from milepost.wire.numbers import Decimal, Instant, instant, instant_or_none

Projection = Literal["USER_SUMMARY", "TASK_DETAIL", "PROJECT_BROADCAST"]


class DataView(Struct, frozen=True):
    """A typed payload."""

    schema: str
    value: Any


class ResultView(Struct, frozen=True, rename="camel"):
    """A reference to a result; opening it is a request of its own."""

    id: str
    title: str | None
    media_type: str | None
    size: int | None


class FailureView(Struct, frozen=True, rename="camel"):
    """Why a task failed, in words for its owner."""

    code: str
    user_message: str | None
    step_id: str | None


class TaskProgressView(Struct, frozen=True):
    """The progress of a whole task; `percent` is a whole number or null, `current` of `total` counts steps."""

    mode: Literal["STEPS", "WEIGHTED", "STAGES"]
    percent: int | None
    current: int | None
    total: int | None
    stage: str | None


class StepProgressView(Struct, frozen=True):
    """The progress of one step in its own unit."""

    current: Number
    total: Number | None
    unit: str | None


class ErrorView(Struct, frozen=True, rename="camel"):
    """A structured error, without its diagnostics reference."""

    category: ErrorCategory
    code: str
    retryable: bool
    user_message: str | None


class TaskView(Struct, frozen=True, rename="camel"):
    """A task as one audience may see it. `elapsedMs` and `asOf` are outside the version."""

    id: str
    tenant_id: str
    owner_id: str
    project_id: str | None
    product: str | None
    task_type: str
    title: str
    lifecycle_status: Lifecycle
    business_status: str
    health: Health
    attempt: int
    version: Decimal
    status_definition_version: int
    operation_definition_version: int
    progress: TaskProgressView | None
    current_step: str | None
    summary_data: DataView | None
    result_ref: ResultView | None
    failure: FailureView | None
    cancel_requested_at: Instant | None
    created_at: Instant
    started_at: Instant | None
    finished_at: Instant | None
    updated_at: Instant
    queue_duration_ms: int | None
    run_duration_ms: int | None
    total_duration_ms: int | None
    elapsed_ms: int | None
    as_of: Instant


class StepView(Struct, frozen=True, rename="camel"):
    """One attempt of one step. `lastSeenAt`, `elapsedMs` and `asOf` are outside the version."""

    id: str
    operation_code: str
    producer_id: str
    attempt: int
    version: Decimal
    lifecycle_status: Lifecycle
    business_status: str
    health: Health
    last_seen_at: Instant | None
    progress: StepProgressView | None
    stage: str | None
    message: str | None
    data: DataView | None
    error: ErrorView | None
    started_at: Instant | None
    finished_at: Instant | None
    duration_ms: int | None
    duration_source: DurationSource | None
    elapsed_ms: int | None
    as_of: Instant


def task_view(
    task: Task, now: int, rules: TaskRules | None = None, *, projection: Projection = "USER_SUMMARY"
) -> TaskView:
    """A task in one projection, as of `now` (UTC ms). Members of a project see no personal input and no result.

    Of its data only what the `rules` it is bound to whitelist is shown; without rules there is none.
    """
    wide = projection != "PROJECT_BROADCAST"
    mode = rules.mode if rules else "WEIGHTED"
    failure = task.failure
    result = task.result_ref if wide else None
    return TaskView(
        id=task.task_id,
        tenant_id=task.tenant_id,
        owner_id=task.owner_id,
        project_id=task.project_id,
        product=task.product,
        task_type=task.task_type,
        title=task.title,
        lifecycle_status=task.lifecycle,
        business_status=task.business_status,
        health=task.health,
        attempt=task.attempt,
        version=str(task.version),
        status_definition_version=task.definition_version,
        operation_definition_version=task.definition_version,
        progress=_task_progress(task, mode),
        current_step=task.current_step,
        summary_data=summary_data(task.summary, rules, projection) if wide else None,
        result_ref=ResultView(result.id, result.title, result.media_type, result.size) if result else None,
        failure=FailureView(failure.code, failure.user_message if wide else None, failure.step_id) if failure else None,
        cancel_requested_at=instant_or_none(task.cancel_requested_at),
        created_at=instant(task.created_at),
        started_at=instant_or_none(task.started_at),
        finished_at=instant_or_none(task.finished_at),
        updated_at=instant(task.updated_at),
        queue_duration_ms=None if task.started_at is None else max(0, task.started_at - task.opened_at),
        run_duration_ms=task.run_duration_ms,
        total_duration_ms=task.total_duration_ms,
        elapsed_ms=_elapsed(task.started_at, task.finished_at, now),
        as_of=instant(now),
    )


def step_view(step: Step, now: int, rules: TaskRules | None = None) -> StepView:
    """A step as an authorised viewer of its task may see it, as of `now` (UTC ms); its data by the rules' whitelist."""
    return StepView(
        id=step.step_id,
        operation_code=step.operation_code,
        producer_id=step.producer_id,
        attempt=step.attempt,
        version=str(step.version),
        lifecycle_status=step.lifecycle,
        business_status=step.business_status,
        health=step.health,
        last_seen_at=instant_or_none(step.last_seen_at),
        progress=progress_view(step.progress),
        stage=step.stage,
        message=step.message,
        data=operation_data(step.data, step.operation_code, rules),
        error=error_view(step.error),
        started_at=instant_or_none(step.started_at),
        finished_at=instant_or_none(step.finished_at),
        duration_ms=step.duration_ms,
        duration_source=step.duration_source,
        elapsed_ms=_elapsed(step.started_at, step.finished_at, now),
        as_of=instant(now),
    )


def progress_view(progress: Progress | None) -> StepProgressView | None:
    """A step's progress on the wire."""
    return StepProgressView(progress.current, progress.total, progress.unit) if progress else None


def operation_data(data: Data | None, operation_code: str | None, rules: TaskRules | None) -> DataView | None:
    """An operation's data as authorised viewers may see it."""
    if data is None or rules is None:
        return None
    return _data_view(data, rules.step_mask(operation_code, data.schema))


def summary_data(data: Data | None, rules: TaskRules | None, projection: Projection) -> DataView | None:
    """A task's summary data as one audience may see it."""
    if data is None or rules is None:
        return None
    return _data_view(data, rules.summary_mask(projection, data.schema))


def _data_view(data: Data, mask: Mask | None) -> DataView | None:
    part = shown(data.value, mask)
    return None if part is None else DataView(data.schema, part)


def error_view(error: StructuredError | None) -> ErrorView | None:
    """An error on the wire, without what is for operators only."""
    return ErrorView(error.category, error.code, error.retryable, error.user_message) if error else None


def _task_progress(task: Task, mode: ProgressMode) -> TaskProgressView | None:
    if mode == "STAGES":
        return TaskProgressView(mode, None, None, None, task.stage)
    if task.percent is None:
        return None
    return TaskProgressView(mode, task.percent, task.steps_done, task.steps_total, None)


def _elapsed(started: int | None, finished: int | None, now: int) -> int | None:
    return None if started is None else max(0, (now if finished is None else finished) - started)

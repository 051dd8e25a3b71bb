"""What the service answers to reports and commands."""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, field

from milepost.domain.lifecycle import Lifecycle
from milepost.wire.messages import TimelineItem
from milepost.wire.numbers import Decimal, Instant
from milepost.wire.views import StepView, TaskView


class StepStatus(Struct, frozen=True, rename="camel"):
    """The statuses of the step a report was about."""

    lifecycle_status: Lifecycle
    business_status: str


class Directives(Struct, frozen=True, rename="camel"):
    """What a worker should know now: whether to stop, and why. Computed anew even for a repeat."""

    cancel_requested: bool = False
    fenced: bool = False
    attempt_superseded: bool = False


class ReportAnswer(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The answer to one reported event. `accepted`, `duplicate` and `stale` are always there."""

    accepted: bool = field()
    duplicate: bool = field()
    stale: bool = field()
    task_id: str = field()
    step_id: str | None = field()
    task_version: Decimal = field()
    step_version: Decimal | None = field()
    lifecycle_status: Lifecycle = field()
    business_status: str = field()
    step: StepStatus | None = field()
    committed_at: Instant = field()
    directives: Directives | None = None
    merged: bool = False
    reason: str | None = None


class Context(Struct, frozen=True, rename="camel"):
    """Everything a worker needs to report on one attempt of one step, with a short-lived signed token."""

    tenant_id: str
    task_id: str
    task_type: str
    task_attempt: int
    step_id: str
    operation_code: str
    step_attempt: int
    producer_id: str
    source_epoch: int
    allowed_event_types: tuple[str, ...]
    status_definition_version: int
    operation_definition_version: int
    heartbeat_interval_ms: int
    execution_token: str
    expires_at: Instant
    definition_id: str | None = None
    """The published definition the task is bound to; null for the built-in one."""


class TaskOpened(Struct, frozen=True, rename="camel"):
    """The answer to a creation or to a new attempt: the facts, and a context for each step that may run."""

    task: TaskView
    steps: tuple[StepView, ...]
    contexts: tuple[Context, ...]


class CancelAnswer(Struct, frozen=True, rename="camel"):
    """The answer to a request to cancel; not accepted where the task has ended already."""

    accepted: bool
    lifecycle_status: Lifecycle
    task_version: Decimal


class Statuses(Struct, frozen=True, rename="camel"):
    """A task's two statuses."""

    lifecycle_status: Lifecycle
    business_status: str


class TaskCorrected(Struct, frozen=True, rename="camel"):
    """The answer to a correction: what the task is now, in which version, and what it was."""

    task_id: str
    task_version: Decimal
    lifecycle_status: Lifecycle
    business_status: str
    previous: Statuses


class TaskGone(Struct, frozen=True, rename="camel"):
    """The answer to a deletion, the first and every later one: the tombstone's version and since when it stands."""

    task_id: str
    task_version: Decimal
    deleted_at: Instant


class TaskSnapshot(Struct, frozen=True, rename="camel"):
    """The complete state of one task and the cursor from which its stream goes on."""

    task: TaskView
    steps: tuple[StepView, ...]
    epoch: str
    stream_cursor: str


class EvidenceView(Struct, frozen=True, rename="camel"):
    """A fact that changed nothing, and why."""

    event_id: str
    event_type: str
    reason: str
    step_id: str | None
    task_attempt: int
    step_attempt: int | None
    source_epoch: int | None
    source_seq: Decimal | None
    task_version: Decimal
    lifecycle_status: Lifecycle
    received_at: Instant


class ServiceSnapshot(Struct, frozen=True, rename="camel"):
    """What a coordinator needs to recover: the state, a standing request to cancel, and the evidence."""

    task: TaskView
    steps: tuple[StepView, ...]
    cancel_requested: bool
    cancel_requested_by: str | None
    evidence: tuple[EvidenceView, ...]
    epoch: str
    stream_cursor: str


class TaskList(Struct, frozen=True, rename="camel"):
    """One page of tasks, newest created first; `streamCursor` is that of the first page."""

    items: tuple[TaskView, ...]
    next_cursor: str | None
    as_of: Instant
    epoch: str
    stream_cursor: str


class TaskChanges(Struct, frozen=True, rename="camel"):
    """What changed after a cursor, by ascending position, with the ids of removed tasks."""

    items: tuple[TaskView, ...]
    removed: tuple[str, ...]
    next_cursor: str
    more: bool
    as_of: Instant
    epoch: str


class StatusBatch(Struct, frozen=True, rename="camel"):
    """What is newer than the versions a client knows; ids that are gone for it."""

    items: tuple[TaskView, ...]
    details: tuple[TaskSnapshot, ...]
    gone: tuple[str, ...]
    as_of: Instant
    epoch: str


class TimelinePage(Struct, frozen=True, rename="camel"):
    """Events of one task by ascending version; `nextAfterTaskVersion` is null at the end."""

    items: tuple[TimelineItem, ...]
    next_after_task_version: Decimal | None


class ReportResult(ReportAnswer, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """The answer to one event of a batch."""

    status: Literal[200]


_RESULTS: Final = [{"$ref": f"#/components/schemas/{name}"} for name in ("ReportResult", "Problem")]
Result = Annotated[dict[str, Any], Meta(extra_json_schema={"anyOf": _RESULTS})]


class BatchAnswer(Struct, frozen=True):
    """One result for each event of a batch, in the same order: an answer or a problem, each with its `status`."""

    results: tuple[Result, ...]

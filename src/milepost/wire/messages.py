"""What a stream carries: each message is a complete current state with a version, never a patch."""

from typing import Literal

from msgspec import Struct

from milepost.domain.clocks import ClockMark
from milepost.domain.events import Event
from milepost.domain.notices import Level, Notice
from milepost.domain.rules import TaskRules
from milepost.wire.numbers import Decimal, Instant, instant
from milepost.wire.views import (
    DataView,
    ErrorView,
    StepProgressView,
    StepView,
    TaskView,
    error_view,
    operation_data,
    progress_view,
    summary_data,
)

SCHEMA_VERSION = 1


class TriggerEvent(Struct, frozen=True, rename="camel"):
    """The event that made a version, in short."""

    event_id: str
    event_type: str
    step_id: str | None
    operation_code: str | None
    duration_ms: int | None
    data: DataView | None
    error: ErrorView | None
    committed_at: Instant


class TaskSummary(Struct, frozen=True, rename="camel", tag_field="kind", tag="task.summary"):
    """A task of one's own or of one's project, as it is now.

    A `notice` is shown once by its id, whatever the version says, and never where the message is `replayed`.
    """

    schema_version: int
    epoch: str
    position: Decimal
    task_id: str
    version: Decimal
    committed_at: Instant
    task: TaskView
    notice: Notice | None = None
    replayed: bool = False


class TaskDetail(Struct, frozen=True, rename="camel", tag_field="kind", tag="task.detail"):
    """A task with all its steps. Above the size limit `steps` is null and `refetch` true: read the snapshot."""

    schema_version: int
    epoch: str
    position: Decimal
    task_id: str
    version: Decimal
    committed_at: Instant
    task: TaskView
    steps: tuple[StepView, ...] | None
    trigger_event: TriggerEvent | None = None
    refetch: bool = False
    replayed: bool = False


class TaskRemoved(Struct, frozen=True, rename="camel", tag_field="kind", tag="task.removed"):
    """A task is gone; clients keep a tombstone with this version."""

    schema_version: int
    epoch: str
    position: Decimal
    task_id: str
    version: Decimal
    committed_at: Instant
    replayed: bool = False


class Hello(Struct, frozen=True, rename="camel", tag_field="kind", tag="hello"):
    """The first message of every stream: whether it resumed, and from which cursor it goes on."""

    schema_version: int
    epoch: str
    resumed: bool
    cursor: str


class Reset(Struct, frozen=True, rename="camel", tag_field="kind", tag="reset"):
    """The stream could not be resumed: take a snapshot, then go on from `cursor`."""

    schema_version: int
    epoch: str
    cursor: str
    reason: Literal["BEHIND", "FLOOR", "EPOCH", "FUTURE"]


class AccessGranted(Struct, frozen=True, rename="camel", tag_field="kind", tag="access.granted"):
    """The viewer may see a project from here on; the client loads its list."""

    schema_version: int
    epoch: str
    position: Decimal
    committed_at: Instant
    project_id: str
    replayed: bool = False


class AccessRevoked(Struct, frozen=True, rename="camel", tag_field="kind", tag="access.revoked"):
    """The viewer may not see a project any more; the client drops what only it showed."""

    schema_version: int
    epoch: str
    position: Decimal
    committed_at: Instant
    project_id: str
    replayed: bool = False


class NoticeRead(Struct, frozen=True, rename="camel", tag_field="kind", tag="notice.read"):
    """Another device marked notifications as read: those named by `ids`, or all up to the cursor `upTo`."""

    schema_version: int
    epoch: str
    position: Decimal
    committed_at: Instant
    ids: tuple[str, ...] | None
    up_to: str | None
    replayed: bool = False


class BroadcastProject(Struct, frozen=True, rename="camel", tag_field="kind", tag="broadcast.project"):
    """Something for everybody in a project; shown once by its id, and not after `validUntil`."""

    schema_version: int
    epoch: str
    position: Decimal
    committed_at: Instant
    project_id: str
    id: str
    level: Level
    title: str
    message: str
    valid_until: Instant
    replayed: bool = False


class BroadcastTenant(Struct, frozen=True, rename="camel", tag_field="kind", tag="broadcast.tenant"):
    """Something for everybody in the tenant; shown once by its id, and not after `validUntil`."""

    schema_version: int
    epoch: str
    position: Decimal
    committed_at: Instant
    id: str
    level: Level
    title: str
    message: str
    valid_until: Instant
    replayed: bool = False


class BroadcastSystem(Struct, frozen=True, rename="camel", tag_field="kind", tag="broadcast.system"):
    """Something for everyone online. It has no position, and comes again with every connection while it is in force."""

    schema_version: int
    id: str
    level: Level
    title: str
    message: str
    valid_until: Instant


Message = (
    TaskSummary
    | TaskDetail
    | TaskRemoved
    | AccessGranted
    | AccessRevoked
    | NoticeRead
    | BroadcastProject
    | BroadcastTenant
    | BroadcastSystem
    | Hello
    | Reset
)


class TimelineItem(Struct, frozen=True, rename="camel"):
    """One committed event of a task, as an authorised viewer may read it."""

    event_id: str
    event_type: str
    step_id: str | None
    operation_code: str | None
    duration_ms: int | None
    data: DataView | None
    error: ErrorView | None
    committed_at: Instant
    task_version: Decimal
    step_version: Decimal | None
    task_attempt: int
    step_attempt: int | None
    producer_id: str
    lifecycle_status: str
    business_status: str
    step_lifecycle_status: str | None
    step_business_status: str | None
    health: str
    occurred_at: Instant
    gap: bool
    derived: bool
    message: str | None
    stage: str | None
    reason: str | None
    progress: StepProgressView | None
    clock: ClockMark | None = None
    """SUSPECT where `occurredAt` cannot be right; the service's own instants are not affected."""


def trigger(event: Event, rules: TaskRules | None = None) -> TriggerEvent:
    """The short form of an event; its data by the rules' whitelist."""
    return TriggerEvent(
        event.event_id,
        event.event_type,
        event.step_id,
        event.operation_code,
        event.duration_ms,
        _data(event, rules),
        error_view(event.public.error),
        instant(event.committed_at),
    )


def timeline_item(event: Event, rules: TaskRules | None = None) -> TimelineItem:
    """The long form of an event, for the timeline; its data by the rules' whitelist."""
    said = event.public
    return TimelineItem(
        event_id=event.event_id,
        event_type=event.event_type,
        step_id=event.step_id,
        operation_code=event.operation_code,
        duration_ms=event.duration_ms,
        data=_data(event, rules),
        error=error_view(said.error),
        committed_at=instant(event.committed_at),
        task_version=str(event.task_version),
        step_version=None if event.step_version is None else str(event.step_version),
        task_attempt=event.task_attempt,
        step_attempt=event.step_attempt,
        producer_id=event.producer_id,
        lifecycle_status=event.lifecycle,
        business_status=event.business_status,
        step_lifecycle_status=event.step_lifecycle,
        step_business_status=event.step_business_status,
        health=event.health,
        occurred_at=instant(event.occurred_at),
        gap=event.gap,
        derived=event.derived,
        message=said.message,
        stage=said.stage,
        reason=said.reason,
        progress=progress_view(said.progress),
        clock=said.clock,
    )


def _data(event: Event, rules: TaskRules | None) -> DataView | None:
    if event.step_id is None:
        return summary_data(event.public.data, rules, "TASK_DETAIL")
    return operation_data(event.public.data, event.operation_code, rules)

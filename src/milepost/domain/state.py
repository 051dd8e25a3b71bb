"""The authoritative state of a task: one task row and the current attempt of each of its steps."""

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct

from milepost.domain.lifecycle import ENDS, FailurePolicy, Health, Lifecycle
from milepost.domain.values import Data, DurationSource, Failure, Number, Progress, ResultRef, StructuredError


class TaskKey(NamedTuple):
    """The key of everything: the tenant first, so that no tenant can learn of or block another's ids."""

    tenant_id: str
    task_id: str


class Pending(Struct, frozen=True, omit_defaults=True):
    """Progress that was accepted and merged, but is not yet a version; the flusher makes it one.

    Source and sequence are those of the last merged fact; `gap` says that one before it is missing.
    """

    event_id: str
    since: int
    occurred_at: int
    received_at: int
    source_epoch: int
    source_seq: int
    gap: bool = False
    progress: Progress | None = None
    message: str | None = None
    business_status: str | None = None
    data: Data | None = None
    age_ms: int | None = None


class Step(Struct, frozen=True):
    """One attempt of one step. `current` is true for the newest attempt; older ones are history.

    `stale_after_ms` is its limit of silence, `patience_ms` the longer one that holds for signs of life before `calm_at`
    after it was STALE. `silent_since` is the last sign of life a STALE verdict rests on.
    """

    tenant_id: str
    task_id: str
    step_id: str
    attempt: int
    task_attempt: int
    current: bool
    ordinal: int
    weight: Number
    on_failure: FailurePolicy
    operation_code: str
    producer_id: str
    source_epoch: int
    source_seq: int
    version: int
    lifecycle: Lifecycle
    business_status: str
    health: Health
    last_seen_at: int | None
    progress: Progress | None
    stage: str | None
    message: str | None
    progressed_at: int | None
    pending: Pending | None
    data: Data | None
    opened_at: int
    started_at: int | None
    started_derived: bool
    finished_at: int | None
    duration_ms: int | None
    duration_source: DurationSource | None
    error: StructuredError | None
    updated_at: int
    stale_after_ms: int = 60_000
    patience_ms: int = 60_000
    calm_at: int | None = None
    silent_since: int | None = None
    escalated: bool = False

    @property
    def ended(self) -> bool:
        """Whether this attempt has reached a terminal state."""
        return self.lifecycle in ENDS


class Task(Struct, frozen=True):
    """One task. `last_position` is the stream position of its newest entry; times are UTC milliseconds.

    `cancel_unanswered_at` says when a request to cancel was found unanswered after `cancel_deadline_ms`.
    """

    tenant_id: str
    task_id: str
    owner_id: str
    project_id: str | None
    coordinator_id: str
    product: str | None
    task_type: str
    title: str
    definition_version: int
    lifecycle: Lifecycle
    business_status: str
    attempt: int
    source_seq: int | None
    version: int
    last_position: int
    health: Health
    percent: int | None
    steps_done: int
    steps_total: int
    stage: str | None
    current_step: str | None
    summary: Data | None
    result_ref: ResultRef | None
    failure: Failure | None
    cancel_requested_at: int | None
    cancel_requested_by: str | None
    created_at: int
    opened_at: int
    started_at: int | None
    finished_at: int | None
    run_duration_ms: int | None
    total_duration_ms: int | None
    updated_at: int
    deleted_at: int | None
    cancel_deadline_ms: int = 60_000
    cancel_unanswered_at: int | None = None
    definition_id: str | None = None
    """The published definition it was bound to when it was made; None: the built-in one."""

    @property
    def key(self) -> TaskKey:
        """The tenant-first key of this task."""
        return TaskKey(self.tenant_id, self.task_id)

    @property
    def ended(self) -> bool:
        """Whether the current attempt has reached a terminal state."""
        return self.lifecycle in ENDS


class TaskState(NamedTuple):
    """A task and the current attempt of each step, by step id."""

    task: Task
    steps: Mapping[str, Step]

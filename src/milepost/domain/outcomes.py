"""What a decision can answer: expected things are data, only surprising things are exceptions."""

from typing import Literal, TypeAlias

from msgspec import Struct

from milepost.domain.events import Event, EvidenceReason
from milepost.domain.state import Step, Task

RefusalCode: TypeAlias = Literal[
    "CONTEXT_MISMATCH",
    "NOT_FOUND",
    "TASK_UNKNOWN",
    "ATTEMPT_UNKNOWN",
    "EVENT_ID_CONFLICT",
    "SOURCE_SEQ_CONFLICT",
    "CONFLICTING_TERMINAL",
    "ILLEGAL_TRANSITION",
    "IDEMPOTENCY_KEY_CONFLICT",
    "TASK_ID_TAKEN",
    "ATTEMPT_SUPERSEDED",
    "ATTEMPT_NOT_NEXT",
    "ATTEMPT_UNFINISHED",
    "CANCEL_PENDING",
    "TASK_FINISHED",
    "TASK_UNFINISHED",
    "TASK_DELETED",
    "VERSION_CONFLICT",
    "FIELD_INVALID",
    "BUSINESS_STATUS_UNKNOWN",
    "TASK_TYPE_UNKNOWN",
    "OPERATION_UNKNOWN",
    "SCHEMA_UNKNOWN",
]

StaleReason: TypeAlias = Literal["TERMINAL", "ATTEMPT_SUPERSEDED", "SOURCE_FENCED", "OLD_SEQUENCE", "ALREADY_DECIDED"]


class Accepted(Struct, frozen=True):
    """A change: the next task, the steps that changed (new rows included) and the event that says so.

    `event` is absent for a change that makes no version, such as a new source.
    """

    task: Task
    steps: tuple[Step, ...] = ()
    event: Event | None = None


class Merged(Struct, frozen=True):
    """Progress that was taken in without a version: only the step's row moves."""

    step: Step


class Unchanged(Struct, frozen=True):
    """A command that finds its effect there already; `task` is the state it found. Success."""

    task: Task


class Repeated(Struct, frozen=True):
    """A terminal fact that says again what the state already says, under another event id. Success."""


class Stale(Struct, frozen=True):
    """A fact that comes too late to change anything; answered with success and kept as evidence."""

    reason: StaleReason


class Refused(Struct, frozen=True):
    """A fact or command that is not allowed; nothing changes. `evidence`: under which reason it is kept."""

    code: RefusalCode
    detail: str
    pointer: str | None = None
    evidence: EvidenceReason | None = None


Decision: TypeAlias = Accepted | Merged | Unchanged | Repeated | Stale | Refused

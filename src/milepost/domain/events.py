"""What a decision leaves behind: the immutable event, the evidence and the stream entry."""

from typing import Literal, TypeAlias

from msgspec import Struct

from milepost.domain.clocks import ClockMark
from milepost.domain.lifecycle import Health, Lifecycle
from milepost.domain.values import Data, DurationSource, Progress, ResultRef, StructuredError

SERVICE: str = "milepost"
"""The producer of every event the service makes itself."""

EvidenceReason: TypeAlias = Literal[
    "ATTEMPT_SUPERSEDED",
    "SOURCE_FENCED",
    "OLD_SEQUENCE",
    "TERMINAL",
    "ALREADY_DECIDED",
    "CONFLICTING_TERMINAL",
    "TERMINAL_REPEATED",
]


class PublicFacts(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What an event said that an authorised viewer may read in the timeline."""

    stage: str | None = None
    progress: Progress | None = None
    message: str | None = None
    error: StructuredError | None = None
    data: Data | None = None
    failed_step_id: str | None = None
    result_ref: ResultRef | None = None
    duration_source: DurationSource | None = None
    reason: str | None = None
    clock: ClockMark | None = None


class PrivateFacts(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What an event said that stays on the server."""

    trace_id: str | None = None
    execution_log_url: str | None = None
    retry_count: int | None = None
    diagnostics_ref: str | None = None
    operator: str | None = None


class Event(Struct, frozen=True):
    """One committed change. It stores its own facts, never a whole state; statuses are those it led to."""

    tenant_id: str
    task_id: str
    task_version: int
    event_id: str
    event_type: str
    step_id: str | None
    operation_code: str | None
    step_version: int | None
    task_attempt: int
    step_attempt: int | None
    producer_id: str
    source_epoch: int | None
    source_seq: int | None
    gap: bool
    derived: bool
    lifecycle: Lifecycle
    business_status: str
    health: Health
    step_lifecycle: Lifecycle | None
    step_business_status: str | None
    data_schema: str | None
    error_code: str | None
    occurred_at: int
    age_ms: int | None
    received_at: int
    committed_at: int
    duration_ms: int | None
    public: PublicFacts
    private: PrivateFacts


class Evidence(Struct, frozen=True):
    """A fact that was ignored, stale, fenced or in conflict: kept, without a version, once per event id and reason."""

    tenant_id: str
    event_id: str
    reason: EvidenceReason
    task_id: str
    step_id: str | None
    event_type: str
    producer_id: str
    task_attempt: int
    step_attempt: int | None
    source_epoch: int | None
    source_seq: int | None
    task_version: int
    lifecycle: Lifecycle
    step_lifecycle: Lifecycle | None
    payload: PublicFacts
    occurred_at: int
    received_at: int


class StreamEntry(Struct, frozen=True):
    """What viewers must learn, in commit order. Storage numbers entries.

    `body` is JSON: the notice of a task's event, where it has one, and what a kind without a task says.
    """

    tenant_id: str
    kind: Literal["task", "task.removed", "access.granted", "access.revoked", "broadcast", "notice.read"]
    committed_at: int
    task_id: str | None = None
    task_version: int | None = None
    audience_user: str | None = None
    audience_project: str | None = None
    mergeable: bool = False
    body: str | None = None

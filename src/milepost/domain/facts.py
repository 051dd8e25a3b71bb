"""What a producer or a coordinator reports: one business fact, already parsed and normalised."""

from msgspec import Struct

from milepost.domain.values import Data, DurationSource, Progress, ResultRef, StructuredError


class Fact(Struct, frozen=True):
    """One reported event.

    `payload_hash` covers what the event says and nothing about its delivery. `received_at` is when the service got it;
    `age_ms` how long the producer had held it, by its monotonic clock.
    """

    event_id: str
    tenant_id: str
    task_id: str
    task_type: str
    task_attempt: int
    producer_id: str
    event_type: str
    occurred_at: int
    received_at: int
    payload_hash: bytes
    step_id: str | None = None
    operation_code: str | None = None
    step_attempt: int | None = None
    source_epoch: int | None = None
    source_seq: int | None = None
    business_status: str | None = None
    stage: str | None = None
    age_ms: int | None = None
    duration_ms: int | None = None
    duration_source: DurationSource | None = None
    progress: Progress | None = None
    message: str | None = None
    error: StructuredError | None = None
    failed_step_id: str | None = None
    result_ref: ResultRef | None = None
    health: str | None = None
    reason: str | None = None
    data: Data | None = None
    trace_id: str | None = None
    execution_log_url: str | None = None
    retry_count: int | None = None
    genuine_token: bool = False
    """True when an execution token vouched for it: only then may it carry a source epoch above the step's."""
    by_policy: bool = False
    """True when a registered policy executor reports it: it may fail a task where a step's policy asks for it."""

    @property
    def happened_at(self) -> int:
        """The server-side instant of the fact: when it arrived less the age its producer measured."""
        return self.received_at - (self.age_ms or 0)


class Heartbeat(Struct, frozen=True):
    """A bare sign of life of one step attempt: no event id, no sequence, no version."""

    tenant_id: str
    task_id: str
    task_attempt: int
    step_id: str
    step_attempt: int
    operation_code: str
    producer_id: str
    source_epoch: int | None
    genuine_token: bool = False

"""Turns a decided fact into the immutable event and into evidence."""

from msgspec.structs import replace

from milepost.domain.clocks import clock_mark
from milepost.domain.events import SERVICE, Event, Evidence, EvidenceReason, PrivateFacts, PublicFacts
from milepost.domain.facts import Fact
from milepost.domain.state import Step, Task, TaskState


def public_facts(fact: Fact) -> PublicFacts:
    """What the fact says, without anything that must stay on the server."""
    return PublicFacts(
        stage=fact.stage,
        progress=fact.progress,
        message=fact.message,
        error=fact.error,
        data=fact.data,
        failed_step_id=fact.failed_step_id,
        result_ref=fact.result_ref,
        duration_source=fact.duration_source,
        reason=fact.reason,
    )


def private_facts(fact: Fact) -> PrivateFacts:
    """What the fact says about its delivery and its origin; never shown to viewers."""
    return PrivateFacts(
        trace_id=fact.trace_id,
        execution_log_url=fact.execution_log_url,
        retry_count=fact.retry_count,
        diagnostics_ref=fact.error.diagnostics_ref if fact.error else None,
    )


def event_of(fact: Fact, task: Task, step: Step | None, now: int, *, gap: bool = False, derived: bool = False) -> Event:
    """The event of an accepted fact, with the statuses it led to."""
    mark = clock_mark(fact.occurred_at, fact.received_at, fact.age_ms, task.created_at)
    public = replace(public_facts(fact), clock=mark)
    return replace(
        service_event(fact.event_id, fact.event_type, task, step, now, fact.producer_id, public),
        source_epoch=step.source_epoch if step else None,
        source_seq=fact.source_seq,
        gap=gap,
        derived=derived,
        data_schema=fact.data.schema if fact.data else None,
        error_code=fact.error.code if fact.error else None,
        occurred_at=fact.occurred_at,
        age_ms=fact.age_ms,
        received_at=fact.received_at,
        duration_ms=fact.duration_ms,
        private=private_facts(fact),
    )


def service_event(
    event_id: str,
    event_type: str,
    task: Task,
    step: Step | None,
    now: int,
    producer_id: str = SERVICE,
    public: PublicFacts | None = None,
) -> Event:
    """An event that the service makes itself, such as the creation or a new attempt."""
    return Event(
        tenant_id=task.tenant_id,
        task_id=task.task_id,
        task_version=task.version,
        event_id=event_id,
        event_type=event_type,
        step_id=step.step_id if step else None,
        operation_code=step.operation_code if step else None,
        step_version=step.version if step else None,
        task_attempt=task.attempt,
        step_attempt=step.attempt if step else None,
        producer_id=producer_id,
        source_epoch=None,
        source_seq=None,
        gap=False,
        derived=False,
        lifecycle=task.lifecycle,
        business_status=task.business_status,
        health=task.health,
        step_lifecycle=step.lifecycle if step else None,
        step_business_status=step.business_status if step else None,
        data_schema=None,
        error_code=None,
        occurred_at=now,
        age_ms=None,
        received_at=now,
        committed_at=now,
        duration_ms=None,
        public=public or PublicFacts(),
        private=PrivateFacts(),
    )


def evidence_of(fact: Fact, state: TaskState, reason: EvidenceReason) -> Evidence:
    """The record of a fact that changed nothing, with the state it met."""
    step = state.steps.get(fact.step_id) if fact.step_id else None
    return Evidence(
        tenant_id=fact.tenant_id,
        event_id=fact.event_id,
        reason=reason,
        task_id=fact.task_id,
        step_id=fact.step_id,
        event_type=fact.event_type,
        producer_id=fact.producer_id,
        task_attempt=fact.task_attempt,
        step_attempt=fact.step_attempt,
        source_epoch=fact.source_epoch,
        source_seq=fact.source_seq,
        task_version=state.task.version,
        lifecycle=state.task.lifecycle,
        step_lifecycle=step.lifecycle if step else None,
        payload=public_facts(fact),
        occurred_at=fact.occurred_at,
        received_at=fact.received_at,
    )

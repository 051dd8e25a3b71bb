"""Creates a task with its known steps: the first version and the first event come with it, or nothing does."""

from collections.abc import Iterable

from msgspec import Struct

from milepost.domain import progress as progress_rules
from milepost.domain.lifecycle import FailurePolicy
from milepost.domain.outcomes import Accepted, Refused
from milepost.domain.rules import TaskRules
from milepost.domain.state import Step, Task, TaskKey
from milepost.domain.trace import service_event
from milepost.domain.values import Data, Number


class StepDraft(Struct, frozen=True):
    """A step as its coordinator plans it."""

    step_id: str
    operation_code: str
    producer_id: str
    weight: Number = 1
    on_failure: FailurePolicy = "FAIL_TASK"
    data: Data | None = None


class TaskDraft(Struct, frozen=True):
    """A task as its coordinator plans it; ids are normalised already."""

    tenant_id: str
    task_id: str
    owner_id: str
    task_type: str
    title: str
    steps: tuple[StepDraft, ...] = ()
    project_id: str | None = None
    product: str | None = None
    summary: Data | None = None


def create(draft: TaskDraft, coordinator_id: str, rules: TaskRules, event_id: str, now: int) -> Accepted | Refused:
    """Version 1 of a new task, its steps in attempt 1, and TASK_CREATED."""
    index = doubled(draft.steps)
    if index is not None:
        return Refused("FIELD_INVALID", "Two steps have the same id.", f"/steps/{index}/stepId")
    key = TaskKey(draft.tenant_id, draft.task_id)
    steps = tuple(first_attempt(key, 1, place, plan, rules, now) for place, plan in enumerate(draft.steps))
    task = Task(
        tenant_id=draft.tenant_id,
        task_id=draft.task_id,
        owner_id=draft.owner_id,
        project_id=draft.project_id,
        coordinator_id=coordinator_id,
        product=draft.product,
        task_type=draft.task_type,
        title=draft.title,
        definition_version=rules.version,
        lifecycle="PENDING",
        business_status=rules.default_status["PENDING"],
        attempt=1,
        source_seq=None,
        version=1,
        last_position=0,
        health="HEALTHY",
        percent=None,
        steps_done=0,
        steps_total=0,
        stage=None,
        current_step=None,
        summary=draft.summary,
        result_ref=None,
        failure=None,
        cancel_requested_at=None,
        cancel_requested_by=None,
        created_at=now,
        opened_at=now,
        started_at=None,
        finished_at=None,
        run_duration_ms=None,
        total_duration_ms=None,
        updated_at=now,
        deleted_at=None,
        cancel_deadline_ms=rules.cancel_deadline_ms,
    )
    counted = progress_rules.recounted(task, steps, mode=rules.mode)
    return Accepted(counted, steps, service_event(event_id, "TASK_CREATED", counted, None, now))


def doubled(plans: Iterable[StepDraft], taken: Iterable[str] = ()) -> int | None:
    """The place of the first plan whose id is taken already or stands before it; None where all differ."""
    seen = set(taken)
    for index, plan in enumerate(plans):
        if plan.step_id in seen:
            return index
        seen.add(plan.step_id)
    return None


def first_attempt(key: TaskKey, task_attempt: int, ordinal: int, plan: StepDraft, rules: TaskRules, now: int) -> Step:
    """A planned step as it begins: in its own first attempt, inside this attempt of its task."""
    return Step(
        tenant_id=key.tenant_id,
        task_id=key.task_id,
        step_id=plan.step_id,
        attempt=1,
        task_attempt=task_attempt,
        current=True,
        ordinal=ordinal,
        weight=plan.weight,
        on_failure=plan.on_failure,
        operation_code=plan.operation_code,
        producer_id=plan.producer_id,
        source_epoch=1,
        source_seq=0,
        version=1,
        lifecycle="PENDING",
        business_status=rules.default_status["PENDING"],
        health="HEALTHY",
        last_seen_at=None,
        progress=None,
        stage=None,
        message=None,
        progressed_at=None,
        pending=None,
        data=plan.data,
        opened_at=now,
        started_at=None,
        started_derived=False,
        finished_at=None,
        duration_ms=None,
        duration_source=None,
        error=None,
        updated_at=now,
        stale_after_ms=rules.stale_after_ms,
        patience_ms=rules.stale_after_ms,
    )

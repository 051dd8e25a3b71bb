"""Creates a task with its known steps: the first version and the first event come with it, or nothing does."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from milepost.domain import progress as progress_rules
from milepost.domain.lifecycle import FailurePolicy
from milepost.domain.outcomes import Accepted, Refused
from milepost.domain.policies import policy_of
from milepost.domain.rules import OperationRules, TaskRules
from milepost.domain.state import Step, Task, TaskKey
from milepost.domain.trace import service_event
from milepost.domain.values import Data, Number


class StepDraft(Struct, frozen=True):
    """A step as its coordinator plans it; weight and policy are its operation's where it does not say."""

    step_id: str
    operation_code: str
    producer_id: str
    weight: Number | None = None
    on_failure: FailurePolicy | None = None
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
    steps = first_attempts(TaskKey(draft.tenant_id, draft.task_id), 1, draft.steps, 0, rules, now)
    if isinstance(steps, Refused):
        return steps
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
        definition_id=rules.definition_id,
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


def first_attempts(
    key: TaskKey, task_attempt: int, plans: Sequence[StepDraft], start: int, rules: TaskRules, now: int
) -> tuple[Step, ...] | Refused:
    """Planned steps as they begin, numbered from `start`; or why the definition does not allow one of them."""
    steps: list[Step] = []
    for index, plan in enumerate(plans):
        operation = rules.operation(plan.operation_code)
        if operation is None or not operation.enabled:
            place = f"/steps/{index}/operationCode"
            return Refused("OPERATION_UNKNOWN", "The definition does not know this operation.", place)
        if not operation.takes(plan.producer_id):
            place = f"/steps/{index}/producerId"
            return Refused("CONTEXT_MISMATCH", f"{operation.code} is for {operation.producer} only.", place)
        policy = policy_of(operation, plan.on_failure)
        if isinstance(policy, Refused):
            return replace(policy, pointer=f"/steps/{index}/onFailure")
        weight = operation.weight or 1 if plan.weight is None else plan.weight
        settled = replace(plan, weight=weight, on_failure=policy)
        steps.append(_first_attempt(key, task_attempt, start + index, settled, operation, rules, now))
    return tuple(steps)


def _first_attempt(
    key: TaskKey,
    task_attempt: int,
    ordinal: int,
    plan: StepDraft,
    operation: OperationRules,
    rules: TaskRules,
    now: int,
) -> Step:
    return Step(
        tenant_id=key.tenant_id,
        task_id=key.task_id,
        step_id=plan.step_id,
        attempt=1,
        task_attempt=task_attempt,
        current=True,
        ordinal=ordinal,
        weight=plan.weight or 1,
        on_failure=plan.on_failure or "FAIL_TASK",
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
        stale_after_ms=operation.stale_after_ms,
        patience_ms=operation.stale_after_ms,
    )

"""Corrects a task that ended wrongly, or never: an operator's command, and the only way out of a terminal state.

It leads to a terminal state only, and absorbs like any. Going back to work is a new attempt.
"""

from msgspec import Struct
from msgspec.structs import replace

from milepost.domain.events import PrivateFacts, PublicFacts
from milepost.domain.lifecycle import End
from milepost.domain.outcomes import Accepted, Refused, Unchanged
from milepost.domain.rules import TaskRules
from milepost.domain.state import Task, TaskState
from milepost.domain.steps import ended_health
from milepost.domain.tasks import settled
from milepost.domain.trace import service_event
from milepost.domain.values import Failure

CORRECTED = "CORRECTED"
"""The failure code of a task that was found to have failed."""


class Correction(Struct, frozen=True):
    """What an operator says the truth is, why, and on which version of the task this was judged."""

    lifecycle: End
    business_status: str | None
    reason: str
    expected_version: int
    operator: str
    event_id: str


def correct(state: TaskState, said: Correction, rules: TaskRules, now: int) -> Accepted | Unchanged | Refused:
    """The task as the operator says it is; nothing where it is so already."""
    task = state.task
    if said.expected_version != task.version:
        return Refused("VERSION_CONFLICT", f"The task is at version {task.version}.", "/expectedVersion")
    if said.lifecycle not in rules.enabled:
        return Refused("ILLEGAL_TRANSITION", f"The task type does not enable {said.lifecycle}.", "/lifecycleStatus")
    status = _business_status(task, said, rules)
    if isinstance(status, Refused):
        return status
    if (task.lifecycle, task.business_status) == (said.lifecycle, status):
        return Unchanged(task)
    fixed = _ended(state, said, status, rules, now)
    event = service_event(said.event_id, "TASK_CORRECTED", fixed, None, now, public=PublicFacts(reason=said.reason))
    steps = tuple(settled(step, now) for step in state.steps.values() if step.pending is not None)
    return Accepted(fixed, steps, replace(event, private=PrivateFacts(operator=said.operator)))


def _business_status(task: Task, said: Correction, rules: TaskRules) -> str | Refused:
    code = said.business_status
    if code is None:
        return task.business_status if said.lifecycle == task.lifecycle else rules.default_status[said.lifecycle]
    known = rules.statuses.get(code)
    if known is None or "task" not in known.scope or not known.enabled:
        return Refused("BUSINESS_STATUS_UNKNOWN", "No such business status for tasks.", "/businessStatus")
    if known.lifecycle != said.lifecycle:
        detail = f"This business status means {known.lifecycle}, not {said.lifecycle}."
        return Refused("FIELD_INVALID", detail, "/businessStatus")
    return code


def _ended(state: TaskState, said: Correction, status: str, rules: TaskRules, now: int) -> Task:
    task = state.task
    failed = said.lifecycle in ("FAILED", "TIMED_OUT")
    succeeded = said.lifecycle == "SUCCEEDED" and rules.mode != "STAGES"
    return replace(
        task,
        version=task.version + 1,
        lifecycle=said.lifecycle,
        business_status=status,
        health=ended_health(state.steps, task.attempt),
        percent=100 if succeeded else task.percent,
        current_step=None,
        failure=(task.failure or Failure(CORRECTED)) if failed else None,
        started_at=now if task.started_at is None else task.started_at,
        finished_at=now if task.finished_at is None else task.finished_at,
        total_duration_ms=max(0, now - task.created_at) if task.total_duration_ms is None else task.total_duration_ms,
        updated_at=now,
    )

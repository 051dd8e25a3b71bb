"""Adds steps to a task under way: a plan may grow, and only then may its percentage fall."""

from typing import Final

from msgspec.structs import replace

from milepost.domain import progress as progress_rules
from milepost.domain.creation import StepDraft, doubled, first_attempts
from milepost.domain.outcomes import Accepted, Refused
from milepost.domain.rules import TaskRules
from milepost.domain.state import TaskState
from milepost.domain.trace import service_event

MAX_STEPS: Final = 500
"""The most steps one task may have, added ones included."""


def add_steps(
    state: TaskState, plans: tuple[StepDraft, ...], rules: TaskRules, event_id: str, now: int
) -> Accepted | Refused:
    """The task with more steps behind those it has, each in its first attempt, and STEPS_ADDED."""
    task = state.task
    if task.ended:
        return Refused("TASK_FINISHED", "Steps are added only while the task is unfinished.")
    if len(state.steps) + len(plans) > MAX_STEPS:
        return Refused("FIELD_INVALID", f"A task has at most {MAX_STEPS} steps.", "/steps")
    index = doubled(plans, state.steps)
    if index is not None:
        return Refused("FIELD_INVALID", "The task has a step with this id already.", f"/steps/{index}/stepId")
    first = 1 + max((step.ordinal for step in state.steps.values()), default=-1)
    new = first_attempts(task.key, task.attempt, plans, first, rules, now)
    if isinstance(new, Refused):
        return new
    grown = replace(task, version=task.version + 1, updated_at=now)
    counted = progress_rules.recounted(grown, (*state.steps.values(), *new), mode=rules.mode, may_fall=True)
    return Accepted(counted, new, service_event(event_id, "STEPS_ADDED", counted, None, now))

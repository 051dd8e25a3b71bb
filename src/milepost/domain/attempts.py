"""Opens attempts. A retry is a new attempt, by number, opened by the coordinator; no state runs backwards in place."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from milepost.domain import progress as progress_rules
from milepost.domain.events import PublicFacts
from milepost.domain.lifecycle import WAITING_USER_ACTION
from milepost.domain.outcomes import Accepted, Decision, Refused, Unchanged
from milepost.domain.rules import TaskRules
from milepost.domain.state import Step, Task, TaskState
from milepost.domain.steps import health_of, running_step, waits_for_user
from milepost.domain.trace import service_event


class Opening(Struct, frozen=True):
    """A wish to open attempt `number`. `abandon` gives up an unfinished one, `override_cancel` a standing request."""

    number: int
    event_id: str
    abandon: bool = False
    override_cancel: bool = False
    reopen: tuple[str, ...] | None = None


def open_task_attempt(state: TaskState, opening: Opening, rules: TaskRules, now: int) -> Decision:
    """The next attempt of a task with the steps it reopens; the steps it does not reopen keep their result.

    Without a list every step that did not succeed is reopened. A step that has not ended is always reopened, since its
    facts of the older attempt could never end it.
    """
    task = state.task
    verdict = _number(opening, task.attempt, ended=task.ended, task=task)
    if verdict is not None:
        return verdict
    for index, step_id in enumerate(opening.reopen or ()):
        if step_id not in state.steps:
            return Refused("FIELD_INVALID", "The task has no such step.", f"/steps/{index}")
    old = [step for step in state.steps.values() if _reopens(step, opening)]
    new = [_next(step, opening.number, rules, now) for step in old]
    steps = {**state.steps, **{step.step_id: step for step in new}}
    fresh = _afresh(replace(task, health=health_of(steps, opening.number)), opening.number, rules, now)
    opened = progress_rules.recounted(fresh, steps.values(), mode=rules.mode, may_fall=True)
    said = _said(opening, task, ended=task.ended)
    event = service_event(opening.event_id, "TASK_ATTEMPT_OPENED", opened, None, now, public=said)
    return Accepted(opened, (*(replace(step, current=False, pending=None) for step in old), *new), event)


def _afresh(task: Task, number: int, rules: TaskRules, now: int) -> Task:
    return replace(
        task,
        attempt=number,
        version=task.version + 1,
        lifecycle="PENDING",
        business_status=rules.default_status["PENDING"],
        source_seq=None,
        stage=None,
        current_step=None,
        failure=None,
        cancel_requested_at=None,
        cancel_requested_by=None,
        cancel_unanswered_at=None,
        opened_at=now,
        started_at=None,
        finished_at=None,
        run_duration_ms=None,
        total_duration_ms=None,
        updated_at=now,
    )


def open_step_attempt(state: TaskState, step_id: str, opening: Opening, rules: TaskRules, now: int) -> Decision:
    """The next attempt of one step, while its task is unfinished. A request to cancel that is overridden is over."""
    step = state.steps.get(step_id)
    if step is None:
        return Refused("NOT_FOUND", "The task has no such step.")
    if opening.number == step.attempt:
        return Unchanged(state.task)
    if state.task.ended:
        return Refused("TASK_FINISHED", "A step attempt opens only while the task is unfinished.")
    verdict = _number(opening, step.attempt, ended=step.ended, task=state.task)
    if verdict is not None:
        return verdict
    new = _next(step, state.task.attempt, rules, now)
    steps = {**state.steps, step_id: new}
    moved = replace(
        state.task,
        version=state.task.version + 1,
        business_status=_task_status(state.task, steps, rules),
        health=health_of(steps, state.task.attempt),
        current_step=running_step(steps),
        cancel_requested_at=None,
        cancel_requested_by=None,
        cancel_unanswered_at=None,
        updated_at=now,
    )
    task = progress_rules.recounted(moved, steps.values(), mode=rules.mode, may_fall=True)
    said = _said(opening, state.task, ended=step.ended)
    event = service_event(opening.event_id, "STEP_ATTEMPT_OPENED", task, new, now, public=said)
    return Accepted(task, (replace(step, current=False, pending=None), new), event)


def new_source(state: TaskState, step_id: str, attempt: int) -> Accepted | Refused:
    """Raises the source epoch of a step's newest attempt and empties its sequence: a newer run fences an older one."""
    step = state.steps.get(step_id)
    if step is None:
        return Refused("NOT_FOUND", "The task has no such step.")
    if attempt > step.attempt:
        return Refused("ATTEMPT_UNKNOWN", "This attempt is not known here; the database may have been restored.")
    if attempt < step.attempt:
        return Refused("ATTEMPT_SUPERSEDED", "Only the newest attempt of a step takes a new source.")
    return Accepted(state.task, (replace(step, source_epoch=step.source_epoch + 1, source_seq=0),))


def _number(opening: Opening, current: int, *, ended: bool, task: Task) -> Unchanged | Refused | None:
    if opening.number == current:
        return Unchanged(task)
    if opening.number < current:
        return Refused("ATTEMPT_SUPERSEDED", f"Attempt {current} is open already.")
    if opening.number > current + 1:
        return Refused("ATTEMPT_NOT_NEXT", f"The next attempt is {current + 1}.")
    if not ended and not opening.abandon:
        return Refused("ATTEMPT_UNFINISHED", f"Attempt {current} is unfinished; abandon it to open the next.")
    if task.cancel_requested_at is not None and not task.ended and not opening.override_cancel:
        return Refused("CANCEL_PENDING", "A request to cancel stands.")
    return None


def _task_status(task: Task, steps: Mapping[str, Step], rules: TaskRules) -> str:
    if task.business_status != WAITING_USER_ACTION or waits_for_user(steps, task.attempt):
        return task.business_status
    return rules.default_status[task.lifecycle]


def _said(opening: Opening, task: Task, *, ended: bool) -> PublicFacts:
    abandoned = "ABANDONED" if not ended else None
    overridden = "CANCEL_OVERRIDDEN" if task.cancel_requested_at is not None and not task.ended else None
    return PublicFacts(reason=" ".join(filter(None, (abandoned, overridden))) or None)


def _reopens(step: Step, opening: Opening) -> bool:
    if not step.ended:
        return True
    return step.lifecycle != "SUCCEEDED" if opening.reopen is None else step.step_id in opening.reopen


def _next(step: Step, task_attempt: int, rules: TaskRules, now: int) -> Step:
    return replace(
        step,
        attempt=step.attempt + 1,
        task_attempt=task_attempt,
        source_epoch=1,
        source_seq=0,
        version=step.version + 1,
        lifecycle="PENDING",
        business_status=rules.default_status["PENDING"],
        health="HEALTHY",
        last_seen_at=None,
        progress=None,
        stage=None,
        message=None,
        progressed_at=None,
        pending=None,
        data=None,
        opened_at=now,
        started_at=None,
        started_derived=False,
        finished_at=None,
        duration_ms=None,
        duration_source=None,
        error=None,
        updated_at=now,
        patience_ms=step.stale_after_ms,
        calm_at=None,
        silent_since=None,
        escalated=False,
    )

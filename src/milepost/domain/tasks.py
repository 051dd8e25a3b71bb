"""Decides the facts of a whole task. Its coordinator reports them, and a registered policy executor its failure."""

from msgspec.structs import replace

from milepost.domain.facts import Fact
from milepost.domain.lifecycle import ENDS, STATUS_CHANGED, TASK_LEADS_TO, Lifecycle
from milepost.domain.outcomes import Accepted, Decision, Refused, Repeated, Stale
from milepost.domain.policies import consequence
from milepost.domain.progress import revealed
from milepost.domain.rules import TaskRules
from milepost.domain.state import Step, Task, TaskState
from milepost.domain.steps import ended_health
from milepost.domain.trace import event_of
from milepost.domain.values import Failure


def decide_task(state: TaskState, fact: Fact, rules: TaskRules, now: int, seq_owner: str | None) -> Decision:
    """What one task fact does. Success is never inferred from steps: this is the only way to a task's end."""
    task = state.task
    early = _foreign(state, fact, rules) or _superseded(task, fact)
    if early is not None:
        return early
    to = TASK_LEADS_TO.get(fact.event_type, task.lifecycle)
    if to not in rules.enabled:
        return Refused("ILLEGAL_TRANSITION", f"The task type does not enable {to}.", "/eventType")
    if task.ended:
        return _after_the_end(task, fact, to)
    late = None if to in ENDS else _out_of_order(task, fact, seq_owner)
    if late is not None:
        return late
    status = _business_status(task, fact, to, rules)
    if isinstance(status, Refused):
        return status
    if fact.failed_step_id is not None and fact.failed_step_id not in state.steps:
        return Refused("FIELD_INVALID", "The task has no such step.", "/failedStepId")
    return _accepted(state, fact, to, status, rules, now)


def _foreign(state: TaskState, fact: Fact, rules: TaskRules) -> Refused | None:
    task = state.task
    if fact.task_type != task.task_type:
        return Refused("CONTEXT_MISMATCH", "The task has another type.", "/taskType")
    if fact.producer_id != task.coordinator_id and not _fails_by_policy(state, fact, rules):
        return Refused("CONTEXT_MISMATCH", "Only the task's coordinator reports task facts.", "/producerId")
    return None


def _fails_by_policy(state: TaskState, fact: Fact, rules: TaskRules) -> bool:
    """Whether a policy executor reports TASK_FAILED for a failed step whose policy now asks for that."""
    if not fact.by_policy or fact.event_type != "TASK_FAILED":
        return False
    named = state.steps if fact.failed_step_id is None else {fact.failed_step_id}
    return any(
        step.step_id in named and consequence(step, rules) == "FAIL_TASK" and step.task_attempt == state.task.attempt
        for step in state.steps.values()
    )


def _superseded(task: Task, fact: Fact) -> Refused | Stale | None:
    if fact.task_attempt > task.attempt:
        return Refused("ATTEMPT_UNKNOWN", "This attempt is not known here; the database may have been restored.")
    return Stale("ATTEMPT_SUPERSEDED") if fact.task_attempt < task.attempt else None


def _after_the_end(task: Task, fact: Fact, to: Lifecycle) -> Decision:
    if fact.event_type == STATUS_CHANGED or to not in ENDS:
        return Stale("TERMINAL")
    if task.lifecycle == to:
        return Repeated()
    return Refused("CONFLICTING_TERMINAL", f"The task is {task.lifecycle} already.", evidence="CONFLICTING_TERMINAL")


def _out_of_order(task: Task, fact: Fact, seq_owner: str | None) -> Decision | None:
    if fact.source_seq is None:
        return None
    if seq_owner is not None and seq_owner != fact.event_id:
        return Refused("SOURCE_SEQ_CONFLICT", f"Sequence {fact.source_seq} belongs to another event.", "/sourceSeq")
    if seq_owner is not None:
        return Stale("ALREADY_DECIDED")
    older = task.source_seq is not None and fact.source_seq <= task.source_seq
    return Stale("OLD_SEQUENCE") if older and fact.event_type == STATUS_CHANGED else None


def _business_status(task: Task, fact: Fact, to: Lifecycle, rules: TaskRules) -> str | Refused:
    code = fact.business_status
    if code is None and fact.event_type == STATUS_CHANGED:
        return Refused("FIELD_INVALID", "A status change names the new business status.", "/businessStatus")
    if code is None:
        return task.business_status if to == task.lifecycle else rules.default_status[to]
    known = rules.statuses.get(code)
    if known is None or "task" not in known.scope or not known.enabled:
        return Refused("BUSINESS_STATUS_UNKNOWN", "No such business status for tasks.", "/businessStatus")
    if known.lifecycle == to:
        if to in ENDS or known.follows(task.business_status):
            return code
        return Refused("ILLEGAL_TRANSITION", f"{code} may not follow {task.business_status}.", "/businessStatus")
    if fact.event_type == STATUS_CHANGED:
        detail = f"The task is {task.lifecycle}; {code} means {known.lifecycle}."
        return Refused("ILLEGAL_TRANSITION", detail, "/businessStatus")
    return Refused("FIELD_INVALID", f"This business status means {known.lifecycle}, not {to}.", "/businessStatus")


def _accepted(state: TaskState, fact: Fact, to: Lifecycle, status: str, rules: TaskRules, now: int) -> Accepted:
    task = state.task
    starts = to != "PENDING" and task.started_at is None
    derived = starts and fact.event_type != "TASK_STARTED"
    moved = replace(
        task,
        version=task.version + 1,
        lifecycle=to,
        business_status=status,
        source_seq=_newest(task.source_seq, fact.source_seq),
        summary=fact.data or task.summary,
        result_ref=fact.result_ref or task.result_ref,
        started_at=_started_at(task, fact, to, now) if starts else task.started_at,
        updated_at=now,
    )
    if to not in ENDS:
        return Accepted(moved, (), event_of(fact, moved, None, now, derived=derived))
    steps = tuple(settled(step, now) for step in state.steps.values() if step.pending is not None)
    ended = _ended(moved, state, fact, rules, now)
    return Accepted(ended, steps, event_of(fact, ended, None, now, derived=derived))


def _started_at(task: Task, fact: Fact, to: Lifecycle, now: int) -> int:
    instant = fact.happened_at - ((fact.duration_ms or 0) if to in ENDS else 0)
    return min(max(instant, task.opened_at), now)


def _ended(task: Task, state: TaskState, fact: Fact, rules: TaskRules, now: int) -> Task:
    failure = _failure(state, fact) if task.lifecycle in ("FAILED", "TIMED_OUT") else None
    started = task.started_at if task.started_at is not None else now
    return replace(
        task,
        health=ended_health(state.steps, task.attempt),
        percent=100 if task.lifecycle == "SUCCEEDED" and rules.mode != "STAGES" else task.percent,
        current_step=None,
        failure=failure,
        finished_at=min(max(fact.happened_at, started), now),
        run_duration_ms=fact.duration_ms,
        total_duration_ms=max(0, now - task.created_at),
    )


def _failure(state: TaskState, fact: Fact) -> Failure:
    step = state.steps.get(fact.failed_step_id or "")
    error = fact.error or (step.error if step else None)
    return Failure(error.code if error else "UNKNOWN", error.user_message if error else None, fact.failed_step_id)


def settled(step: Step, now: int) -> Step:
    """The step of a task that ends, with its merged progress made visible."""
    # Progress that was merged and not yet a version would stay invisible for ever once nothing moves the task any more.
    return replace(revealed(step), version=step.version + 1, updated_at=now)


def _newest(seen: int | None, told: int | None) -> int | None:
    return told if seen is None or (told is not None and told > seen) else seen

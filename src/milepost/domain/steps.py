"""Decides the facts of one step: started, progress and the ends of a step attempt.

The order of the checks is the order of the specification: who says it, which attempt, which source, is it over already,
which sequence; only then what it changes. Nothing here waits for a missing event: it is accepted and the gap is marked.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from milepost.domain import progress as progress_rules
from milepost.domain.events import Event
from milepost.domain.facts import Fact, Heartbeat
from milepost.domain.health import heard
from milepost.domain.lifecycle import (
    ENDS,
    STEP_LEADS_TO,
    WAITING_USER_ACTION,
    FailurePolicy,
    Health,
    Lifecycle,
)
from milepost.domain.outcomes import Accepted, Decision, Merged, Refused, Repeated, Stale
from milepost.domain.rules import TaskRules
from milepost.domain.state import Pending, Step, Task, TaskState
from milepost.domain.trace import event_of


def decide_step(state: TaskState, fact: Fact, rules: TaskRules, now: int, seq_owner: str | None) -> Decision:
    """What one step fact does to its task.

    `seq_owner` is the event id that already took this fact's sequence in the log, if one did.
    """
    step = state.steps.get(fact.step_id or "")
    early = foreign(state.task, step, fact) or superseded(state.task, step, fact) or fenced(step, fact)
    if step is None or early is not None:
        return early or Refused("ATTEMPT_UNKNOWN", "This step is not known here.")
    to = STEP_LEADS_TO[fact.event_type]
    if to not in rules.enabled:
        return Refused("ILLEGAL_TRANSITION", f"The task type does not enable {to}.", "/eventType")
    unheard = _unheard(step, fact, rules)
    if unheard is not None:
        return unheard
    if step.ended or (state.task.ended and to not in ENDS):
        return _after_the_end(step, fact, to)
    step = _on_source(step, fact)
    late = None if to in ENDS else _out_of_order(step, fact, seq_owner)
    if late is not None:
        return late
    status = _business_status(step, fact, to, rules)
    if isinstance(status, Refused):
        return status
    if fact.event_type == "STEP_PROGRESS" and _merges(step, fact, now, rules):
        return Merged(_merged(step, fact, status, now))
    return _accepted(state, step, fact, to, status, rules, now)


def foreign(task: Task, step: Step | None, said: Fact | Heartbeat) -> Refused | None:
    """The refusal of a fact whose operation or producer is not the registered one, or None."""
    if isinstance(said, Fact) and said.task_type != task.task_type:
        return Refused("CONTEXT_MISMATCH", "The task has another type.", "/taskType")
    if step is None:
        return None
    if step.operation_code != said.operation_code:
        return Refused("CONTEXT_MISMATCH", "The step runs another operation.", "/operationCode")
    if step.producer_id != said.producer_id:
        return Refused("CONTEXT_MISMATCH", "The step belongs to another producer.", "/producerId")
    return None


def superseded(task: Task, step: Step | None, said: Fact | Heartbeat) -> Refused | Stale | None:
    """The answer to a fact of an attempt that is over or that this database has never opened, or None."""
    if step is None or said.task_attempt > task.attempt or (said.step_attempt or 0) > step.attempt:
        return Refused("ATTEMPT_UNKNOWN", "This attempt is not known here; the database may have been restored.")
    if said.task_attempt < task.attempt or (said.step_attempt or 0) < step.attempt:
        return Stale("ATTEMPT_SUPERSEDED")
    return None


def fenced(step: Step | None, said: Fact | Heartbeat) -> Refused | Stale | None:
    """The answer to a source that a newer one has fenced, or that only a token could vouch for, or None."""
    if step is None or said.source_epoch is None:
        return None
    if said.source_epoch < step.source_epoch:
        return Stale("SOURCE_FENCED")
    if said.source_epoch > step.source_epoch and not said.genuine_token:
        return Refused("CONTEXT_MISMATCH", "Only an execution token may bring a newer source epoch.", "/sourceEpoch")
    return None


def _on_source(step: Step, fact: Fact) -> Step:
    # After a restore the database may know an older source than the one a genuine token carries: the newer one stands.
    if fact.source_epoch is not None and fact.source_epoch > step.source_epoch:
        return replace(step, source_epoch=fact.source_epoch, source_seq=0)
    return step


def _after_the_end(step: Step, fact: Fact, to: Lifecycle) -> Decision:
    if to not in ENDS:
        return Stale("TERMINAL")
    if step.lifecycle == to:
        return Repeated()
    return Refused("CONFLICTING_TERMINAL", f"The step is {step.lifecycle} already.", evidence="CONFLICTING_TERMINAL")


def _out_of_order(step: Step, fact: Fact, seq_owner: str | None) -> Decision | None:
    seq = fact.source_seq or 0
    if seq_owner is not None and seq_owner != fact.event_id:
        return Refused("SOURCE_SEQ_CONFLICT", f"Sequence {seq} belongs to another event.", "/sourceSeq")
    if seq_owner is not None:
        return Stale("ALREADY_DECIDED")
    return Stale("OLD_SEQUENCE") if seq <= step.source_seq else None


def _unheard(step: Step, fact: Fact, rules: TaskRules) -> Refused | None:
    operation = rules.operations.get(step.operation_code)
    if operation is None or fact.event_type in operation.events:
        return None
    return Refused("CONTEXT_MISMATCH", f"{operation.code} does not report events of this type.", "/eventType")


def _business_status(step: Step, fact: Fact, to: Lifecycle, rules: TaskRules) -> str | Refused:
    code = fact.business_status
    current = step.pending.business_status if step.pending and step.pending.business_status else step.business_status
    if code is None:
        return current if step.lifecycle == to else rules.default_status[to]
    known = rules.statuses.get(code)
    if known is None or "step" not in known.scope or not known.enabled:
        return Refused("BUSINESS_STATUS_UNKNOWN", "No such business status for steps.", "/businessStatus")
    if known.lifecycle != to:
        return Refused("FIELD_INVALID", f"This business status means {known.lifecycle}, not {to}.", "/businessStatus")
    if to not in ENDS and not known.follows(current):
        return Refused("ILLEGAL_TRANSITION", f"{code} may not follow {current}.", "/businessStatus")
    return code


def _merges(step: Step, fact: Fact, now: int, rules: TaskRules) -> bool:
    if step.lifecycle != "RUNNING" or step.health == "STALE" or _new_stage(step, fact):
        return False
    return not progress_rules.due(step, fact.progress, now, rules.progress)


def _new_stage(step: Step, fact: Fact) -> bool:
    return fact.stage is not None and fact.stage != step.stage


def _merged(step: Step, fact: Fact, status: str, now: int) -> Step:
    held = step.pending
    value = progress_rules.advanced(held.progress if held else step.progress, fact.progress, new_stage=False)
    pending = Pending(
        event_id=fact.event_id,
        since=held.since if held else now,
        occurred_at=fact.occurred_at,
        received_at=fact.received_at,
        source_epoch=step.source_epoch,
        source_seq=fact.source_seq or 0,
        gap=_skips(step, fact),
        progress=value,
        message=fact.message or (held.message if held else None),
        business_status=status,
        data=fact.data or (held.data if held else None),
        age_ms=fact.age_ms,
    )
    return replace(step, pending=pending, source_seq=fact.source_seq, last_seen_at=_seen(step, now))


def _skips(step: Step, fact: Fact) -> bool:
    """Whether a fact of this source is missing before this one, or before one that was merged into it."""
    held = step.pending is not None and step.pending.gap
    return held or (fact.source_seq or 0) > step.source_seq + 1


def _seen(step: Step, now: int) -> int:
    return now if step.last_seen_at is None else max(now, step.last_seen_at)


def _accepted(
    state: TaskState, step: Step, fact: Fact, to: Lifecycle, status: str, rules: TaskRules, now: int
) -> Accepted:
    derived = step.started_at is None and fact.event_type != "STEP_STARTED"
    gap = derived or _skips(step, fact)
    after = _moved(progress_rules.revealed(step), fact, to, status, now)
    task = touched(state.task, {**state.steps, step.step_id: after}, after, rules, now)
    event: Event = event_of(fact, task, after, now, gap=gap, derived=derived)
    return Accepted(task, (after,), event)


def _moved(step: Step, fact: Fact, to: Lifecycle, status: str, now: int) -> Step:
    ended = to in ENDS
    is_progress = fact.event_type == "STEP_PROGRESS"
    started = _started_at(step, fact, ended, now)
    return replace(
        heard(step, now),
        version=step.version + 1,
        source_seq=max(step.source_seq, fact.source_seq or 0),
        lifecycle=to,
        business_status=status,
        last_seen_at=_seen(step, now),
        progress=progress_rules.advanced(step.progress, fact.progress, new_stage=_new_stage(step, fact)),
        progressed_at=now if is_progress else step.progressed_at,
        stage=fact.stage or step.stage,
        message=fact.message or step.message,
        data=fact.data or step.data,
        started_at=started,
        started_derived=step.started_derived or (step.started_at is None and fact.event_type != "STEP_STARTED"),
        finished_at=min(max(fact.happened_at, started), now) if ended else None,
        duration_ms=fact.duration_ms if ended else None,
        duration_source=(fact.duration_source or "MONOTONIC") if ended and fact.duration_ms is not None else None,
        error=fact.error if ended and to != "SUCCEEDED" else None,
        updated_at=now,
    )


def _started_at(step: Step, fact: Fact, ended: bool, now: int) -> int:
    if step.started_at is not None:
        return step.started_at
    instant = fact.happened_at - ((fact.duration_ms or 0) if ended else 0)
    return min(max(instant, step.opened_at), now)


def touched(task: Task, steps: Mapping[str, Step], step: Step, rules: TaskRules, now: int) -> Task:
    """The task one version later, after `step` changed; a finished task keeps everything but its version."""
    if task.ended:
        return replace(task, version=task.version + 1)
    counted = progress_rules.recounted(task, steps.values(), mode=rules.mode)
    waits = step.lifecycle == "FAILED" and step.on_failure == "WAIT_FOR_USER"
    return replace(
        counted,
        version=task.version + 1,
        lifecycle="RUNNING",
        business_status=WAITING_USER_ACTION if waits else _task_status(task, rules),
        health=health_of(steps, task.attempt, unanswered=task.cancel_unanswered_at is not None),
        started_at=task.started_at if task.started_at is not None else step.started_at,
        stage=step.stage if rules.mode == "STAGES" else task.stage,
        current_step=running_step(steps),
        updated_at=now,
    )


def _task_status(task: Task, rules: TaskRules) -> str:
    known = rules.statuses.get(task.business_status)
    keeps = known is not None and known.lifecycle == "RUNNING"
    return task.business_status if keeps else rules.default_status["RUNNING"]


def health_of(steps: Mapping[str, Step], task_attempt: int, *, unanswered: bool = False) -> Health:
    """STALE if a running step is, else DEGRADED while a warning of this attempt stands, else HEALTHY.

    A request to cancel that was `unanswered` in time is such a warning until the task ends.
    """
    if any(step.health == "STALE" and step.lifecycle == "RUNNING" for step in steps.values()):
        return "STALE"
    return "DEGRADED" if unanswered else ended_health(steps, task_attempt)


def ended_health(steps: Mapping[str, Step], task_attempt: int) -> Health:
    """The health that is left when nothing runs any more: DEGRADED while a warning of this attempt stands."""
    warned = any(_failed(step, task_attempt, "CONTINUE_WITH_WARNING") for step in steps.values())
    return "DEGRADED" if warned else "HEALTHY"


def waits_for_user(steps: Mapping[str, Step], task_attempt: int) -> bool:
    """Whether a failed step of this task attempt waits for somebody to decide."""
    return any(_failed(step, task_attempt, "WAIT_FOR_USER") for step in steps.values())


def _failed(step: Step, task_attempt: int, policy: FailurePolicy) -> bool:
    failed = step.lifecycle in ("FAILED", "TIMED_OUT") and step.on_failure == policy
    return failed and step.task_attempt == task_attempt


def running_step(steps: Mapping[str, Step]) -> str | None:
    """The step people are told about: the first running one in the order of the template."""
    running = [step for step in steps.values() if step.lifecycle == "RUNNING"]
    return min(running, key=lambda step: step.ordinal).step_id if running else None

"""Makes merged progress visible: the pending value of a step becomes a version of its own."""

from msgspec.structs import replace

from milepost.domain.clocks import clock_mark
from milepost.domain.events import PublicFacts
from milepost.domain.outcomes import Accepted, Unchanged
from milepost.domain.progress import revealed
from milepost.domain.rules import TaskRules
from milepost.domain.state import TaskState
from milepost.domain.steps import touched
from milepost.domain.trace import service_event


def flush(state: TaskState, step_id: str, rules: TaskRules, now: int) -> Accepted | Unchanged:
    """The pending progress of a step as STEP_PROGRESS under the last merged event id; nothing where none is pending."""
    step = state.steps.get(step_id)
    if step is None or step.pending is None or step.ended or state.task.ended:
        return Unchanged(state.task)
    held = step.pending
    after = replace(revealed(step), version=step.version + 1, progressed_at=now, updated_at=now)
    task = touched(state.task, {**state.steps, step_id: after}, after, rules, now)
    mark = clock_mark(held.occurred_at, held.received_at, held.age_ms, task.created_at)
    said = PublicFacts(after.stage, after.progress, held.message, data=held.data, clock=mark)
    event = service_event(held.event_id, "STEP_PROGRESS", task, after, now, step.producer_id, said)
    numbered = replace(
        event,
        source_epoch=held.source_epoch,
        source_seq=held.source_seq,
        gap=held.gap,
        data_schema=held.data.schema if held.data else None,
        occurred_at=held.occurred_at,
        received_at=held.received_at,
        age_ms=held.age_ms,
    )
    return Accepted(task, (after,), numbered)

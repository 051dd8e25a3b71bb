"""What whoever reports should know now, computed anew with every answer."""

from milepost.domain.facts import Fact, Heartbeat
from milepost.domain.state import TaskState
from milepost.wire.answers import Directives


def directives(state: TaskState, said: Fact | Heartbeat) -> Directives:
    """Whether to stop (a request to cancel stands), and whether a newer source or attempt has taken over."""
    task = state.task
    step = state.steps.get(said.step_id) if said.step_id else None
    superseded = said.task_attempt < task.attempt or (step is not None and (said.step_attempt or 0) < step.attempt)
    fenced = step is not None and said.source_epoch is not None and said.source_epoch < step.source_epoch
    return Directives(
        cancel_requested=task.cancel_requested_at is not None and not task.ended,
        fenced=fenced and not superseded,
        attempt_superseded=superseded,
    )

"""The one pure decision: a state, a fact, the rules and the time in; what happens out."""

from milepost.domain.facts import Fact
from milepost.domain.lifecycle import STEP_FACTS
from milepost.domain.outcomes import Decision, Refused
from milepost.domain.rules import TaskRules
from milepost.domain.state import TaskState
from milepost.domain.steps import decide_step
from milepost.domain.tasks import decide_task


def decide(state: TaskState, fact: Fact, rules: TaskRules, now: int, seq_owner: str | None = None) -> Decision:
    """What a reported fact does to its task; the same arguments give the same answer, always.

    `now` is the decision's only clock, in UTC milliseconds. `seq_owner` is the event id under which the log already
    holds this fact's source sequence, or None.
    """
    if state.task.deleted_at is not None:
        return Refused("TASK_DELETED", "The task was deleted.")
    if fact.event_type in STEP_FACTS:
        return decide_step(state, fact, rules, now, seq_owner)
    return decide_task(state, fact, rules, now, seq_owner)

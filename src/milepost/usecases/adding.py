"""Adds steps to a task for its coordinator; the same key and body again answer the same contexts."""

from typing import Final

import msgspec
from msgspec import Struct

from milepost.domain.adding import add_steps
from milepost.domain.creation import StepDraft
from milepost.domain.outcomes import Refused
from milepost.domain.state import TaskKey, TaskState
from milepost.ports.storage import CommandResult, Wanted
from milepost.usecases.contexts import unsigned
from milepost.usecases.creating import Created
from milepost.usecases.idempotency import Caller, Once
from milepost.usecases.ledger import Ledger
from milepost.usecases.opening import owned
from milepost.usecases.refusals import rejection
from milepost.usecases.rulebook import Rulebook
from milepost.wire.answers import TaskOpened
from milepost.wire.problems import Rejection
from milepost.wire.views import step_view, task_view

_opened: Final = msgspec.json.Decoder(TaskOpened).decode


class AddSteps(Struct, frozen=True):
    """The command. `event_id` is that of STEPS_ADDED, chosen once.

    `judged_by` is the definition whose schemas judged the data of the plans.
    """

    key: TaskKey
    plans: tuple[StepDraft, ...]
    caller: Caller
    once: Once
    event_id: str
    rulebook: Rulebook
    judged_by: str | None = None

    def wanted(self, state: TaskState | None) -> Wanted:
        """The result of an earlier request under the same key, and the definition where it is not at hand."""
        definitions = self.rulebook.unknown(state)
        return Wanted(results=(self.once.key,) if self.once.key else (), definitions=definitions)

    def decide(self, ledger: Ledger) -> Created | Rejection:
        """The task with its new steps and their contexts, or what an earlier request answered."""
        state = owned(ledger, self.key, self.caller.name)
        if isinstance(state, Rejection):
            return state
        before = self.once.before(ledger)
        if isinstance(before, CommandResult):
            return Created(_opened(before.answer), new=False)
        if before is not None:
            return before
        if state.task.definition_id != self.judged_by and any(plan.data for plan in self.plans):
            return Rejection("UNAVAILABLE", "The task was replaced just now; send the same again.", retry_after=1)
        rules = self.rulebook.of(state.task, ledger.definitions)
        change = add_steps(state, self.plans, rules, self.event_id, ledger.now)
        if isinstance(change, Refused):
            return rejection(change, state)
        ledger.apply(change)
        after = ledger.state(self.key) or state
        steps = sorted(after.steps.values(), key=lambda step: step.ordinal)
        opened = TaskOpened(
            task_view(change.task, ledger.now, rules, projection="TASK_DETAIL"),
            tuple(step_view(step, ledger.now, rules) for step in steps),
            tuple(unsigned(change.task, step, rules) for step in change.steps),
        )
        self.once.keep(ledger, change.task.task_id, opened)
        return Created(opened, new=True)

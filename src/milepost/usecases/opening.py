"""Opens attempts of tasks and steps, by number: the same number again answers the same context."""

from msgspec import Struct

from milepost.domain.attempts import Opening, open_step_attempt, open_task_attempt
from milepost.domain.outcomes import Accepted, Refused
from milepost.domain.state import Step, TaskKey, TaskState
from milepost.ports.storage import Wanted
from milepost.usecases.contexts import unsigned
from milepost.usecases.ledger import Ledger
from milepost.usecases.refusals import rejection
from milepost.usecases.rulebook import Rulebook
from milepost.wire.answers import TaskOpened
from milepost.wire.problems import Rejection
from milepost.wire.views import step_view, task_view


class OpenAttempt(Struct, frozen=True):
    """Opens attempt `opening.number` of a task, or of one step where `step_id` is given. Only its coordinator may."""

    key: TaskKey
    step_id: str | None
    opening: Opening
    coordinator_id: str
    rulebook: Rulebook

    def wanted(self, state: TaskState | None) -> Wanted:
        """The definition the task is bound to, where it is not at hand; the number makes the command idempotent."""
        return Wanted(definitions=self.rulebook.unknown(state))

    def decide(self, ledger: Ledger) -> TaskOpened | Rejection:
        """The task with the contexts of what was opened; unsigned."""
        state = owned(ledger, self.key, self.coordinator_id)
        if isinstance(state, Rejection):
            return state
        rules = self.rulebook.of(state.task, ledger.definitions)
        if self.step_id is None:
            decision = open_task_attempt(state, self.opening, rules, ledger.now)
        else:
            decision = open_step_attempt(state, self.step_id, self.opening, rules, ledger.now)
        if isinstance(decision, Refused):
            return rejection(decision, state)
        if isinstance(decision, Accepted):
            ledger.apply(decision)
        return self._opened(ledger)

    def _opened(self, ledger: Ledger) -> TaskOpened | Rejection:
        state = ledger.state(self.key)
        if state is None:
            return Rejection("TASK_UNKNOWN", "No such task here.")
        rules = self.rulebook.of(state.task, ledger.definitions)
        steps = sorted(state.steps.values(), key=lambda step: step.ordinal)
        return TaskOpened(
            task_view(state.task, ledger.now, rules, projection="TASK_DETAIL"),
            tuple(step_view(step, ledger.now, rules) for step in steps),
            tuple(unsigned(state.task, step, rules) for step in steps if self._is_opened(step)),
        )

    def _is_opened(self, step: Step) -> bool:
        if self.step_id is not None:
            return step.step_id == self.step_id
        return step.task_attempt == self.opening.number


def owned(ledger: Ledger, key: TaskKey, coordinator_id: str) -> TaskState | Rejection:
    """The task, if it is there and this coordinator's; else why not."""
    state = ledger.state(key)
    if state is None:
        return Rejection("TASK_UNKNOWN", "No such task here.")
    if state.task.deleted_at is not None:
        return Rejection("TASK_DELETED", "The task was deleted.")
    if state.task.coordinator_id != coordinator_id:
        return Rejection("CONTEXT_MISMATCH", "The task has another coordinator.")
    return state

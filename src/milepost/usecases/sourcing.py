"""Gives out fresh contexts, and new sources that fence the older ones."""

from msgspec import Struct

from milepost.domain.attempts import new_source
from milepost.domain.outcomes import Refused
from milepost.domain.state import Step, Task, TaskKey, TaskState
from milepost.ports.reading import Reading
from milepost.ports.storage import Wanted
from milepost.usecases.contexts import unsigned
from milepost.usecases.ledger import Ledger
from milepost.usecases.refusals import rejection
from milepost.usecases.rulebook import Rulebook
from milepost.wire.answers import Context
from milepost.wire.problems import Rejection


class NewSource(Struct, frozen=True):
    """Raises the source epoch of a step's attempt under its lock; makes no version."""

    key: TaskKey
    step_id: str
    attempt: int | None
    producer_id: str
    rulebook: Rulebook

    def wanted(self, state: TaskState | None) -> Wanted:
        """The definition the task is bound to, where it is not at hand."""
        return Wanted(definitions=self.rulebook.unknown(state))

    def decide(self, ledger: Ledger) -> Context | Rejection:
        """The unsigned context under the new source epoch."""
        state = ledger.state(self.key)
        if state is None:
            return Rejection("TASK_UNKNOWN", "No such task here.")
        step = state.steps.get(self.step_id)
        if step is None:
            return Rejection("NOT_FOUND", "The task has no such step.")
        refused = _not_theirs(state.task, step, self.producer_id)
        if refused is not None:
            return refused
        change = new_source(state, self.step_id, self.attempt or step.attempt)
        if isinstance(change, Refused):
            return rejection(change)
        ledger.apply(change)
        return unsigned(state.task, change.steps[0], self.rulebook.of(state.task, ledger.definitions))


async def refreshed(
    reading: Reading, key: TaskKey, step_id: str, attempt: int | None, producer_id: str, rulebook: Rulebook
) -> Context:
    """The unsigned context of an attempt as it is, superseded and finished ones included. Raises `Rejection`."""
    found = await reading.snapshot(key, all_attempts=True)
    if found is None:
        raise Rejection("TASK_UNKNOWN", "No such task here.")
    attempts = [step for step in found.steps if step.step_id == step_id]
    if not attempts:
        raise Rejection("NOT_FOUND", "The task has no such step.")
    wanted = attempt or max(step.attempt for step in attempts)
    step = next((step for step in attempts if step.attempt == wanted), None)
    if step is None:
        raise Rejection("ATTEMPT_UNKNOWN", "This attempt is not known here; the database may have been restored.")
    refused = _not_theirs(found.task, step, producer_id)
    if refused is not None:
        raise refused
    await rulebook.load((found.task,))
    return unsigned(found.task, step, rulebook.of(found.task))


def _not_theirs(task: Task, step: Step, producer_id: str) -> Rejection | None:
    if task.deleted_at is not None:
        return Rejection("TASK_DELETED", "The task was deleted.")
    if producer_id in (step.producer_id, task.coordinator_id):
        return None
    return Rejection("CONTEXT_MISMATCH", "Only the step's producer and the task's coordinator get its tokens.")

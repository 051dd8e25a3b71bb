"""Deletes finished tasks: for their coordinator, and for retention, by the same way."""

from msgspec import Struct

from milepost.domain.outcomes import Accepted, Refused
from milepost.domain.removing import remove
from milepost.domain.state import TaskKey, TaskState
from milepost.ports.storage import Wanted
from milepost.usecases.ledger import Ledger
from milepost.usecases.refusals import rejection
from milepost.wire.answers import TaskGone
from milepost.wire.numbers import instant
from milepost.wire.problems import Rejection


class RemoveTask(Struct, frozen=True):
    """The command; `coordinator_id` is None where the service removes the task by itself."""

    key: TaskKey
    coordinator_id: str | None
    event_id: str

    def wanted(self, state: TaskState | None) -> Wanted:
        """Nothing besides the task's rows: the tombstone makes it idempotent."""
        return Wanted()

    def decide(self, ledger: Ledger) -> TaskGone | Rejection:
        """The tombstone, made now or before."""
        state = ledger.state(self.key)
        if state is None:
            return Rejection("TASK_UNKNOWN", "No such task here.")
        if self.coordinator_id not in (None, state.task.coordinator_id):
            return Rejection("CONTEXT_MISMATCH", "The task has another coordinator.")
        decision = remove(state, self.event_id, ledger.now)
        if isinstance(decision, Refused):
            return rejection(decision, state)
        if isinstance(decision, Accepted):
            ledger.apply(decision)
        task = decision.task
        return TaskGone(task.task_id, str(task.version), instant(task.deleted_at or ledger.now))

"""Records a request to cancel; who may ask is settled by the route."""

from typing import Final

import msgspec
from msgspec import Struct

from milepost.domain.cancelling import request_cancel
from milepost.domain.outcomes import Accepted
from milepost.domain.state import TaskKey, TaskState
from milepost.ports.storage import CommandResult, Wanted
from milepost.usecases.idempotency import Caller, Once
from milepost.usecases.ledger import Ledger
from milepost.wire.answers import CancelAnswer
from milepost.wire.problems import Rejection

_answer: Final = msgspec.json.Decoder(CancelAnswer).decode


class RequestCancel(Struct, frozen=True):
    """The command; `event_id` is that of TASK_CANCEL_REQUESTED, chosen once."""

    key: TaskKey
    caller: Caller
    once: Once
    event_id: str
    reason: str | None = None

    def wanted(self, state: TaskState | None) -> Wanted:
        """The result of an earlier request under the same key."""
        return Wanted(results=(self.once.key,) if self.once.key else ())

    def decide(self, ledger: Ledger) -> CancelAnswer | Rejection:
        """Accepted while the task is unfinished, whether or not a request stood already."""
        state = ledger.state(self.key)
        if state is None:
            return Rejection("TASK_UNKNOWN", "No such task here.")
        if state.task.deleted_at is not None:
            return Rejection("TASK_DELETED", "The task was deleted.")
        before = self.once.before(ledger)
        if isinstance(before, CommandResult):
            return _answer(before.answer)
        if before is not None:
            return before
        decision = request_cancel(state, self.caller.name, self.event_id, ledger.now, self.reason)
        if isinstance(decision, Accepted):
            ledger.apply(decision)
        task = decision.task
        answer = CancelAnswer(not task.ended, task.lifecycle, str(task.version))
        self.once.keep(ledger, task.task_id, answer)
        return answer

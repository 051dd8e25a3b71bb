"""Corrections by operators: one version, one event and one audit entry, together or not at all."""

from typing import Final

import msgspec
from msgspec import Struct

from milepost.domain.correcting import Correction, correct
from milepost.domain.outcomes import Accepted, Refused
from milepost.domain.state import Task, TaskKey, TaskState
from milepost.ports.access import AuditEntry
from milepost.ports.storage import CommandResult, Wanted
from milepost.usecases.idempotency import Once
from milepost.usecases.ledger import Ledger
from milepost.usecases.refusals import rejection
from milepost.usecases.rulebook import Rulebook
from milepost.wire.answers import Statuses, TaskCorrected
from milepost.wire.problems import Rejection

_answer: Final = msgspec.json.Decoder(TaskCorrected).decode


class CorrectTask(Struct, frozen=True):
    """The command; that the caller is an operator of the task's tenant is settled by the route."""

    key: TaskKey
    said: Correction
    once: Once
    rulebook: Rulebook

    def wanted(self, state: TaskState | None) -> Wanted:
        """The result of an earlier request under the same key, and the definition where it is not at hand."""
        definitions = self.rulebook.unknown(state)
        return Wanted(results=(self.once.key,) if self.once.key else (), definitions=definitions)

    def decide(self, ledger: Ledger) -> TaskCorrected | Rejection:
        """What the task is now and what it was."""
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
        decision = correct(state, self.said, self.rulebook.of(state.task, ledger.definitions), ledger.now)
        if isinstance(decision, Refused):
            return rejection(decision, state)
        if isinstance(decision, Accepted):
            ledger.apply(decision)
            ledger.audit(self._audit(state.task, decision.task, ledger.now))
        answer = _told(state.task, decision.task)
        self.once.keep(ledger, self.key.task_id, answer)
        return answer

    def _audit(self, old: Task, new: Task, now: int) -> AuditEntry:
        detail = {"old": _value(old), "new": _value(new), "reason": self.said.reason}
        told = msgspec.json.encode(detail).decode()
        return AuditEntry(old.tenant_id, self.said.operator, "task.corrected", old.task_id, told, now)


def _value(task: Task) -> dict[str, str]:
    return {
        "lifecycleStatus": task.lifecycle,
        "businessStatus": task.business_status,
        "taskVersion": str(task.version),
    }


def _told(old: Task, new: Task) -> TaskCorrected:
    was = Statuses(old.lifecycle, old.business_status)
    return TaskCorrected(new.task_id, str(new.version), new.lifecycle, new.business_status, was)

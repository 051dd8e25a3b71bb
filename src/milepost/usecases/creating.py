"""Creates tasks, so that a crash can never leave a task nobody hears of."""

from typing import Final

import msgspec
from msgspec import Struct

from milepost.domain.creation import TaskDraft, create
from milepost.domain.outcomes import Refused
from milepost.domain.rules import TaskRules
from milepost.domain.state import TaskKey, TaskState
from milepost.ports.storage import CommandResult, Wanted
from milepost.usecases.contexts import unsigned
from milepost.usecases.idempotency import Caller, Once
from milepost.usecases.ledger import Ledger
from milepost.usecases.refusals import rejection
from milepost.wire.answers import TaskOpened
from milepost.wire.problems import Rejection
from milepost.wire.views import step_view, task_view

_opened: Final = msgspec.json.Decoder(TaskOpened).decode


class Created(Struct, frozen=True):
    """A task that was made now (`new`) or by an earlier request under the same key; contexts are not signed yet."""

    opened: TaskOpened
    new: bool


class CreateTask(Struct, frozen=True):
    """The command. `event_id` is the id of TASK_CREATED, chosen once so that a run again says the same.

    `rules` are those the new task is bound to for its life.
    """

    draft: TaskDraft
    caller: Caller
    once: Once
    event_id: str
    rules: TaskRules

    @property
    def key(self) -> TaskKey:
        """The task to be."""
        return TaskKey(self.draft.tenant_id, self.draft.task_id)

    def wanted(self, state: TaskState | None) -> Wanted:
        """The result of an earlier request under the same key."""
        return Wanted(results=(self.once.key,) if self.once.key else ())

    def decide(self, ledger: Ledger) -> Created | Rejection:
        """The new task, the one made before, or why there can be none."""
        before = self.once.before(ledger)
        if isinstance(before, CommandResult):
            return Created(_opened(before.answer), new=False)
        if before is not None:
            return before
        if ledger.state(self.key) is not None:
            return Rejection.at("/taskId", "TASK_ID_TAKEN", "A task with this id exists already.")
        rules = self.rules
        change = create(self.draft, self.caller.name, rules, self.event_id, ledger.now)
        if isinstance(change, Refused):
            return rejection(change)
        ledger.apply(change)
        opened = TaskOpened(
            task_view(change.task, ledger.now, rules, projection="TASK_DETAIL"),
            tuple(step_view(step, ledger.now, rules) for step in change.steps),
            tuple(unsigned(change.task, step, rules) for step in change.steps),
        )
        self.once.keep(ledger, self.draft.task_id, opened)
        return Created(opened, new=True)

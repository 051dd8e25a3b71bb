"""Which rules hold for a task: those of the definition version it was bound to at its creation."""

from milepost.definitions.generic import generic
from milepost.domain.rules import ProgressRules, TaskRules
from milepost.wire.problems import Rejection


class Rulebook:
    """Finds the rules of a task type. Rules are immutable, so they are built once and shared."""

    def __init__(self, progress: ProgressRules | None = None, *, required: bool = False) -> None:
        self._progress = progress or ProgressRules()
        self._required = required
        self._generic: dict[str, TaskRules] = {}

    def of(self, task_type: str) -> TaskRules:
        """The rules of this task type; those of `generic` where nobody defined it."""
        rules = self._generic.get(task_type)
        if rules is None:
            if len(self._generic) >= 10_000:
                self._generic.clear()
            rules = self._generic[task_type] = generic(task_type, self._progress)
        return rules

    def for_new(self, task_type: str) -> TaskRules:
        """The rules of a task about to be made. Raises `Rejection` TASK_TYPE_UNKNOWN where definitions are required."""
        if self._required:
            raise Rejection.at("/taskType", "TASK_TYPE_UNKNOWN", "No definition of this task type is published.")
        return self.of(task_type)

"""Finds the rules that a fact is taken in by, before it reaches the commit."""

from milepost.domain.rules import TaskRules
from milepost.domain.state import TaskKey
from milepost.ports.reading import Reading
from milepost.usecases.rulebook import DefinitionMissing, Rulebook
from milepost.wire.problems import Rejection


async def rules_of_token(rulebook: Rulebook, definition_id: str | None, task_type: str) -> TaskRules:
    """The rules an execution token is bound to. Raises `Rejection` TASK_UNKNOWN where this database lacks them."""
    try:
        return await rulebook.bound(definition_id, task_type)
    except DefinitionMissing:
        detail = "The task's definition is not known here; the database may have been restored."
        raise Rejection("TASK_UNKNOWN", detail) from None


async def rules_of_task(rulebook: Rulebook, reading: Reading, key: TaskKey) -> TaskRules:
    """The rules a task is bound to. Raises `Rejection` TASK_UNKNOWN or TASK_DELETED."""
    found = (await reading.snapshots(key.tenant_id, (key.task_id,), steps=False)).get(key.task_id)
    if found is None:
        raise Rejection("TASK_UNKNOWN", "No such task here; it may not be created yet.")
    if found.task.deleted_at is not None:
        raise Rejection("TASK_DELETED", "The task was deleted.")
    await rulebook.load((found.task,))
    return rulebook.of(found.task)

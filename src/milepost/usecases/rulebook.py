"""Which rules hold for a task: those of the definition it was bound to at its creation, for as long as it lives.

Definitions never change, so what was compiled once is kept and shared. A decision cannot wait for a database of its
own, so whoever decides has the documents read in phase 2 (`Wanted.definitions`) and hands them to `of`; whoever shows
tasks loads before.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from milepost.definitions.compiling import compiled
from milepost.definitions.documents import decoded
from milepost.definitions.generic import generic
from milepost.domain.rules import ProgressRules, TaskRules
from milepost.domain.state import Task, TaskState
from milepost.ports.definitions import Definitions, Published
from milepost.wire.problems import Rejection

_MOST: Final = 10_000
_NONE: Final[Mapping[str, bytes]] = {}


class DefinitionMissing(LookupError):
    """A task is bound to a definition that was not loaded; its only argument is the definition's id."""


class Rulebook:
    """Finds rules. Without `definitions` every task type is the built-in one."""

    def __init__(
        self,
        progress: ProgressRules | None = None,
        *,
        required: bool = False,
        definitions: Definitions | None = None,
    ) -> None:
        self._progress = progress or ProgressRules()
        self._required = required
        self._definitions = definitions
        self._generic: dict[str, TaskRules] = {}
        self._compiled: dict[str, TaskRules] = {}

    def of(self, task: Task, found: Mapping[str, bytes] = _NONE) -> TaskRules:
        """The rules a task is bound to; `found` are documents read for it. Raises `DefinitionMissing`."""
        if task.definition_id is None:
            return self.generic(task.task_type)
        return self._compiled.get(task.definition_id) or self._learn(task.definition_id, found)

    def unknown(self, state: TaskState | None) -> tuple[str, ...]:
        """The definition that has to be read before this task can be decided on, if there is one."""
        definition_id = state.task.definition_id if state else None
        return () if definition_id is None or definition_id in self._compiled else (definition_id,)

    def holds(self, task: Task) -> bool:
        """Whether `of` finds the rules of this task without being given its document."""
        return task.definition_id is None or task.definition_id in self._compiled

    def generic(self, task_type: str) -> TaskRules:
        """The rules of a type that nobody defined."""
        return self._generic.get(task_type) or _keep(self._generic, task_type, generic(task_type, self._progress))

    async def load(self, tasks: Iterable[Task]) -> None:
        """Has the rules of these tasks at hand for `of`. Raises `Unavailable`."""
        missing = {task.definition_id for task in tasks if task.definition_id} - self._compiled.keys()
        if missing:
            await self._load(sorted(missing))

    async def bound(self, definition_id: str | None, task_type: str) -> TaskRules:
        """The rules of a definition by its id. Raises `DefinitionMissing` where this database does not hold it."""
        if definition_id is None:
            return self.generic(task_type)
        if definition_id not in self._compiled:
            await self._load([definition_id])
        rules = self._compiled.get(definition_id)
        if rules is None:
            raise DefinitionMissing(definition_id)
        return rules

    async def for_new(
        self, tenant_id: str, product: str | None, task_type: str, version: int | None, place: str = ""
    ) -> TaskRules:
        """The rules of a task about to be made: those of the version asked for, else of the newest enabled one.

        Raises `Rejection` TASK_TYPE_UNKNOWN where definitions are required, FIELD_INVALID at `place` for a version that
        is not there.
        """
        published = await self.versions(tenant_id, product, task_type)
        chosen = choose(published, version)
        if chosen is not None:
            return await self.bound(chosen.definition_id, task_type)
        if self._required:
            raise Rejection.at("/taskType", "TASK_TYPE_UNKNOWN", "No definition of this task type is published.")
        if version is not None and (published or version != 1):
            raise Rejection.at(place, "FIELD_INVALID", f"The task type has no version {version} to use.")
        return self.generic(task_type)

    async def versions(self, tenant_id: str, product: str | None, task_type: str) -> tuple[Published, ...]:
        """Every published version that may serve such a task, the most particular line first."""
        if self._definitions is None:
            return ()
        return await self._definitions.versions(tenant_id, product or "", task_type)

    async def _load(self, ids: list[str]) -> None:
        if self._definitions is None:
            return
        found = await self._definitions.documents(ids)
        for definition_id in found:
            self._learn(definition_id, found)

    def _learn(self, definition_id: str, found: Mapping[str, bytes]) -> TaskRules:
        document = found.get(definition_id)
        if document is None:
            raise DefinitionMissing(definition_id)
        return _keep(self._compiled, definition_id, compiled(decoded(document), definition_id, self._progress))


def choose(published: tuple[Published, ...], version: int | None) -> Published | None:
    """The version that serves a new task: of the most particular line that has one, the newest enabled.

    A line of its own takes over from the next one where it begins: earlier versions stay those of the next.
    """
    enabled = [one for one in published if one.enabled]
    if version is not None:
        return next((one for one in enabled if one.version == version), None)
    if not enabled:
        return None
    line = (enabled[0].tenant_id, enabled[0].product)
    return max((one for one in enabled if (one.tenant_id, one.product) == line), key=lambda one: one.version)


def _keep(cache: dict[str, TaskRules], key: str, rules: TaskRules) -> TaskRules:
    if len(cache) >= _MOST:
        cache.pop(next(iter(cache)))
    cache[key] = rules
    return rules

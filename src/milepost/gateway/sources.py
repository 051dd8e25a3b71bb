"""Where messages come from: the log, and the current state of the tasks it names."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from milepost.domain.events import Event
from milepost.domain.state import TaskKey, TaskState
from milepost.gateway.message import Current, Material
from milepost.ports.reading import Reading, Scope
from milepost.ports.storage import Storage
from milepost.ports.stream import Committed, Logged, StreamLog
from milepost.usecases.rulebook import Rulebook

PAGE = 500
_BATCH = 200


class Sources(Struct, frozen=True):
    """The ports a feed reads from, and the rules of what they tell."""

    storage: Storage
    log: StreamLog
    reading: Reading
    rulebook: Rulebook


class Loaded(Struct, frozen=True):
    """States read from the database; `epochs` are the lives of it that they were read in."""

    states: dict[str, Current]
    epochs: frozenset[str]


async def load_states(sources: Sources, tenant_id: str, task_ids: Iterable[str], *, steps: bool) -> Loaded:
    """The current state of tasks, with their rules at hand; unknown ones are absent."""
    ids = list(dict.fromkeys(task_ids))
    states: dict[str, Current] = {}
    epochs: set[str] = set()
    for start in range(0, len(ids), _BATCH):
        found = await sources.reading.snapshots(tenant_id, ids[start : start + _BATCH], steps=steps)
        for task_id, snapshot in found.items():
            states[task_id] = Current(snapshot.task, snapshot.steps)
            epochs.add(snapshot.epoch)
    await sources.rulebook.load(state.task for state in states.values())
    return Loaded(states, frozenset(epochs))


async def load_events(reading: Reading, rows: Sequence[Logged]) -> dict[tuple[str, int], Event]:
    """The events behind these entries, by (task, version)."""
    keys = [
        (TaskKey(row.entry.tenant_id, row.entry.task_id), row.entry.task_version)
        for row in rows
        if row.entry.task_id is not None and row.entry.task_version is not None
    ]
    found = await reading.events_at(keys) if keys else {}
    return {(key.task_id, version): event for (key, version), event in found.items()}


async def read_log(log: StreamLog, tenant_id: str, after: int, upto: int, scope: Scope) -> list[Logged]:
    """All entries of a scope with `after` < position ≤ `upto`."""
    rows: list[Logged] = []
    while after < upto:
        page = await log.entries(tenant_id, after, upto, PAGE, scope)
        rows.extend(page)
        if len(page) < PAGE:
            break
        after = page[-1].position
    return rows


def material_of(committed: Committed) -> Material:
    """What a commit of this process left, without reading anything."""
    states = {task_id: _current(state) for task_id, state in committed.states.items()}
    return Material(states, committed.events)


def _current(state: TaskState) -> Current:
    return Current(state.task, tuple(sorted(state.steps.values(), key=lambda step: step.ordinal)))


def newest_of_each(rows: Sequence[Logged]) -> list[Logged]:
    """The entries without those that may be merged and have a later one of their task behind them."""
    last = {row.entry.task_id: row.position for row in rows}
    return [row for row in rows if not row.entry.mergeable or last[row.entry.task_id] == row.position]

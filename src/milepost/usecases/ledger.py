"""The state of one batch in memory: what was locked and read, as the items decided so far have left it."""

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from milepost.domain.events import Event, Evidence, StreamEntry
from milepost.domain.lifecycle import MERGEABLE
from milepost.domain.notices import Notice, Notification, Seen, kept, lasts, notice_of
from milepost.domain.outcomes import Accepted
from milepost.domain.state import Step, Task, TaskKey, TaskState
from milepost.ports.access import AuditEntry
from milepost.ports.storage import CommandResult, EventKey, Known, Remembered, ResultKey, SeqKey, StepKey, Writes
from milepost.ports.stream import Committed, Logged


class Ledger:
    """Items decide on it in arrival order, each on the state its predecessors left. It never touches the database."""

    def __init__(self, held: Mapping[TaskKey, TaskState], known: Known) -> None:
        self.now = known.now
        self.epoch = known.epoch
        self.definitions = known.definitions
        self._known = known
        self._tasks: dict[TaskKey, Task] = {key: state.task for key, state in held.items()}
        self._steps: dict[TaskKey, dict[str, Step]] = {key: dict(state.steps) for key, state in held.items()}
        self._born: set[TaskKey] = set()
        self._new_steps: dict[StepKey, Step] = {}
        self._old_steps: dict[StepKey, Step] = {}
        self._moved: set[TaskKey] = set()
        self._answers: dict[EventKey, Remembered] = {}
        self._owners: dict[SeqKey, str] = {}
        self._results: dict[ResultKey, CommandResult] = {}
        self._evidence: dict[tuple[str, str, str], Evidence] = {}
        self._events: list[Event] = []
        self._entries: list[StreamEntry] = []
        self._audits: list[AuditEntry] = []
        self._notifications: list[Notification] = []

    def state(self, key: TaskKey) -> TaskState | None:
        """A task as it stands now; None where there is none."""
        task = self._tasks.get(key)
        return None if task is None else TaskState(task, self._steps[key])

    def answer(self, key: EventKey) -> Remembered | None:
        """The answer this event id was given before, in this batch or earlier."""
        return self._answers.get(key) or self._known.answers.get(key)

    def owner(self, key: SeqKey) -> str | None:
        """The event id that took this sequence."""
        return self._owners.get(key) or self._known.owners.get(key)

    def result(self, key: ResultKey) -> CommandResult | None:
        """What this command answered before."""
        return self._results.get(key) or self._known.results.get(key)

    def remember(self, answer: Remembered) -> None:
        """Keeps the answer to an event id."""
        self._answers[EventKey(answer.tenant_id, answer.event_id)] = answer

    def keep(self, result: CommandResult) -> None:
        """Keeps the result of a command."""
        self._results[ResultKey(result.tenant_id, result.credential_id, result.idempotency_key)] = result

    def note(self, evidence: Evidence) -> None:
        """Keeps evidence, once per event id and reason."""
        self._evidence.setdefault((evidence.tenant_id, evidence.event_id, evidence.reason), evidence)

    def audit(self, entry: AuditEntry) -> None:
        """Records the use of a privileged command, with what it does or not at all."""
        self._audits.append(entry)

    def apply(self, change: Accepted) -> None:
        """Moves the state on, and makes the event and its stream entry where the change has one."""
        key = change.task.key
        before = self._seen(key, change.event) if change.event is not None else None
        if key not in self._tasks:
            self._born.add(key)
            self._steps[key] = {}
        self._tasks[key] = change.task
        for step in change.steps:
            self.put(step)
        if change.event is not None:
            self._moved.add(key)
            self._events.append(change.event)
            place = SeqKey.of(change.event)
            if place is not None:
                self._owners[place] = change.event.event_id
            self._tell(change.task, change.event, before)

    def _seen(self, key: TaskKey, event: Event) -> Seen | None:
        task = self._tasks.get(key)
        if task is None:
            return None
        failed = task.failure.step_id if task.failure else None
        return Seen(task, self._steps[key].get(event.step_id or failed or ""))

    def _tell(self, task: Task, event: Event, before: Seen | None) -> None:
        after = self._seen(task.key, event)
        notice = notice_of(self.epoch, event, before, after) if after is not None else None
        self._entries.append(_entry(task, event, self.now, notice))
        if notice is not None and lasts(notice):
            self._notifications.append(kept(notice, task, self.now))

    def put(self, step: Step) -> None:
        """Replaces one step's row, or adds it where this attempt is new."""
        key = TaskKey(step.tenant_id, step.task_id)
        row = StepKey(*key, step.step_id, step.attempt)
        held = self._steps[key].get(step.step_id)
        is_new = row in self._new_steps or held is None or held.attempt < step.attempt
        (self._new_steps if is_new else self._old_steps)[row] = step
        if step.current:
            self._steps[key][step.step_id] = step

    def writes(self) -> Writes:
        """All that this batch leaves behind, each row once."""
        changed = sorted(self._moved | self._born)
        return Writes(
            new_tasks=[self._tasks[key] for key in changed if key in self._born],
            tasks=[self._tasks[key] for key in changed if key not in self._born],
            new_steps=list(self._new_steps.values()),
            steps=list(self._old_steps.values()),
            events=self._events,
            evidence=list(self._evidence.values()),
            answers=list(self._answers.values()),
            results=list(self._results.values()),
            entries=self._entries,
            audits=self._audits,
            notifications=self._notifications,
        )

    def committed(self, first: Mapping[str, int]) -> list[Committed]:
        """What each tenant's readers in this process may be told, given the first new position of each tenant."""
        return [self._committed(tenant_id, position) for tenant_id, position in sorted(first.items())]

    def _committed(self, tenant_id: str, first: int) -> Committed:
        entries = [entry for entry in self._entries if entry.tenant_id == tenant_id]
        logged = tuple(Logged(first + index, entry) for index, entry in enumerate(entries))
        last = {entry.entry.task_id: entry.position for entry in logged}
        states = {
            key.task_id: TaskState(replace(self._tasks[key], last_position=last[key.task_id]), self._steps[key])
            for key in self._moved
            if key.tenant_id == tenant_id
        }
        events = {(event.task_id, event.task_version): event for event in self._events if event.tenant_id == tenant_id}
        return Committed(tenant_id, self.epoch, logged, states, events)


def _entry(task: Task, event: Event, now: int, notice: Notice | None) -> StreamEntry:
    return StreamEntry(
        tenant_id=task.tenant_id,
        kind="task" if task.deleted_at is None else "task.removed",
        committed_at=now,
        task_id=task.task_id,
        task_version=task.version,
        audience_user=task.owner_id,
        audience_project=task.project_id,
        mergeable=notice is None and event.event_type in MERGEABLE,
        body=None if notice is None else msgspec.json.encode(notice).decode(),
    )

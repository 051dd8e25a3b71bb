"""The coordinator: creates tasks, opens attempts, reports their ends. Each command waits for its answer."""

import time
from collections.abc import Sequence
from typing import Any, TypeVar

import httpx

from milepost.clock import Clock, SystemClock
from milepost.ports.http import Outcome, Request
from milepost.wire.views import TaskView
from milepost.worker.commands import Call, Commands, Opened, Plan, Result, State, failure, planned, success, worded
from milepost.worker.context import Context
from milepost.worker.errors import StepError
from milepost.worker.ids import ours, theirs
from milepost.worker.texts import clean
from milepost.worker.transport import SyncTransport

T = TypeVar("T")
TITLE = 300


class Coordinator:
    """Commands of the service that owns its tasks. They raise `Refused`, or `NotReached` after `patience` seconds."""

    def __init__(
        self,
        url: str,
        *,
        credential: str,
        tenant: str | None = None,
        producer: str | None = None,
        patience: float = 30.0,
        clock: Clock | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.commands = Commands(credential, tenant=tenant, producer=producer, patience=patience)
        self.clock = clock or SystemClock()
        self._transport = SyncTransport(url, transport)

    def create(
        self,
        *,
        tenant: str,
        owner: str,
        type: str,  # noqa: A002 (the word of the vocabulary)
        title: str,
        steps: Sequence[Plan] = (),
        project: str | None = None,
        product: str | None = None,
        task_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> "Task":
        """A new task. The same `idempotency_key` gives the same task, so a coordinator may ask again after a crash."""
        body = creation(tenant, owner, type, title, steps, project=project, product=product, task_id=task_id)
        return Task(self, self.run(self.commands.create(body, idempotency_key)))

    def task(self, task_id: str) -> "Task":
        """A task by its id here, for a coordinator that was restarted. Its contexts are fetched with `token`."""
        return Task(self, recovered(self.run(self.commands.state(task_id))))

    def find(self, idempotency_key: str) -> "Task":
        """The task that was created under this key. Raises `Refused` NOT_FOUND."""
        return Task(self, recovered(self.run(self.commands.find(idempotency_key))))

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()

    def __enter__(self) -> "Coordinator":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, call: Call[T]) -> T:
        """Carries a command through."""
        told: Outcome | None = None
        while True:
            try:
                wanted = call.send(told)
            except StopIteration as done:
                return done.value
            if isinstance(wanted, Request):
                told = self._transport.carry(wanted)
            else:
                time.sleep(wanted)
                told = None


class Task:
    """One task in the hands of its coordinator."""

    def __init__(self, coordinator: Coordinator, opened: Opened) -> None:
        self.view: TaskView = opened.task
        self.contexts: dict[str, Context] = {theirs(context.step_id): context for context in opened.contexts}
        self._coordinator = coordinator

    @property
    def id(self) -> str:
        """The task's id."""
        return self.view.id

    def complete(
        self,
        *,
        result: Result | None = None,
        message: str | None = None,
        status: str | None = None,
        summary: tuple[str, Any] | None = None,
    ) -> None:
        """Ends the task as succeeded; `status` and `summary` (schema, value) are those its definition registers."""
        self._report("TASK_COMPLETED", success(result, message) | worded(status, summary))

    def status(self, code: str, *, summary: tuple[str, Any] | None = None) -> None:
        """Changes the task's business status inside its lifecycle; `summary` is (schema, value)."""
        self._report("TASK_STATUS_CHANGED", worded(code, summary))

    def fail(self, error: StepError, *, step_id: str | None = None) -> None:
        """Ends the task as failed; `step_id` names the step that failed it."""
        self._report("TASK_FAILED", failure(error, step_id))

    def cancelled(self) -> None:
        """Ends the task as cancelled."""
        self._report("TASK_CANCELLED", {})

    def state(self) -> State:
        """The task as the service knows it now."""
        return self._coordinator.run(self._coordinator.commands.state(self.id))

    def open_attempt(
        self, *, steps: Sequence[str] | None = None, abandon: bool = False, override_cancel: bool = False
    ) -> None:
        """Opens the next attempt of the task; by default with every step that did not succeed."""
        body = opening(abandon=abandon, override_cancel=override_cancel, steps=steps)
        number = self.view.attempt + 1
        self._take(self._coordinator.run(self._coordinator.commands.open_attempt(self.id, number, body)))

    def open_step_attempt(self, step_id: str, *, abandon: bool = False, override_cancel: bool = False) -> Context:
        """Opens the next attempt of a step. `abandon` gives up one that has not ended, such as a killed worker's."""
        body = opening(abandon=abandon, override_cancel=override_cancel)
        number = self._attempt(step_id) + 1
        command = self._coordinator.commands.open_step_attempt(self.id, step_id, number, body)
        self._take(self._coordinator.run(command))
        return self.contexts[step_id]

    def add_steps(self, steps: Sequence[Plan]) -> None:
        """Adds steps while the task is unfinished; their contexts are in `contexts` afterwards."""
        self._take(self._coordinator.run(self._coordinator.commands.add_steps(self.id, steps)))

    def token(self, step_id: str, *, new_source: bool = False) -> Context:
        """A fresh context for a step; with `new_source` it fences whoever held an older one."""
        held = self.contexts.get(step_id)
        attempt = held.step_attempt if held else None
        command = self._coordinator.commands.token(self.id, step_id, attempt, new_source=new_source)
        self.contexts[step_id] = self._coordinator.run(command)
        return self.contexts[step_id]

    def request_cancel(self) -> None:
        """Marks the task as to be cancelled; it ends when `cancelled()` is reported."""
        self._coordinator.run(self._coordinator.commands.request_cancel(self.id))

    def delete(self) -> None:
        """Deletes the finished task for everybody; again, nothing more. Raises `Refused` TASK_UNFINISHED."""
        self._coordinator.run(self._coordinator.commands.delete(self.id))

    def _report(self, event_type: str, says: dict[str, Any]) -> None:
        wall = self._coordinator.clock.now()
        self._coordinator.run(self._coordinator.commands.fact(self.view, event_type, wall, says))

    def _attempt(self, step_id: str) -> int:
        held = self.contexts.get(step_id)
        return held.step_attempt if held else self.state().step(step_id).attempt

    def _take(self, opened: Opened) -> None:
        self.view = opened.task
        self.contexts.update({theirs(context.step_id): context for context in opened.contexts})


def creation(
    tenant: str,
    owner: str,
    task_type: str,
    title: str,
    steps: Sequence[Plan],
    *,
    project: str | None,
    product: str | None,
    task_id: str | None,
) -> dict[str, Any]:
    """The body of a creation."""
    body = {
        "tenantId": ours(tenant, "tenant"),
        "ownerId": ours(owner, "owner"),
        "taskType": ours(task_type, "type"),
        "title": clean(title, TITLE),
        "steps": [planned(step).body() for step in steps],
        "projectId": None if project is None else ours(project, "project"),
        "product": None if product is None else ours(product, "product"),
        "taskId": None if task_id is None else ours(task_id, "task_id"),
    }
    return {name: value for name, value in body.items() if value is not None}


def opening(*, abandon: bool, override_cancel: bool, steps: Sequence[str] | None = None) -> dict[str, Any]:
    """The body that opens an attempt."""
    body: dict[str, Any] = {"abandon": abandon, "overrideCancel": override_cancel}
    return body if steps is None else body | {"steps": list(steps)}


def recovered(state: State) -> Opened:
    """A task that was read back, as if it had just been opened; without contexts."""
    return Opened(state.task, state.steps, ())

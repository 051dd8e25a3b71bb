"""The coordinator for event loops."""

import asyncio
from collections.abc import Sequence
from typing import Any, TypeVar

import httpx

from milepost.clock import Clock, SystemClock
from milepost.ports.http import Outcome, Request
from milepost.wire.views import TaskView
from milepost.worker.commands import Call, Commands, Opened, Plan, Result, State, failure, success, worded
from milepost.worker.context import Context
from milepost.worker.coordinator import creation, opening, recovered
from milepost.worker.errors import StepError
from milepost.worker.ids import theirs
from milepost.worker.transport import AsyncTransport

T = TypeVar("T")


class AsyncCoordinator:
    """`Coordinator` with its names awaited."""

    def __init__(
        self,
        url: str,
        *,
        credential: str,
        tenant: str | None = None,
        producer: str | None = None,
        patience: float = 30.0,
        clock: Clock | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.commands = Commands(credential, tenant=tenant, producer=producer, patience=patience)
        self.clock = clock or SystemClock()
        self._transport = AsyncTransport(url, transport)

    async def create(
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
    ) -> "AsyncTask":
        """A new task. The same `idempotency_key` gives the same task, so a coordinator may ask again after a crash."""
        body = creation(tenant, owner, type, title, steps, project=project, product=product, task_id=task_id)
        return AsyncTask(self, await self.run(self.commands.create(body, idempotency_key)))

    async def task(self, task_id: str) -> "AsyncTask":
        """A task by its id here, for a coordinator that was restarted. Its contexts are fetched with `token`."""
        return AsyncTask(self, recovered(await self.run(self.commands.state(task_id))))

    async def find(self, idempotency_key: str) -> "AsyncTask":
        """The task that was created under this key. Raises `Refused` NOT_FOUND."""
        return AsyncTask(self, recovered(await self.run(self.commands.find(idempotency_key))))

    async def close(self) -> None:
        """Closes the connections."""
        await self._transport.aclose()

    async def __aenter__(self) -> "AsyncCoordinator":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def run(self, call: Call[T]) -> T:
        """Carries a command through."""
        told: Outcome | None = None
        while True:
            try:
                wanted = call.send(told)
            except StopIteration as done:
                return done.value
            if isinstance(wanted, Request):
                told = await self._transport.carry(wanted)
            else:
                await asyncio.sleep(wanted)
                told = None


class AsyncTask:
    """`Task` with its names awaited."""

    def __init__(self, coordinator: AsyncCoordinator, opened: Opened) -> None:
        self.view: TaskView = opened.task
        self.contexts: dict[str, Context] = {theirs(context.step_id): context for context in opened.contexts}
        self._coordinator = coordinator

    @property
    def id(self) -> str:
        """The task's id."""
        return self.view.id

    async def complete(
        self,
        *,
        result: Result | None = None,
        message: str | None = None,
        status: str | None = None,
        summary: tuple[str, Any] | None = None,
    ) -> None:
        """Ends the task as succeeded; `status` and `summary` (schema, value) are those its definition registers."""
        await self._report("TASK_COMPLETED", success(result, message) | worded(status, summary))

    async def status(self, code: str, *, summary: tuple[str, Any] | None = None) -> None:
        """Changes the task's business status inside its lifecycle; `summary` is (schema, value)."""
        await self._report("TASK_STATUS_CHANGED", worded(code, summary))

    async def fail(self, error: StepError, *, step_id: str | None = None) -> None:
        """Ends the task as failed; `step_id` names the step that failed it."""
        await self._report("TASK_FAILED", failure(error, step_id))

    async def cancelled(self) -> None:
        """Ends the task as cancelled."""
        await self._report("TASK_CANCELLED", {})

    async def state(self) -> State:
        """The task as the service knows it now."""
        return await self._coordinator.run(self._coordinator.commands.state(self.id))

    async def open_attempt(
        self, *, steps: Sequence[str] | None = None, abandon: bool = False, override_cancel: bool = False
    ) -> None:
        """Opens the next attempt of the task; by default with every step that did not succeed."""
        body = opening(abandon=abandon, override_cancel=override_cancel, steps=steps)
        number = self.view.attempt + 1
        self._take(await self._coordinator.run(self._coordinator.commands.open_attempt(self.id, number, body)))

    async def open_step_attempt(self, step_id: str, *, abandon: bool = False, override_cancel: bool = False) -> Context:
        """Opens the next attempt of a step. `abandon` gives up one that has not ended, such as a killed worker's."""
        body = opening(abandon=abandon, override_cancel=override_cancel)
        number = await self._attempt(step_id) + 1
        command = self._coordinator.commands.open_step_attempt(self.id, step_id, number, body)
        self._take(await self._coordinator.run(command))
        return self.contexts[step_id]

    async def add_steps(self, steps: Sequence[Plan]) -> None:
        """Adds steps while the task is unfinished; their contexts are in `contexts` afterwards."""
        self._take(await self._coordinator.run(self._coordinator.commands.add_steps(self.id, steps)))

    async def token(self, step_id: str, *, new_source: bool = False) -> Context:
        """A fresh context for a step; with `new_source` it fences whoever held an older one."""
        held = self.contexts.get(step_id)
        attempt = held.step_attempt if held else None
        command = self._coordinator.commands.token(self.id, step_id, attempt, new_source=new_source)
        self.contexts[step_id] = await self._coordinator.run(command)
        return self.contexts[step_id]

    async def request_cancel(self) -> None:
        """Marks the task as to be cancelled; it ends when `cancelled()` is reported."""
        await self._coordinator.run(self._coordinator.commands.request_cancel(self.id))

    async def delete(self) -> None:
        """Deletes the finished task for everybody; again, nothing more. Raises `Refused` TASK_UNFINISHED."""
        await self._coordinator.run(self._coordinator.commands.delete(self.id))

    async def _report(self, event_type: str, says: dict[str, Any]) -> None:
        wall = self._coordinator.clock.now()
        await self._coordinator.run(self._coordinator.commands.fact(self.view, event_type, wall, says))

    async def _attempt(self, step_id: str) -> int:
        held = self.contexts.get(step_id)
        return held.step_attempt if held else (await self.state()).step(step_id).attempt

    def _take(self, opened: Opened) -> None:
        self.view = opened.task
        self.contexts.update({theirs(context.step_id): context for context in opened.contexts})

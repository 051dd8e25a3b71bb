"""The coordinator without its sockets: each command is a generator of requests and pauses.

A driver sends every request it yields and gives back the outcome, and waits where a number of seconds is yielded. Event
ids and idempotency keys are made once a command and kept through its retries, so a retry can never do a thing twice.
"""

import random
import secrets
from collections.abc import Generator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from milepost.domain.lifecycle import FailurePolicy
from milepost.ports.http import Method, Outcome, Reply, Request
from milepost.wire.numbers import instant
from milepost.wire.views import StepView, TaskView
from milepost.worker.answers import problem_of, retry_after
from milepost.worker.backoff import probe_after
from milepost.worker.context import Context
from milepost.worker.errors import StepError
from milepost.worker.ids import ours, theirs
from milepost.worker.texts import clean_or_none

T = TypeVar("T")
Call = Generator[Request | float, Outcome | None, T]

TASKS = "/internal/v1/tasks"
MESSAGE = 2_000
TITLE = 300


class Refused(Exception):
    """The service will not do this, and says why by a stable `code`."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.status = status
        self.code = code
        self.detail = detail


class NotReached(Exception):
    """The service did not answer within the caller's patience. Whether the command was carried out is unknown."""


class StepPlan(Struct, frozen=True, kw_only=True):
    """A step as its coordinator plans it. `on_failure` says what its failure means for the task.

    Without them, weight and policy are those that the task type's definition gives to the operation.
    """

    step_id: str
    operation: str
    producer: str
    weight: float | None = None
    on_failure: FailurePolicy | None = None

    def body(self) -> dict[str, Any]:
        """The step on the wire."""
        body: dict[str, Any] = {
            "stepId": ours(self.step_id, "step_id"),
            "operationCode": ours(self.operation, "operation"),
            "producerId": ours(self.producer, "producer"),
        }
        chosen = {"weight": self.weight, "onFailure": self.on_failure}
        return body | {name: value for name, value in chosen.items() if value is not None}


Plan = StepPlan | tuple[str, str, str]


class Result(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A reference to what the task made; `size` in bytes. Never an address."""

    id: str
    title: str | None = None
    media_type: str | None = None
    size: int | None = None


class Opened(Struct, frozen=True):
    """A task with the contexts of the steps that may run now."""

    task: TaskView
    steps: tuple[StepView, ...]
    contexts: tuple[Context, ...]


class State(Struct, frozen=True, rename="camel"):
    """A task as its coordinator may read it back: the current attempt of every step, and a standing cancel request."""

    task: TaskView
    steps: tuple[StepView, ...]
    cancel_requested: bool = False

    def step(self, step_id: str) -> StepView:
        """One step. Raises `KeyError`."""
        for step in self.steps:
            if theirs(step.id) == step_id:
                return step
        raise KeyError(step_id)


class Commands:
    """Builds the commands of one coordinator. `patience`: seconds of waiting that one command may cost."""

    def __init__(self, credential: str, *, tenant: str | None, producer: str | None, patience: float) -> None:
        self.producer = producer
        self._headers = {"authorization": f"Bearer {credential}"}
        if tenant is not None:
            self._headers["milepost-tenant"] = tenant
        self._patience = patience

    def create(self, body: Mapping[str, Any], key: str | None) -> Call[Opened]:
        """Creates a task."""
        reply = yield from self._call("POST", TASKS, dict(body), key=key or secrets.token_urlsafe(15))
        return _decoded(reply, Opened)

    def state(self, task_id: str) -> Call[State]:
        """Reads a task back."""
        return _decoded((yield from self._call("GET", _task(task_id))), State)

    def find(self, key: str) -> Call[State]:
        """Reads back the task that was created under an idempotency key."""
        return _decoded((yield from self._call("GET", f"{TASKS}?{urlencode({'idempotencyKey': key})}")), State)

    def open_attempt(self, task_id: str, number: int, body: Mapping[str, Any]) -> Call[Opened]:
        """Opens a task attempt by its number."""
        return _decoded((yield from self._call("PUT", f"{_task(task_id)}/attempts/{number}", dict(body))), Opened)

    def open_step_attempt(self, task_id: str, step_id: str, number: int, body: Mapping[str, Any]) -> Call[Opened]:
        """Opens a step attempt by its number."""
        path = f"{_task(task_id)}/steps/{quote(ours(step_id, 'step_id'))}/attempts/{number}"
        return _decoded((yield from self._call("PUT", path, dict(body))), Opened)

    def token(self, task_id: str, step_id: str, attempt: int | None, *, new_source: bool) -> Call[Context]:
        """Fetches a fresh token for a step."""
        body: dict[str, Any] = {"newSource": new_source}
        if attempt is not None:
            body["stepAttempt"] = attempt
        reply = yield from self._call("POST", f"{_task(task_id)}/steps/{quote(ours(step_id, 'step_id'))}/token", body)
        return _decoded(reply, Context)

    def add_steps(self, task_id: str, steps: Sequence[Plan]) -> Call[Opened]:
        """Adds steps to an unfinished task."""
        body = {"steps": [planned(step).body() for step in steps]}
        reply = yield from self._call("POST", f"{_task(task_id)}/steps", body, key=secrets.token_urlsafe(15))
        return _decoded(reply, Opened)

    def delete(self, task_id: str) -> Call[None]:
        """Deletes a finished task."""
        yield from self._call("DELETE", _task(task_id))

    def request_cancel(self, task_id: str) -> Call[None]:
        """Asks for a task to be cancelled."""
        yield from self._call("POST", f"{_task(task_id)}:requestCancel", {}, key=secrets.token_urlsafe(15))

    def fact(self, task: TaskView, event_type: str, wall: int, says: Mapping[str, Any]) -> Call[None]:
        """Reports a fact of the whole task."""
        event_id = secrets.token_urlsafe(15)
        body: dict[str, Any] = {
            "eventId": event_id,
            "taskId": task.id,
            "taskType": task.task_type,
            "taskAttempt": task.attempt,
            "producerId": self.producer,
            "eventType": event_type,
            "occurredAt": instant(wall),
            **says,
        }
        told = {name: value for name, value in body.items() if value is not None}
        yield from self._call("POST", "/internal/v1/task-events", told, key=event_id)

    def _call(self, method: Method, path: str, body: Any = None, key: str | None = None) -> Call[Reply]:
        headers = dict(self._headers)
        if key is not None:
            headers["idempotency-key"] = key
        encoded = None
        if body is not None:
            headers["content-type"] = "application/json"
            encoded = msgspec.json.encode(body)
        return (yield from _tried(Request(method, path, encoded, headers), self._patience))


def planned(plan: Plan) -> StepPlan:
    """A plan in its long form."""
    return plan if isinstance(plan, StepPlan) else StepPlan(step_id=plan[0], operation=plan[1], producer=plan[2])


def failure(error: StepError, step_id: str | None) -> dict[str, Any]:
    """What TASK_FAILED says."""
    return {"error": error.body(), "failedStepId": None if step_id is None else ours(step_id, "step_id")}


def success(result: Result | None, message: str | None) -> dict[str, Any]:
    """What TASK_COMPLETED says."""
    return {"resultRef": result, "message": clean_or_none(message, MESSAGE)}


def worded(status: str | None, summary: tuple[str, Any] | None) -> dict[str, Any]:
    """What a task fact says in the words of its definition."""
    data = None if summary is None else {"schema": summary[0], "value": summary[1]}
    return {"businessStatus": status, "data": data}


def _task(task_id: str) -> str:
    return f"{TASKS}/{quote(task_id)}"


def _tried(request: Request, patience: float) -> Call[Reply]:
    tries, waited = 0, 0.0
    while True:
        outcome = yield request
        if isinstance(outcome, Reply) and outcome.status < 300:
            return outcome
        reason, asked = _trouble(outcome)
        tries += 1
        pause = max(asked or 0.0, probe_after(tries, random.random) / 2)
        if waited + pause > patience:
            raise NotReached(reason)
        waited += pause
        yield pause


def _trouble(outcome: Outcome | None) -> tuple[str, float | None]:
    """Why a request should be sent again, and after how many seconds at least. Raises `Refused` where it should not."""
    if not isinstance(outcome, Reply):
        return (outcome.reason if outcome else "no answer", None)
    problem = problem_of(outcome.body)
    if outcome.status >= 500 or outcome.status in (408, 425, 429):
        return (problem.code if problem else f"HTTP {outcome.status}", retry_after(outcome.headers))
    if problem is None:
        raise Refused(outcome.status, f"HTTP_{outcome.status}", "not an answer of the status service")
    raise Refused(outcome.status, problem.code, problem.detail)


def _decoded(reply: Reply, shape: type[T]) -> T:
    try:
        return msgspec.json.decode(reply.body, type=shape)
    except msgspec.DecodeError as error:
        raise Refused(reply.status, "NOT_OUR_ANSWER", str(error)) from None

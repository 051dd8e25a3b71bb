"""The reads without their sockets: requests, patience, and what a reply means."""

import random
from collections.abc import Mapping, Sequence
from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from milepost.client.effects import Get, Pause, Read
from milepost.client.errors import NotReached, refusal
from milepost.ports.http import Reply, Request, Unreachable
from milepost.wire.answers import CancelAnswer, TaskList, TaskSnapshot
from milepost.wire.messages import TimelineItem
from milepost.wire.notifications import MarkedRead, NotificationList
from milepost.wire.numbers import Decimal

T = TypeVar("T")

TASKS = "/api/tasks"
PAGE = 100


class Timeline(Struct, frozen=True, rename="camel"):
    """A page of a task's events by ascending version; `next_after_task_version` is None at the end."""

    items: tuple[TimelineItem, ...]
    next_after_task_version: Decimal | None


class _Problem(Struct):
    code: str
    detail: str = ""


class Reads:
    """Builds the reads of one session."""

    def __init__(self, token: str | None, patience: float) -> None:
        self.headers: dict[str, str] = {"accept": "application/json"}
        if token is not None:
            self.headers["authorization"] = f"Bearer {token}"
        self.patience = patience

    def tasks(self, filters: Mapping[str, str | int | None]) -> Read[TaskList]:
        """One page of the list."""
        query = urlencode({name: value for name, value in filters.items() if value is not None})
        return decoded((yield from self.get(f"{TASKS}?{query}" if query else TASKS)), TaskList)

    def task(self, task_id: str, *, all_attempts: bool = False) -> Read[TaskSnapshot]:
        """One task with its steps."""
        path = f"{TASKS}/{quote(task_id)}{'?attempts=all' if all_attempts else ''}"
        return decoded((yield from self.get(path)), TaskSnapshot)

    def timeline(self, task_id: str, after: int, limit: int) -> Read[Timeline]:
        """One page of a task's events."""
        query = urlencode({"afterTaskVersion": after, "limit": limit})
        return decoded((yield from self.get(f"{TASKS}/{quote(task_id)}/events?{query}")), Timeline)

    def request_cancel(self, task_id: str, key: str) -> Read[CancelAnswer]:
        """Asks for a task to be cancelled."""
        path = f"{TASKS}/{quote(task_id)}:requestCancel"
        return decoded((yield from self.post(path, b"{}", key)), CancelAnswer)

    def post(self, path: str, body: bytes, key: str) -> Read[Reply]:
        """The reply to a POST that succeeded; the key makes it safe to send again."""
        headers = self.headers | {"content-type": "application/json", "idempotency-key": key}
        return (yield from self._tried(Request("POST", path, body, headers)))

    def notifications(self, unread: bool, cursor: str | None, limit: int) -> Read[NotificationList]:
        """One page of the notification centre."""
        query = {"unread": "true" if unread else "false", "cursor": cursor, "limit": limit}
        told = urlencode({name: value for name, value in query.items() if value is not None})
        return decoded((yield from self.get(f"/api/notifications?{told}")), NotificationList)

    def mark_read(self, ids: Sequence[str], up_to: str | None) -> Read[MarkedRead]:
        """Marks notifications as read, on all devices."""
        headers = self.headers | {"content-type": "application/json"}
        body = msgspec.json.encode({"ids": list(ids)} if up_to is None else {"upTo": up_to})
        request = Request("POST", "/api/notifications:markRead", body, headers)
        return decoded((yield from self._tried(request)), MarkedRead)

    def get(self, path: str) -> Read[Reply]:
        """The reply to a GET that succeeded."""
        return (yield from self._tried(Request("GET", path, None, self.headers)))

    def _tried(self, request: Request) -> Read[Reply]:
        waited, tries = 0.0, 0
        while True:
            outcome = yield Get(request)
            if isinstance(outcome, Reply) and outcome.status < 300:
                return outcome
            reason, asked = trouble(outcome)
            tries += 1
            pause = max(asked, min(8.0, 0.25 * 2.0**tries) * (0.5 + random.random() / 2))
            if waited + pause > self.patience:
                raise NotReached(reason)
            waited += pause
            yield Pause(pause)


def trouble(outcome: object) -> tuple[str, float]:
    """Why to ask again, and after how many seconds at least. Raises the refusal where asking again is no use."""
    if not isinstance(outcome, Reply):
        return (outcome.reason if isinstance(outcome, Unreachable) else "no answer", 0.0)
    problem = problem_of(outcome)
    if outcome.status >= 500 or outcome.status in (408, 425, 429):
        asked = outcome.headers.get("retry-after", "")
        return (problem.code, min(float(asked), 600.0) if asked.isascii() and asked.isdigit() else 0.0)
    raise refusal(outcome.status, problem.code, problem.detail)


def problem_of(reply: Reply) -> _Problem:
    """The problem of a reply; one made of its status where the body is none."""
    try:
        return msgspec.json.decode(reply.body, type=_Problem)
    except msgspec.DecodeError:
        return _Problem(f"HTTP_{reply.status}")


def decoded(reply: Reply, shape: type[T]) -> T:
    """The body of a reply. Raises `Refused` for what is no answer of ours."""
    try:
        return msgspec.json.decode(reply.body, type=shape)
    except msgspec.DecodeError as error:
        raise refusal(reply.status, "NOT_OUR_ANSWER", str(error)) from None

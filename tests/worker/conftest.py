import itertools
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from milepost.ports.http import Reply, Unreachable
from milepost.worker.context import Context
from milepost.worker.delivery import Delivery, Limits, Send, Wait
from milepost.worker.stream import Stream

ACCEPTED = {"accepted": True, "duplicate": False, "stale": False}


def problem(status: int, code: str, *pointers: str, retry_after: int | None = None) -> Reply:
    body = {"status": status, "code": code, "detail": "why", "errors": [{"pointer": p} for p in pointers]}
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return Reply(status, msgspec.json.encode(body), headers)


def accepted(**directives: bool) -> Reply:
    return Reply(200, msgspec.json.encode(ACCEPTED | {"directives": directives}))


def results(*replies: Reply) -> Reply:
    bodies = [msgspec.json.decode(reply.body) | {"status": reply.status} for reply in replies]
    return Reply(200, msgspec.json.encode({"results": bodies}))


def context(step_id: str = "parse", **changed: Any) -> Context:
    fields = {
        "tenant_id": "t1",
        "task_id": "k",
        "task_type": "DOC",
        "task_attempt": 1,
        "step_id": step_id,
        "operation_code": "DOCUMENT.PARSE",
        "step_attempt": 1,
        "producer_id": "parser",
        "execution_token": "token-1",
    }
    return Context(**(fields | changed))


class Bench:
    """A delivery with a hand-turned clock and a service that answers as it is told."""

    def __init__(self, **limits: Any) -> None:
        ids = itertools.count(1)
        self.delivery = Delivery("secret", Limits(**limits), chance=lambda: 0.5, new_id=lambda: f"e{next(ids)}")
        self.now = 100.0
        self.sent: list[Send] = []

    def open(self, at: Context | None = None) -> Stream:
        return self.delivery.open(at or context(), self.now)

    def put(self, stream: Stream, event_type: str, **says: Any) -> None:
        self.delivery.put(stream, event_type, says, 1_700_000_000_000, self.now)

    def next(self) -> Send:
        action = self.delivery.next(self.now, 1_700_000_000_000)
        assert isinstance(action, Send), action
        self.sent.append(action)
        return action

    def wait(self) -> float | None:
        action = self.delivery.next(self.now, 1_700_000_000_000)
        assert isinstance(action, Wait), action
        return None if action.until is None else round(action.until - self.now, 3)

    def answer(self, send: Send, outcome: Reply | Unreachable) -> None:
        self.delivery.answered(send, outcome, self.now)

    def source(self, epoch: int = 2) -> None:
        """Answers the request for a new source."""
        send = self.next()
        assert send.kind == "TOKEN"
        self.answer(send, Reply(200, msgspec.json.encode({"executionToken": f"token-{epoch}", "sourceEpoch": epoch})))

    def exchange(self, reply: Callable[[dict[str, Any]], Reply] | Reply) -> list[dict[str, Any]]:
        """Carries one request of facts; the events in it."""
        send = self.next()
        body = msgspec.json.decode(send.request.body or b"")
        events = body["events"] if send.kind == "BATCH" else [body]
        answers = [reply(event) if callable(reply) else reply for event in events]
        self.answer(send, results(*answers) if send.kind == "BATCH" else answers[0])
        return events


@pytest.fixture
def bench() -> Bench:
    return Bench()

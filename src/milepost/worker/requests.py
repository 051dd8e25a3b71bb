"""Builds the requests of a reporter: one fact, a batch of them, a token."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from milepost.ports.http import Request
from milepost.wire.numbers import instant
from milepost.worker.context import Context
from milepost.worker.outbox import Item
from milepost.worker.stream import Stream

EVENTS = "/internal/v1/task-events"


class Sending(Struct, frozen=True):
    """One report on its way; without an item it is a heartbeat."""

    stream: Stream
    item: Item | None
    wall: int


def event_body(sending: Sending, now: float) -> dict[str, Any]:
    """The event on the wire. `now` is of the monotonic clock: it makes the age."""
    context = sending.stream.context
    bound: dict[str, Any] = {
        "taskId": context.task_id,
        "taskType": context.task_type,
        "taskAttempt": context.task_attempt,
        "stepId": context.step_id,
        "operationCode": context.operation_code,
        "stepAttempt": context.step_attempt,
        "producerId": context.producer_id,
        "sourceEpoch": context.source_epoch,
    }
    item = sending.item
    if item is None:
        return bound | {"eventType": "STEP_HEARTBEAT", "occurredAt": instant(sending.wall)}
    return bound | {
        "eventId": item.event_id,
        "eventType": item.event_type,
        "sourceSeq": str(item.seq),
        "occurredAt": instant(item.occurred_at),
        "ageMs": max(0, int((now - item.made_at) * 1000)),
        **item.says,
    }


def single(sending: Sending, now: float) -> Request:
    """One fact; its execution token is the identity."""
    headers = {"authorization": f"Bearer {sending.stream.context.execution_token}"}
    if sending.item is not None:
        headers["idempotency-key"] = sending.item.event_id
    return _post(EVENTS, event_body(sending, now), headers, sending.stream.context.tenant_id)


def batch(sendings: Sequence[Sending], credential: str, now: float) -> Request:
    """Several facts of one tenant, each with its own token."""
    events = [
        event_body(sending, now) | {"executionToken": sending.stream.context.execution_token} for sending in sendings
    ]
    return _post(
        f"{EVENTS}:batch",
        {"events": events},
        {"authorization": f"Bearer {credential}"},
        sendings[0].stream.context.tenant_id,
    )


def token(context: Context, credential: str, *, new_source: bool) -> Request:
    """A fresh token for a step attempt, with a new source if asked."""
    path = f"/internal/v1/tasks/{quote(context.task_id)}/steps/{quote(context.step_id)}/token"
    body: dict[str, Any] = {"stepAttempt": context.step_attempt}
    if new_source:
        body["newSource"] = True
    return _post(path, body, {"authorization": f"Bearer {credential}"}, context.tenant_id)


def _post(path: str, body: dict[str, Any], headers: dict[str, str], tenant_id: str) -> Request:
    sent = {"content-type": "application/json", "milepost-tenant": tenant_id, **headers}
    return Request("POST", path, msgspec.json.encode(body), sent)

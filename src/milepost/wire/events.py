"""The reported event on the wire, and how it becomes a fact: parsed, cleaned, cut, checked and hashed.

The hash covers what the event says and nothing about its delivery, so that a retry with another trace or a later age is
the same event, and so is one whose keys, spaces or number spelling differ.
"""

import hashlib
import math
from datetime import datetime
from typing import Annotated, Any, Final, Literal, cast

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from milepost.domain.facts import Fact, Heartbeat
from milepost.domain.lifecycle import HEARTBEAT, REPORTABLE, STEP_LEADS_TO, TASK_FACTS
from milepost.domain.values import Data, ErrorCategory, Number, Progress, ResultRef, StructuredError
from milepost.wire.ids import Id
from milepost.wire.json import converted, normalised
from milepost.wire.numbers import SAFE, cut_fraction, milliseconds
from milepost.wire.problems import Rejection
from milepost.wire.texts import CODE, STAGE, TITLE, UNIT, USER_MESSAGE, cut

DATA_LIMIT: Final = 64 * 1024

Counter = Annotated[int, Meta(ge=1, le=SAFE)]
Duration = Annotated[int, Meta(ge=0, le=SAFE)]
Sequence = Annotated[int, Meta(ge=1, le=SAFE)] | Annotated[str, Meta(pattern=r"^[1-9][0-9]{0,15}(?![\s\S])")]
Code = Annotated[str, Meta(min_length=1, max_length=CODE)]
When = Annotated[datetime, Meta(tz=True)]


class ProgressBody(Struct, frozen=True, forbid_unknown_fields=True):
    """`current` of `total` units; a total may be unknown."""

    current: Number
    total: Number | None = None
    unit: str | None = None


class ErrorBody(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Why an attempt failed. `userMessage` is for the owner's eyes, `diagnosticsRef` never reaches a browser."""

    category: ErrorCategory
    code: Annotated[str, Meta(min_length=1)]
    retryable: bool = False
    user_message: str | None = None
    diagnostics_ref: str | None = None


class DataBody(Struct, frozen=True, forbid_unknown_fields=True):
    """A typed payload and the name of its schema."""

    schema: Code
    value: Any


class ResultBody(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A reference to a result that lives elsewhere."""

    id: Id
    title: str | None = None
    media_type: str | None = None
    size: Duration | None = None


class EventBody(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One reported event. A heartbeat has neither `eventId` nor `sourceSeq`; step facts have both.

    `producerId` may be left out where a credential reports: it says by itself who that is.

    Texts that are too long are cut, never refused: what is said badly must not cost the end it belongs to.
    """

    task_id: Id
    task_type: Id
    task_attempt: Counter
    event_type: str
    producer_id: Id | None = None
    event_id: Id | None = None
    step_id: Id | None = None
    operation_code: Id | None = None
    step_attempt: Counter | None = None
    source_epoch: Counter | None = None
    source_seq: Sequence | None = None
    business_status: Code | None = None
    stage: str | None = None
    occurred_at: When | None = None
    age_ms: Duration | None = None
    duration_ms: Duration | None = None
    duration_source: Literal["MONOTONIC", "WALL_CLOCK_ESTIMATE"] | None = None
    progress: ProgressBody | None = None
    message: str | None = None
    error: ErrorBody | None = None
    failed_step_id: Id | None = None
    result_ref: ResultBody | None = None
    health: str | None = None
    reason: str | None = None
    data: DataBody | None = None
    trace_id: str | None = None
    execution_log_url: str | None = None
    retry_count: Duration | None = None


def event_body(value: Any) -> EventBody:
    """The event in a parsed JSON value. Raises `Rejection` with a pointer where something is not valid."""
    if isinstance(value, dict):
        _check_progress(cast("dict[str, Any]", value).get("progress"))
    clean = normalised(value)
    if isinstance(clean, dict):
        _cut_occurred(cast("dict[str, Any]", clean))
    body: EventBody = converted(clean, EventBody)
    if body.event_type not in REPORTABLE:
        raise Rejection.at("/eventType", "EVENT_TYPE_UNKNOWN", "No event of this type can be reported.")
    _check_fields(body)
    return body


def _check_progress(progress: Any) -> None:
    """Progress has a code of its own, so that a worker's division by zero is told apart from a missing field."""
    if not isinstance(progress, dict):
        return
    told = cast("dict[str, Any]", progress)
    for name in ("current", "total"):
        value = told.get(name)
        if value is None and name == "total":
            continue
        # A whole number that is out of range is left to the rule for all numbers; comparing it here is safe.
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise Rejection.at(f"/progress/{name}", "PROGRESS_INVALID", "Progress is a finite number, 0 or more.")


def _cut_occurred(event: dict[str, Any]) -> None:
    when = event.get("occurredAt")
    if isinstance(when, str):
        event["occurredAt"] = cut_fraction(when)


def _check_fields(body: EventBody) -> None:
    missing = [name for name in _needed(body.event_type) if getattr(body, name) is None]
    if missing:
        pointer = "/" + _CAMEL[missing[0]]
        raise Rejection.at(pointer, "FIELD_INVALID", f"An event of type {body.event_type} needs {_CAMEL[missing[0]]}.")
    if body.event_type in TASK_FACTS:
        _check_no_step(body)
    if body.data is not None and len(msgspec.json.encode(body.data.value)) > DATA_LIMIT:
        raise Rejection.at("/data/value", "TOO_LARGE", f"data is limited to {DATA_LIMIT // 1024} KiB.")


def _check_no_step(body: EventBody) -> None:
    for name in _OF_STEPS:
        if getattr(body, name) is not None:
            said = f"{_CAMEL[name]} belongs to the facts of steps; a step that made its task fail is the failedStepId."
            raise Rejection.at(f"/{_CAMEL[name]}", "FIELD_INVALID", said)


_CAMEL: Final = {field.name: field.encode_name for field in msgspec.structs.fields(EventBody)}
_STEP_NEEDS: Final = ("event_id", "occurred_at", "step_id", "operation_code", "step_attempt", "source_seq")
_OF_STEPS: Final = ("step_id", "operation_code", "step_attempt", "source_epoch")
_BEAT_NEEDS: Final = ("step_id", "operation_code", "step_attempt")


def _needed(event_type: str) -> tuple[str, ...]:
    if event_type == HEARTBEAT:
        return _BEAT_NEEDS
    return _STEP_NEEDS if event_type in STEP_LEADS_TO else ("event_id", "occurred_at")


def heartbeat_of(body: EventBody, tenant_id: str, epoch: int | None, *, genuine: bool) -> Heartbeat:
    """A heartbeat; `epoch` is the token's source epoch, which holds where the body names none."""
    return Heartbeat(
        tenant_id=tenant_id,
        task_id=body.task_id,
        task_attempt=body.task_attempt,
        step_id=body.step_id or "",
        step_attempt=body.step_attempt or 0,
        operation_code=body.operation_code or "",
        producer_id=body.producer_id or "",
        source_epoch=body.source_epoch if body.source_epoch is not None else epoch,
        genuine_token=genuine,
    )


def fact_of(body: EventBody, tenant_id: str, epoch: int | None, received_at: int, *, genuine: bool) -> Fact:
    """The fact an event states. `epoch` is the token's source epoch; `received_at` in UTC ms."""
    data = body.data
    unhashed = Fact(
        event_id=body.event_id or "",
        tenant_id=tenant_id,
        task_id=body.task_id,
        task_type=body.task_type,
        task_attempt=body.task_attempt,
        producer_id=body.producer_id or "",
        event_type=body.event_type,
        occurred_at=milliseconds(body.occurred_at) if body.occurred_at else received_at,
        received_at=received_at,
        payload_hash=b"",
        step_id=body.step_id,
        operation_code=body.operation_code,
        step_attempt=body.step_attempt,
        source_epoch=body.source_epoch if body.source_epoch is not None else epoch,
        source_seq=None if body.source_seq is None else int(body.source_seq),
        business_status=body.business_status,
        stage=cut(body.stage, STAGE) or None,
        age_ms=body.age_ms,
        duration_ms=body.duration_ms,
        duration_source=body.duration_source,
        progress=_progress(body.progress),
        message=cut(body.message),
        error=_error(body.error),
        failed_step_id=body.failed_step_id,
        result_ref=_result(body.result_ref),
        health=body.health,
        reason=cut(body.reason),
        data=Data(data.schema, data.value) if data else None,
        trace_id=cut(body.trace_id, CODE),
        execution_log_url=cut(body.execution_log_url),
        retry_count=body.retry_count,
        genuine_token=genuine,
    )
    return replace(unhashed, payload_hash=digest(unhashed, body.source_epoch))


def _progress(body: ProgressBody | None) -> Progress | None:
    return Progress(body.current, body.total, cut(body.unit, UNIT)) if body else None


def _error(body: ErrorBody | None) -> StructuredError | None:
    if body is None:
        return None
    told = cut(body.user_message, USER_MESSAGE)
    code = cut(body.code, CODE) or body.code
    return StructuredError(body.category, code, body.retryable, told, cut(body.diagnostics_ref))


def _result(body: ResultBody | None) -> ResultRef | None:
    return ResultRef(body.id, cut(body.title, TITLE), cut(body.media_type, CODE), body.size) if body else None


_canonical: Final = msgspec.json.Encoder(order="sorted").encode


def digest(fact: Fact, said_epoch: int | None) -> bytes:
    """SHA-256 over what the fact says, in a canonical form: equal facts give equal bytes, however they were spelled.

    Its age, retries, trace, log address and token are about delivery and stay outside; so does a source epoch that only
    the token carried, which is why the one the body said is an argument.
    """
    said = (
        fact.event_id,
        fact.task_id,
        fact.task_type,
        fact.task_attempt,
        fact.step_id,
        fact.operation_code,
        fact.step_attempt,
        fact.producer_id,
        said_epoch,
        fact.source_seq,
        fact.event_type,
        fact.business_status,
        fact.stage,
        fact.occurred_at,
        fact.duration_ms,
        fact.duration_source,
        fact.progress,
        fact.message,
        fact.error,
        fact.failed_step_id,
        fact.result_ref,
        fact.health,
        fact.reason,
        fact.data,
    )
    return hashlib.sha256(_canonical(said)).digest()

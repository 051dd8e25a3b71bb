"""The hot routes: one fact, or a batch of them. Plain ASGI, since a framework's request would cost as much as the rest.

The order of the checks: size and JSON, identity, token, the fields the token binds, the event's own fields, the schema;
then the commit, which checks the same bindings against the registered step once more.
"""

import logging
from collections.abc import Awaitable, Sequence
from typing import Any, Final, cast

import msgspec
from msgspec.structs import replace
from starlette.types import Receive, Scope, Send

from milepost.api.callers import require, tenant_of
from milepost.api.http import AWAY, BATCH_BODY, BODY, BROKEN, read_body
from milepost.api.services import Services
from milepost.domain.lifecycle import HEARTBEAT, STEP_LEADS_TO
from milepost.domain.rules import TaskRules
from milepost.domain.state import TaskKey
from milepost.ports.access import Credential
from milepost.ports.storage import Unavailable
from milepost.tokens.execution import Claims, TokenExpired, TokenInvalid
from milepost.usecases import data
from milepost.usecases.binding import rules_of_task, rules_of_token
from milepost.usecases.rates import Source
from milepost.usecases.reporting import Report
from milepost.wire.events import EventBody, event_body, fact_of, heartbeat_of
from milepost.wire.json import normalised, parse
from milepost.wire.problems import MEDIA_TYPE, Rejection, problem_json, status_of

MAX_EVENTS: Final = 500
_log = logging.getLogger("milepost.api")
_encode: Final = msgspec.json.Encoder().encode
_JSON: Final = b"application/json"


class Reports:
    """Answers `POST /internal/v1/task-events` and `…:batch`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def one(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One fact."""
        headers = _headers(scope)
        try:
            body = await read_body(receive, headers.get(b"content-length"), BODY)
            outcome = await (await self._single(parse(body), headers))
        except Rejection as rejection:
            outcome = rejection
        except Unavailable:
            outcome = AWAY
        await _reply(send, outcome)

    async def batch(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Up to 500 facts, each answered by itself, in the order they came."""
        headers = _headers(scope)
        try:
            body = await read_body(receive, headers.get(b"content-length"), BATCH_BODY)
            events = _events(parse(body))
            credential = await self._services.identities.service(_bearer(headers))
            require(credential, "report")
            tenant = tenant_of(credential, _text(headers.get(b"milepost-tenant")))
        except Rejection as rejection:
            await _reply(send, rejection)
            return
        except Unavailable:
            await _reply(send, AWAY)
            return
        submitted = [await self._item(item, credential, tenant) for item in events]
        results = [await _settled(item) for item in submitted]
        body = b'{"results":[' + b",".join(map(_result, results)) + b"]}"
        await _send(send, 200, _JSON, body, _retry_after(results))

    async def _single(self, value: Any, headers: dict[bytes, bytes]) -> Awaitable[object]:
        token = _bearer(headers)
        if token is not None and token.startswith("mpc_"):
            credential = await self._services.identities.service(token)
            body = event_body(value)
            _same_key(body, headers)
            tenant = tenant_of(credential, _text(headers.get(b"milepost-tenant")))
            return await self._task_fact(body, credential, tenant)
        if token is None:
            raise Rejection("UNAUTHENTICATED", "A report needs an execution token or a credential as its bearer.")
        claims = self._claims(token)
        body = event_body(value)
        _same_key(body, headers)
        return await self._step_fact(body, claims)

    async def _item(self, value: Any, credential: Credential, tenant: str) -> Awaitable[object] | Rejection:
        try:
            token = cast("dict[str, Any]", value).pop("executionToken", None) if isinstance(value, dict) else None
            body = event_body(value)
            if token is not None:
                return await self._step_fact(body, self._claims(token), tenant)
            if body.event_type in STEP_LEADS_TO or body.event_type == HEARTBEAT:
                return await self._untokened(body, credential, tenant)
            return await self._task_fact(body, credential, tenant)
        except Rejection as rejection:
            return rejection
        except Unavailable:
            return AWAY

    def _claims(self, token: Any) -> Claims:
        try:
            return self._services.tokens.verify(token if isinstance(token, str) else "", self._services.clock.now())
        except TokenExpired:
            raise Rejection("TOKEN_EXPIRED", "The execution token has expired; fetch a new one.") from None
        except TokenInvalid:
            raise Rejection("TOKEN_INVALID", "This is no execution token of this service.") from None

    async def _step_fact(self, body: EventBody, claims: Claims, tenant: str | None = None) -> Awaitable[object]:
        if tenant is not None and tenant != claims.tenant_id:
            raise Rejection("CONTEXT_MISMATCH", "The token belongs to another tenant.")
        _bound(body, claims)
        rules = await rules_of_token(self._services.rulebook, claims.definition_id, claims.task_type)
        to = STEP_LEADS_TO.get(body.event_type, "RUNNING")
        if body.event_type not in claims.event_types and to in rules.enabled:
            raise Rejection.at("/eventType", "CONTEXT_MISMATCH", "The token does not allow events of this type.")
        return self._submit(body, rules, claims.tenant_id, claims.source_epoch, genuine=True)

    async def _untokened(self, body: EventBody, credential: Credential, tenant: str) -> Awaitable[object]:
        body = _own(body, credential)
        if body.source_epoch is None:
            raise Rejection.at("/sourceEpoch", "FIELD_INVALID", "An item without a token names its source epoch.")
        return self._submit(body, await self._rules(body, tenant), tenant, None, genuine=False)

    async def _task_fact(self, body: EventBody, credential: Credential, tenant: str) -> Awaitable[object]:
        if body.event_type in STEP_LEADS_TO or body.event_type == HEARTBEAT:
            raise Rejection("TOKEN_INVALID", "A step's fact is reported with its execution token.")
        by_policy = "policy" in credential.rights and body.event_type == "TASK_FAILED"
        if not by_policy:
            require(credential, "report", "coordinate")
        body = _own(body, credential)
        return self._submit(body, await self._rules(body, tenant), tenant, None, genuine=False, by_policy=by_policy)

    async def _rules(self, body: EventBody, tenant: str) -> TaskRules | None:
        """The rules that judge the data of a fact without a token; None where it carries none."""
        if body.data is None:
            return None
        return await rules_of_task(self._services.rulebook, self._services.reading, TaskKey(tenant, body.task_id))

    def _submit(
        self,
        body: EventBody,
        rules: TaskRules | None,
        tenant: str,
        epoch: int | None,
        *,
        genuine: bool,
        by_policy: bool = False,
    ) -> Awaitable[object]:
        services = self._services
        if body.data is not None and rules is not None:
            data.of_fact(rules, body.event_type, body.operation_code, body.data)
        wait = services.rates.take(Source(tenant, body.producer_id or ""), services.clock.now())
        if wait is not None:
            raise Rejection(
                "RATE_LIMITED", "This producer reports too fast; send the same event later.", retry_after=wait
            )
        if body.event_type == HEARTBEAT:
            return services.beats.submit(heartbeat_of(body, tenant, epoch, genuine=genuine))
        fact = fact_of(body, tenant, epoch, services.clock.now(), genuine=genuine)
        if by_policy:
            fact = replace(fact, by_policy=True)
        judged_by = rules.definition_id if rules else None
        refuses = services.options.refuse_suspect_clocks
        return services.commit.submit(Report(fact, services.rulebook, judged_by=judged_by, refuses_suspect=refuses))


_BINDINGS: Final = (
    ("task_id", "taskId"),
    ("step_id", "stepId"),
    ("task_type", "taskType"),
    ("task_attempt", "taskAttempt"),
    ("step_attempt", "stepAttempt"),
    ("operation_code", "operationCode"),
    ("producer_id", "producerId"),
)


def _bound(body: EventBody, claims: Claims) -> None:
    if (
        body.task_id == claims.task_id
        and body.step_id == claims.step_id
        and body.step_attempt == claims.step_attempt
        and body.operation_code == claims.operation_code
        and body.producer_id == claims.producer_id
        and body.task_attempt == claims.task_attempt
        and body.task_type == claims.task_type
    ):
        return
    name = next(wire for field, wire in _BINDINGS if getattr(body, field) != getattr(claims, field))
    raise Rejection.at(f"/{name}", "CONTEXT_MISMATCH", f"{name} is not what the token is bound to.")


def _own(body: EventBody, credential: Credential) -> EventBody:
    if body.producer_id is None:
        return replace(body, producer_id=credential.producer_id)
    if body.producer_id != credential.producer_id:
        raise Rejection.at("/producerId", "CONTEXT_MISMATCH", "The credential belongs to another producer.")
    return body


def _same_key(body: EventBody, headers: dict[bytes, bytes]) -> None:
    key = headers.get(b"idempotency-key")
    if key is not None and key != (body.event_id or "").encode():
        raise Rejection("IDEMPOTENCY_KEY_MISMATCH", "Idempotency-Key, where it is sent, equals eventId.")


def _events(value: Any) -> list[Any]:
    if not isinstance(value, dict | list):
        normalised(value)  # tells of a doubled key
    events = cast("dict[str, Any]", value).get("events") if isinstance(value, dict) else None
    if not isinstance(events, list) or len(cast("dict[str, Any]", value)) != 1:
        raise Rejection.at("/events", "FIELD_INVALID", "A batch is an object with one member, a list of events.")
    items = cast("list[Any]", events)
    if len(items) > MAX_EVENTS:
        raise Rejection.at("/events", "TOO_LARGE", f"A batch is limited to {MAX_EVENTS} events.")
    return items


async def _settled(item: Awaitable[object] | Rejection) -> object:
    if isinstance(item, Rejection):
        return item
    try:
        return await item
    except Unavailable:
        return AWAY
    except Exception:
        _log.exception("report failed")
        return BROKEN


def _retry_after(results: Sequence[object]) -> list[tuple[bytes, bytes]]:
    """When to send what was put off; the longest wait of all items, since they come as one answer."""
    waits = [result.retry_after for result in results if isinstance(result, Rejection) and result.retry_after]
    return [(b"retry-after", str(max(waits)).encode())] if waits else []


def _result(outcome: object) -> bytes:
    if isinstance(outcome, Rejection):
        return problem_json(outcome)
    return b'{"status":200,' + _encode(outcome)[1:]


def _headers(scope: Scope) -> dict[bytes, bytes]:
    return dict(cast("Sequence[tuple[bytes, bytes]]", scope["headers"]))


def _bearer(headers: dict[bytes, bytes]) -> str | None:
    value = headers.get(b"authorization", b"")
    return value[7:].decode("latin-1") if value[:7].lower() == b"bearer " else None


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("latin-1")


async def _reply(send: Send, outcome: object) -> None:
    if not isinstance(outcome, Rejection):
        await _send(send, 200, _JSON, _encode(outcome))
        return
    more = [] if outcome.retry_after is None else [(b"retry-after", str(outcome.retry_after).encode())]
    status = status_of(outcome.code)
    if status == 401:
        more.append((b"www-authenticate", b"Bearer"))
    await _send(send, status, MEDIA_TYPE.encode(), problem_json(outcome), more)


async def _send(send: Send, status: int, media: bytes, body: bytes, more: Sequence[tuple[bytes, bytes]] = ()) -> None:
    headers = [(b"content-type", media), (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

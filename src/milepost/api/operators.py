"""The routes of operators. Every use of them is audited."""

from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from milepost.api.callers import person, viewer
from milepost.api.http import idempotency_key, json_response, number, read_json
from milepost.api.services import Services
from milepost.api.tasks import path_id
from milepost.domain.correcting import Correction
from milepost.domain.state import TaskKey
from milepost.ports.access import AuditEntry
from milepost.ports.operating import Resolution
from milepost.usecases import operating
from milepost.usecases.correcting import CorrectTask
from milepost.usecases.idempotency import Once
from milepost.usecases.identity import Viewer
from milepost.wire import commands
from milepost.wire.numbers import instant
from milepost.wire.operating import ResolveConflict, Stats
from milepost.wire.problems import Rejection
from milepost.wire.texts import TEXT, cut


async def operator(request: Request, services: Services) -> Viewer:
    """The operator behind a request. Raises `Rejection` UNAUTHENTICATED or FORBIDDEN."""
    who = await viewer(request, services)
    if "operator" not in who.roles:
        raise Rejection("FORBIDDEN", "This is for operators.")
    return who


async def correct(request: Request, services: Services) -> Response:
    """Sets a task to the terminal state it is in truth in."""
    who = await operator(request, services)
    key = TaskKey(who.tenant_id, path_id(request, "task_id"))
    body: commands.CorrectTask = await read_json(request, commands.CorrectTask)
    said = Correction(
        lifecycle=body.lifecycle_status,
        business_status=body.business_status,
        reason=cut(body.reason, TEXT) or "",
        expected_version=int(body.expected_version),
        operator=who.user_id,
        event_id=f"corrected.{uuid4().hex}",
    )
    once = Once.of(key.tenant_id, person(who), idempotency_key(request), (key.task_id, body))
    return json_response(await services.commit(CorrectTask(key, said, once, services.rulebook)))


async def list_conflicts(request: Request, services: Services) -> Response:
    """Contradicting terminals, newest first; open ones unless another state is asked for."""
    who = await operator(request, services)
    asked = request.query_params.get("state", "OPEN").upper()
    if asked not in ("OPEN", "RESOLVED", "ALL"):
        raise Rejection.at("/query/state", "FIELD_INVALID", "A state is open, resolved or all.")
    state = None if asked == "ALL" else asked
    cursor, limit = _page(request)
    page = await operating.conflicts(services.operating, who.tenant_id, state, cursor, limit)
    await _read(services, who, "conflicts.read")
    return json_response(page)


async def resolve_conflict(request: Request, services: Services) -> Response:
    """Settles a conflict; again, the first answer stands."""
    who = await operator(request, services)
    body: ResolveConflict = await read_json(request, ResolveConflict)
    event_id = path_id(request, "event_id")
    note = cut(body.note, TEXT) or ""
    said = Resolution(who.tenant_id, event_id, who.user_id, note, services.clock.now())
    settled = await services.operating.resolve(said)
    if settled is None:
        raise Rejection("NOT_FOUND", "No conflict of this event.")
    return json_response(operating.conflict_view(settled))


async def audit(request: Request, services: Services) -> Response:
    """The audit log, newest first."""
    who = await operator(request, services)
    cursor, limit = _page(request)
    page = await operating.audited(services.operating, who.tenant_id, cursor, limit)
    await _read(services, who, "audit.read")
    return json_response(page)


async def credentials(request: Request, services: Services) -> Response:
    """The credentials that may act in the operator's tenant, without secrets."""
    who = await operator(request, services)
    found = await operating.credentials(services.access, who.tenant_id)
    await _read(services, who, "credentials.read")
    return json_response(found)


async def stats(request: Request, services: Services) -> Response:
    """Counts of the operator's tenant."""
    who = await operator(request, services)
    found = await services.operating.figures(who.tenant_id)
    await _read(services, who, "stats.read")
    epoch, now = await services.storage.epoch(), instant(services.clock.now())
    return json_response(Stats(found.tasks, found.unfinished, found.open_conflicts, epoch, now))


def _page(request: Request) -> tuple[str | None, int]:
    return request.query_params.get("cursor"), number(request, "limit", 50, 1, 200)


async def _read(services: Services, who: Viewer, action: str) -> None:
    await services.access.audit(AuditEntry(who.tenant_id, who.user_id, action, "", "{}", services.clock.now()))

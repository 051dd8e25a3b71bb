"""The routes of the notification centre, of broadcasts, and of who belongs to a project."""

from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from milepost.api.callers import TENANT_HEADER, caller, header_tenant, service, viewer
from milepost.api.http import idempotency_key, json_response, number, read_json
from milepost.api.services import Services
from milepost.api.tasks import path_id
from milepost.domain.notices import Preferences
from milepost.ports.access import AuditEntry, Credential
from milepost.usecases.broadcasting import EVERYONE, Announce
from milepost.usecases.idempotency import Once
from milepost.usecases.members import SetMembers
from milepost.usecases.notifying import Marking
from milepost.wire import notifications as wire
from milepost.wire.problems import Rejection


async def list_notifications(request: Request, services: Services) -> Response:
    """What is kept for the person who asks, newest first."""
    who = await viewer(request, services)
    text = request.query_params.get("unread", "false")
    if text not in ("true", "false"):
        raise Rejection.at("/query/unread", "FIELD_INVALID", "unread is true or false.")
    limit = number(request, "limit", 50, 1, 200)
    after = request.query_params.get("cursor")
    unread = text == "true"
    return json_response(
        await services.centre.page(who.tenant_id, who.user_id, unread=unread, after=after, limit=limit)
    )


async def mark_read(request: Request, services: Services) -> Response:
    """Marks notifications as read, on all devices of the person who asks."""
    who = await viewer(request, services)
    body: wire.MarkRead = await read_json(request, wire.MarkRead)
    return json_response(await services.tell(Marking.of(who.tenant_id, who.user_id, body)))


async def read_preferences(request: Request, services: Services) -> Response:
    """What the person who asks wants to be told of."""
    who = await viewer(request, services)
    return json_response(wire.preferences_view(await services.centre.preferences(who.tenant_id, who.user_id)))


async def write_preferences(request: Request, services: Services) -> Response:
    """Replaces what the person who asks wants to be told of."""
    who = await viewer(request, services)
    body: wire.PreferencesBody = await read_json(request, wire.PreferencesBody)
    wished = Preferences(body.min_level, frozenset(body.muted))
    await services.centre.prefer(who.tenant_id, who.user_id, wished)
    return json_response(wire.preferences_view(wished))


async def broadcast(request: Request, services: Services) -> Response:
    """Tells something to a project, a tenant or everyone online; 200 where the same key said it before."""
    credential = await service(request, services, "broadcast")
    body: wire.CreateBroadcast = await read_json(request, wire.CreateBroadcast)
    tenant = _audience(request, credential, body)
    once = Once.of(tenant, caller(credential), idempotency_key(request), body)
    command = Announce.of(tenant, once, body, f"b.{uuid4().hex}", services.clock.now())
    if tenant != EVERYONE and not await services.access.has_tenant(tenant):
        raise Rejection("NOT_FOUND", "No such tenant.")
    made = await services.tell(command)
    if made.new:
        await _audit(services, credential, tenant, "broadcast.made", made.answer.id, body.audience)
    return json_response(made.answer, 201 if made.new else 200)


def _audience(request: Request, credential: Credential, body: wire.CreateBroadcast) -> str:
    if body.audience != "system":
        return header_tenant(request, credential)
    if credential.tenant_id is not None:
        raise Rejection("FORBIDDEN", "Only a credential of all tenants may speak to everyone.")
    if TENANT_HEADER in request.headers:
        raise Rejection.at("/headers/Milepost-Tenant", "FIELD_INVALID", "A broadcast to everyone is of no tenant.")
    return EVERYONE


async def set_members(request: Request, services: Services) -> Response:
    """Sets who belongs to a project, all at once; the same list again changes nothing."""
    credential = await service(request, services, "sessions")
    project_id = path_id(request, "project_id")
    body: wire.SetMembers = await read_json(request, wire.SetMembers)
    tenant = header_tenant(request, credential)
    if not await services.access.has_tenant(tenant):
        raise Rejection("NOT_FOUND", "No such tenant.")
    answer = await services.tell(SetMembers(tenant, project_id, frozenset(body.user_ids)))
    said = f"granted {len(answer.granted)}, revoked {len(answer.revoked)}"
    await _audit(services, credential, tenant, "members.set", project_id, said)
    return json_response(answer)


async def _audit(services: Services, credential: Credential, tenant: str, action: str, subject: str, said: str) -> None:
    detail = f'{{"said":"{said}"}}'
    await services.access.audit(
        AuditEntry(tenant, credential.producer_id, action, subject, detail, services.clock.now())
    )

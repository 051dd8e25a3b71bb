"""Signing in and out: the host product's backend mints sessions, a link's code becomes a cookie."""

from starlette.requests import Request
from starlette.responses import Response

from milepost.api.callers import header_tenant, same_site, service, tenant_of, viewer
from milepost.api.http import json_response, read_json
from milepost.api.services import Services
from milepost.api.tasks import path_id
from milepost.ports.access import UserSession
from milepost.usecases import sessions
from milepost.usecases.identity import SESSION_COOKIE
from milepost.usecases.tickets import make_ticket
from milepost.wire import commands
from milepost.wire.numbers import instant
from milepost.wire.operating import SessionsRevoked
from milepost.wire.problems import Rejection


async def mint(request: Request, services: Services) -> Response:
    """A bearer for a user of the host product; never with a role above the credential's own."""
    credential = await service(request, services, "sessions")
    body: commands.CreateSession = await read_json(request, commands.CreateSession)
    tenant = tenant_of(credential, body.tenant_id or request.headers.get("milepost-tenant"))
    roles = frozenset(body.roles)
    sessions.check_ceiling(credential, roles)
    grant = sessions.Grant(tenant, body.user_id, frozenset(body.project_ids), roles, body.ttl_seconds)
    minted = await sessions.mint(services.access, services.clock, grant)
    await sessions.audit(services.access, services.clock, credential.producer_id, minted.session, "session.minted")
    expires = instant(minted.session.expires_at)
    return json_response(commands.SessionMade(minted.session.session_id, minted.token, expires), 201)


async def revoke(request: Request, services: Services) -> Response:
    """Ends one session and its streams; again, and for an unknown one, 204 as well."""
    credential = await service(request, services, "sessions")
    session_id = path_id(request, "session_id")
    found = await services.access.session(session_id)
    if found is not None and found.tenant_id == header_tenant(request, credential):
        await _end(services, found)
        await sessions.audit(services.access, services.clock, credential.producer_id, found, "session.revoked")
    return Response(status_code=204)


async def revoke_all(request: Request, services: Services) -> Response:
    """Ends every session of a user in the caller's tenant, and their streams."""
    credential = await service(request, services, "sessions")
    tenant, user = header_tenant(request, credential), path_id(request, "user_id")
    found = await services.access.open_sessions(tenant, user, services.clock.now())
    for session in found:
        await _end(services, session)
        await sessions.audit(services.access, services.clock, credential.producer_id, session, "session.revoked")
    return json_response(SessionsRevoked(len(found)))


async def sign_in(request: Request, services: Services) -> Response:
    """Exchanges the code of a link for an HttpOnly, same-site cookie."""
    same_site(request, services)  # else a foreign page could sign people in as somebody else
    body: commands.ExchangeCode = await read_json(request, commands.ExchangeCode)
    minted = await sessions.open_link(services.access, services.clock, body.code)
    response = json_response(_state(minted.session), 201)
    response.set_cookie(
        SESSION_COOKIE,
        minted.token,
        max_age=(minted.session.expires_at - services.clock.now()) // 1000,
        httponly=True,
        samesite="strict",
        secure=services.options.secure_cookies,
    )
    return response


async def who_am_i(request: Request, services: Services) -> Response:
    """Who is signed in."""
    who = await viewer(request, services)
    projects = tuple(sorted(who.project_ids))
    roles = tuple(sorted(who.roles))
    state = commands.SessionState(who.tenant_id, who.user_id, projects, roles, instant(who.expires_at))
    return json_response(state, headers={"cache-control": "no-store"})


async def ticket(request: Request, services: Services) -> Response:
    """A one-time ticket for one stream, for viewers that can send neither a header nor a cookie."""
    who = await viewer(request, services)
    made = await make_ticket(services.access, services.clock, who.session_id)
    answer = commands.TicketMade(made.text, instant(made.expires_at))
    return json_response(answer, 201, headers={"cache-control": "no-store"})


async def sign_out(request: Request, services: Services) -> Response:
    """Ends the session and its streams, and takes the cookie away."""
    who = await viewer(request, services)
    found = await services.access.session(who.session_id)
    if found is None:
        raise Rejection("UNAUTHENTICATED", "The session is unknown.")
    await _end(services, found)
    response = Response(status_code=204)
    response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="strict", secure=services.options.secure_cookies)
    return response


async def _end(services: Services, session: UserSession) -> None:
    await services.access.revoke_session(session.session_id, services.clock.now())
    services.identities.forget(session.session_id)
    services.ended(session.session_id)


def _state(session: UserSession) -> commands.SessionState:
    projects = tuple(sorted(session.project_ids))
    roles = tuple(sorted(session.roles))
    return commands.SessionState(session.tenant_id, session.user_id, projects, roles, instant(session.expires_at))

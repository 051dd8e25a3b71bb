"""The routes of people: lists, one task, its timeline, what is newer, and the request to cancel."""

from datetime import datetime
from typing import Final, cast, get_args
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from milepost.api.callers import person, viewer
from milepost.api.http import idempotency_key, json_response, number, read_json
from milepost.api.services import Services
from milepost.api.tasks import path_id
from milepost.domain.lifecycle import Lifecycle
from milepost.ports.reading import Filters
from milepost.usecases import cancelling
from milepost.usecases.idempotency import Once
from milepost.wire import commands
from milepost.wire.ids import checked
from milepost.wire.numbers import SAFE, milliseconds
from milepost.wire.problems import Rejection
from milepost.wire.texts import clean, cut

PAGE: Final = 50
PAGE_MAX: Final = 200
SEARCH_MAX: Final = 300
_LIFECYCLES: Final = frozenset(cast("tuple[str, ...]", get_args(Lifecycle)))


async def list_tasks(request: Request, services: Services) -> Response:
    """A page of tasks, newest created first; with `changedAfter`, what changed after a cursor."""
    who = await viewer(request, services)
    limit = number(request, "limit", PAGE, 1, PAGE_MAX)
    after = request.query_params.get("changedAfter")
    if after is not None:
        return json_response(await services.views.changes(who.scope, after, limit))
    page = await services.views.page(who.scope, _filters(request), request.query_params.get("cursor"), limit)
    return json_response(page)


def _filters(request: Request) -> Filters:
    query = request.query_params
    lifecycle = query.get("lifecycleStatus")
    if lifecycle is not None and lifecycle not in _LIFECYCLES:
        raise Rejection.at("/query/lifecycleStatus", "FIELD_INVALID", "No such lifecycle status.")
    text = clean(query.get("q", ""))
    if len(text) > SEARCH_MAX:
        raise Rejection.at("/query/q", "FIELD_INVALID", f"A search has at most {SEARCH_MAX} characters.")
    return Filters(
        lifecycle=cast("Lifecycle | None", lifecycle),
        task_type=_id(request, "taskType"),
        project_id=_id(request, "projectId"),
        text=text or None,
        updated_after=_moment(query.get("updatedAfter")),
    )


def _id(request: Request, name: str) -> str | None:
    text = request.query_params.get(name)
    return None if text is None else checked(text, f"/query/{name}")


def _moment(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return milliseconds(datetime.fromisoformat(text))
    except (ValueError, TypeError):
        raise Rejection.at("/query/updatedAfter", "FIELD_INVALID", "An instant is RFC 3339 with an offset.") from None


async def show(request: Request, services: Services) -> Response:
    """One task in full; 304 where the version the viewer knows still stands."""
    who = await viewer(request, services)
    every = request.query_params.get("attempts") == "all"
    found = await services.views.detail(who.scope, path_id(request, "task_id"), all_attempts=every)
    tag = f'W/"{found.epoch}-{found.task.version}-{"detail.all" if every else "detail"}"'
    headers = {"etag": tag, "cache-control": "private, no-cache"}
    if _matches(tag, request.headers.get("if-none-match", "")):
        return Response(status_code=304, headers=headers)
    return json_response(services.views.snapshot(found), headers=headers)


def _matches(tag: str, known: str) -> bool:
    """Whether one of the listed tags is this one, by the weak comparison of RFC 9110."""
    given = [item.strip().removeprefix("W/") for item in known.split(",")]
    return "*" in given or tag.removeprefix("W/") in given


async def timeline(request: Request, services: Services) -> Response:
    """The events of one task above a version."""
    who = await viewer(request, services)
    after = number(request, "afterTaskVersion", 0, 0, SAFE)
    limit = number(request, "limit", 100, 1, 500)
    return json_response(await services.views.timeline(who.scope, path_id(request, "task_id"), after, limit))


async def batch_get(request: Request, services: Services) -> Response:
    """What is newer than the versions a client knows."""
    who = await viewer(request, services)
    body: commands.BatchGet = await read_json(request, commands.BatchGet)
    detail = body.view == "detail"
    known = body.known_versions
    return json_response(await services.views.newer(who.scope, body.task_ids, known, body.epoch, detail=detail))


async def request_cancel(request: Request, services: Services) -> Response:
    """Asks for one's own task to be cancelled; others may where the task type gives the right to their role."""
    who = await viewer(request, services)
    found = await services.views.detail(who.scope, path_id(request, "task_id"))
    may = services.rulebook.of(found.task).cancel_roles
    if found.task.owner_id != who.user_id and not may & who.roles:
        raise Rejection("FORBIDDEN", f"Only the owner or the role {' or '.join(sorted(may)) or 'of nobody'} may ask.")
    body: commands.RequestCancel = await read_json(request, commands.RequestCancel, empty=commands.RequestCancel())
    key = found.task.key
    once = Once.of(key.tenant_id, person(who), idempotency_key(request), (key.task_id, body))
    command = cancelling.RequestCancel(key, person(who), once, f"cancel.{uuid4().hex}", cut(body.reason))
    return json_response(await services.commit(command))

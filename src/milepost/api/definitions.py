"""The routes of definitions: publish and list for services, wording for viewers."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from milepost.api.callers import TENANT_HEADER, header_tenant, service, viewer
from milepost.api.http import json_response, number, read_json
from milepost.api.services import Services
from milepost.api.tasks import path_id
from milepost.definitions.documents import decoded
from milepost.definitions.presenting import Wording, generic_wording, wording
from milepost.ports.access import Credential
from milepost.usecases import publishing
from milepost.usecases.rulebook import choose
from milepost.wire.definitions import definition_shown
from milepost.wire.problems import Rejection

VERSIONS = 1_000_000


async def publish(request: Request, services: Services) -> Response:
    """Publishes a document: 201, or 200 for the same document again."""
    credential = await service(request, services, "definitions")
    document: dict[str, Any] = await read_json(request, dict[str, Any])
    wish = publishing.Publication(_line(request, credential), document, credential.producer_id)
    if wish.tenant_id and not await services.access.has_tenant(wish.tenant_id):
        raise Rejection("NOT_FOUND", "No such tenant; it is made by `milepost tenants create`.")
    made = await publishing.publish(services.definitions, services.access, services.clock, wish)
    return json_response(made.answer, 201 if made.new else 200)


async def list_published(request: Request, services: Services) -> Response:
    """Every version a tenant may use; with documents where `taskType` names one type."""
    credential = await service(request, services, "definitions")
    query = request.query_params
    version = number(request, "version", 1, 1, VERSIONS) if "version" in query else None
    found = await publishing.listed(
        services.definitions, _line(request, credential), query.get("taskType"), query.get("product"), version
    )
    return json_response(found)


def _line(request: Request, credential: Credential) -> str:
    """The tenant whose definitions are meant: the default one for a credential of all tenants that names none."""
    if credential.tenant_id is None and request.headers.get(TENANT_HEADER) is None:
        return ""
    return header_tenant(request, credential)


async def show(request: Request, services: Services) -> Response:
    """How a task type is worded: as its task is bound, as the version asked for says, or as the newest enabled one."""
    who = await viewer(request, services)
    task_type, query = path_id(request, "task_type"), request.query_params
    version = number(request, "version", 1, 1, VERSIONS) if "version" in query else None
    if "taskId" in query:
        found = await services.views.detail(who.scope, query["taskId"])
        said = await _of_definition(services, found.task.definition_id, found.task.task_type)
    else:
        said = await _of_version(services, who.tenant_id, query.get("product"), task_type, version)
    if said.task_type != task_type:
        raise Rejection("NOT_FOUND", "The task has another type.")
    return json_response(definition_shown(said), 200, {"cache-control": "private, max-age=60"})


async def _of_definition(services: Services, definition_id: str | None, task_type: str) -> Wording:
    if definition_id is None:
        return generic_wording(task_type)
    return wording(decoded((await services.definitions.documents([definition_id]))[definition_id]))


async def _of_version(
    services: Services, tenant_id: str, product: str | None, task_type: str, version: int | None
) -> Wording:
    published = await services.definitions.versions(tenant_id, product or "", task_type)
    found = choose(published, version)
    if found is None:
        # A version that is not enabled is still that of the tasks that were bound to it.
        found = next((one for one in published if one.version == version), None)
    if found is None and version not in (None, 1):
        raise Rejection("NOT_FOUND", "The task type has no such version.")
    return await _of_definition(services, found.definition_id if found else None, task_type)

"""The routes of operators. Every use of them is audited."""

from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from milepost.api.callers import person, viewer
from milepost.api.http import idempotency_key, json_response, read_json
from milepost.api.services import Services
from milepost.api.tasks import path_id
from milepost.domain.correcting import Correction
from milepost.domain.state import TaskKey
from milepost.usecases.correcting import CorrectTask
from milepost.usecases.idempotency import Once
from milepost.usecases.identity import Viewer
from milepost.wire import commands
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

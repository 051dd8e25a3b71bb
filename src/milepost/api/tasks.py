"""The routes of services: create tasks, open attempts, fetch tokens, ask to cancel, read back."""

from collections.abc import Sequence
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from milepost.api.callers import TENANT_HEADER, caller, header_tenant, service, tenant_of
from milepost.api.http import idempotency_key, json_response, read_json
from milepost.api.services import Services
from milepost.domain.attempts import Opening
from milepost.domain.creation import StepDraft, TaskDraft
from milepost.domain.events import Evidence
from milepost.domain.rules import TaskRules
from milepost.domain.state import TaskKey
from milepost.ports.access import Credential
from milepost.ports.reading import Snapshot
from milepost.ports.storage import ResultKey
from milepost.usecases import adding, cancelling, creating, data, opening, sourcing
from milepost.usecases.binding import rules_of_task
from milepost.usecases.contexts import signed
from milepost.usecases.idempotency import Once
from milepost.usecases.removing import RemoveTask
from milepost.wire import commands
from milepost.wire.answers import CancelAnswer, Context, EvidenceView, ServiceSnapshot, TaskOpened
from milepost.wire.ids import checked, is_id
from milepost.wire.numbers import cursor, instant
from milepost.wire.problems import Rejection
from milepost.wire.texts import TITLE, cut
from milepost.wire.views import step_view, task_view


async def create(request: Request, services: Services) -> Response:
    """Makes a task with its steps: 201, or 200 with the same facts for the same key and body."""
    credential = await service(request, services, "coordinate")
    body: commands.CreateTask = await read_json(request, commands.CreateTask)
    if credential.tenant_id is not None and body.tenant_id != credential.tenant_id:
        raise Rejection.at("/tenantId", "FORBIDDEN", "This credential belongs to another tenant.")
    if request.headers.get(TENANT_HEADER, body.tenant_id) != body.tenant_id:
        raise Rejection.at("/tenantId", "FIELD_INVALID", "The header Milepost-Tenant names another tenant.")
    await _known_tenant(services, body.tenant_id)
    version, place = _version(body)
    rules = await services.rulebook.for_new(body.tenant_id, body.product, body.task_type, version, place)
    once = Once.of(body.tenant_id, caller(credential), idempotency_key(request), body)
    command = creating.CreateTask(_draft(body, rules), caller(credential), once, f"created.{uuid4().hex}", rules)
    made = await services.commit(command)
    assert isinstance(made, creating.Created)  # noqa: S101 (what this command decides)
    return json_response(_signed(services, made.opened), 201 if made.new else 200)


async def _known_tenant(services: Services, tenant_id: str) -> None:
    if not await services.access.has_tenant(tenant_id):
        raise Rejection.at("/tenantId", "NOT_FOUND", "No such tenant; it is made by `milepost tenants create`.")


def _version(body: commands.CreateTask) -> tuple[int | None, str]:
    """The version of the definition that a creation asks for, and where: both names mean the document's one version."""
    status, operation = body.status_definition_version, body.operation_definition_version
    if status is not None and operation is not None and status != operation:
        detail = "One document has one version: name the same twice, or one of the two."
        raise Rejection.at("/operationDefinitionVersion", "FIELD_INVALID", detail)
    if status is None:
        return operation, "/operationDefinitionVersion"
    return status, "/statusDefinitionVersion"


def _draft(body: commands.CreateTask, rules: TaskRules) -> TaskDraft:
    summary = body.summary_data
    return TaskDraft(
        tenant_id=body.tenant_id,
        task_id=body.task_id or uuid4().hex,
        owner_id=body.owner_id,
        task_type=body.task_type,
        title=cut(body.title, TITLE) or "",
        steps=_plans(body.steps, rules),
        project_id=body.project_id,
        product=body.product,
        summary=data.of_summary(rules, summary, "/summaryData") if summary else None,
    )


def _plans(steps: Sequence[commands.StepPlan], rules: TaskRules | None) -> tuple[StepDraft, ...]:
    return tuple(_plan(plan, rules, f"/steps/{index}") for index, plan in enumerate(steps))


def _plan(plan: commands.StepPlan, rules: TaskRules | None, place: str) -> StepDraft:
    said = plan.data
    begins = data.of_plan(rules, plan.operation_code, said, f"{place}/data") if said and rules else None
    return StepDraft(plan.step_id, plan.operation_code, plan.producer_id, plan.weight, plan.on_failure, begins)


def _signed(services: Services, opened: TaskOpened) -> TaskOpened:
    return TaskOpened(opened.task, opened.steps, tuple(_sign(services, context) for context in opened.contexts))


def _sign(services: Services, context: Context) -> Context:
    return signed(context, services.tokens, services.clock.now(), services.options.token_ttl_ms)


async def add_steps(request: Request, services: Services) -> Response:
    """Adds steps to an unfinished task: 201 with their contexts, or 200 with the same facts for the same key."""
    credential, key = await _coordinator(request, services)
    body: commands.AddSteps = await read_json(request, commands.AddSteps)
    who = caller(credential)
    once = Once.of(key.tenant_id, who, idempotency_key(request), (key.task_id, body))
    rules = None
    if any(plan.data for plan in body.steps):
        rules = await rules_of_task(services.rulebook, services.reading, key)
    judged_by = rules.definition_id if rules else None
    plans = _plans(body.steps, rules)
    command = adding.AddSteps(key, plans, who, once, _event_id("steps"), services.rulebook, judged_by)
    made = await services.commit(command)
    assert isinstance(made, creating.Created)  # noqa: S101 (what this command decides)
    return json_response(_signed(services, made.opened), 201 if made.new else 200)


async def open_task_attempt(request: Request, services: Services) -> Response:
    """Opens a task attempt by number."""
    body: commands.OpenTaskAttempt = await read_json(
        request, commands.OpenTaskAttempt, empty=commands.OpenTaskAttempt()
    )
    wish = Opening(_attempt(request), _event_id("attempt"), body.abandon, body.override_cancel, body.steps)
    return await _open(request, services, None, wish)


async def open_step_attempt(request: Request, services: Services) -> Response:
    """Opens a step attempt by number."""
    body: commands.OpenStepAttempt = await read_json(
        request, commands.OpenStepAttempt, empty=commands.OpenStepAttempt()
    )
    wish = Opening(_attempt(request), _event_id("attempt"), body.abandon, body.override_cancel)
    return await _open(request, services, path_id(request, "step_id"), wish)


async def _open(request: Request, services: Services, step_id: str | None, wish: Opening) -> Response:
    credential, key = await _coordinator(request, services)
    command = opening.OpenAttempt(key, step_id, wish, credential.producer_id, services.rulebook)
    opened = await services.commit(command)
    assert isinstance(opened, TaskOpened)  # noqa: S101 (what this command decides)
    return json_response(_signed(services, opened))


async def token(request: Request, services: Services) -> Response:
    """A fresh context for the step's producer or the task's coordinator; `newSource` fences older sources."""
    credential = await service(request, services, "report", "coordinate")
    key = TaskKey(header_tenant(request, credential), path_id(request, "task_id"))
    step_id = path_id(request, "step_id")
    body: commands.FreshToken = await read_json(request, commands.FreshToken, empty=commands.FreshToken())
    if body.new_source:
        command = sourcing.NewSource(key, step_id, body.step_attempt, credential.producer_id, services.rulebook)
        context = await services.commit(command)
        assert isinstance(context, Context)  # noqa: S101 (what this command decides)
    else:
        context = await sourcing.refreshed(
            services.reading, key, step_id, body.step_attempt, credential.producer_id, services.rulebook
        )
    return json_response(_sign(services, context))


async def request_cancel(request: Request, services: Services) -> Response:
    """Asks for a task to be cancelled."""
    credential, key = await _coordinator(request, services)
    body: commands.RequestCancel = await read_json(request, commands.RequestCancel, empty=commands.RequestCancel())
    once = Once.of(key.tenant_id, caller(credential), idempotency_key(request), (key.task_id, body))
    command = cancelling.RequestCancel(key, caller(credential), once, _event_id("cancel"), cut(body.reason))
    answer = await services.commit(command)
    assert isinstance(answer, CancelAnswer)  # noqa: S101 (what this command decides)
    return json_response(answer)


async def delete(request: Request, services: Services) -> Response:
    """Deletes a finished task; again, the same answer."""
    credential, key = await _coordinator(request, services)
    return json_response(await services.commit(RemoveTask(key, credential.producer_id, _event_id("removed"))))


async def read(request: Request, services: Services) -> Response:
    """One task for services; a producer sees its own steps only."""
    credential = await service(request, services, "report", "coordinate")
    key = TaskKey(header_tenant(request, credential), path_id(request, "task_id"))
    return json_response(await _service_snapshot(services, credential, key))


async def find(request: Request, services: Services) -> Response:
    """The task that a creation under this idempotency key made."""
    credential = await service(request, services, "coordinate")
    tenant = tenant_of(credential, request.headers.get(TENANT_HEADER))
    key = request.query_params.get("idempotencyKey")
    if not key:
        raise Rejection.at("/query/idempotencyKey", "FIELD_INVALID", "Name the idempotency key of the creation.")
    result = await services.reading.result(ResultKey(tenant, credential.credential_id, key))
    if result is None:
        raise Rejection("NOT_FOUND", "No task was created under this key.")
    return json_response(await _service_snapshot(services, credential, TaskKey(tenant, result.task_id)))


async def _service_snapshot(services: Services, credential: Credential, key: TaskKey) -> ServiceSnapshot:
    found = await services.reading.snapshot(key)
    if found is None:
        raise Rejection("TASK_UNKNOWN", "No such task here.")
    if found.task.deleted_at is not None:
        raise Rejection("TASK_DELETED", "The task was deleted.")
    coordinates = "coordinate" in credential.rights and found.task.coordinator_id == credential.producer_id
    steps = tuple(step for step in found.steps if coordinates or step.producer_id == credential.producer_id)
    if not coordinates and not steps:
        raise Rejection("CONTEXT_MISMATCH", "No step of this task belongs to this producer.")
    evidence = await services.reading.evidence(key, 100) if coordinates else ()
    await services.rulebook.load((found.task,))
    return _told(services, Snapshot(found.task, steps, found.epoch, found.cursor), evidence)


def _told(services: Services, found: Snapshot, evidence: tuple[Evidence, ...]) -> ServiceSnapshot:
    now = services.clock.now()
    task = found.task
    rules = services.rulebook.of(task)
    return ServiceSnapshot(
        task=task_view(task, now, rules, projection="TASK_DETAIL"),
        steps=tuple(step_view(step, now, rules) for step in found.steps),
        cancel_requested=task.cancel_requested_at is not None and not task.ended,
        cancel_requested_by=task.cancel_requested_by,
        evidence=tuple(map(_evidence, evidence)),
        epoch=found.epoch,
        stream_cursor=cursor(found.epoch, found.cursor),
    )


def _evidence(found: Evidence) -> EvidenceView:
    return EvidenceView(
        event_id=found.event_id,
        event_type=found.event_type,
        reason=found.reason,
        step_id=found.step_id,
        task_attempt=found.task_attempt,
        step_attempt=found.step_attempt,
        source_epoch=found.source_epoch,
        source_seq=None if found.source_seq is None else str(found.source_seq),
        task_version=str(found.task_version),
        lifecycle_status=found.lifecycle,
        received_at=instant(found.received_at),
    )


async def _coordinator(request: Request, services: Services) -> tuple[Credential, TaskKey]:
    credential = await service(request, services, "coordinate")
    return credential, TaskKey(header_tenant(request, credential), path_id(request, "task_id"))


def path_id(request: Request, name: str) -> str:
    """An id of the path. Raises `Rejection` NOT_FOUND where it cannot be one: nothing has such a name."""
    text = str(request.path_params[name])
    if not is_id(text):
        raise Rejection("NOT_FOUND", "Nothing has this name.")
    return checked(text, "")


def _attempt(request: Request) -> int:
    text = str(request.path_params["number"])
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text) >= 1):
        raise Rejection("NOT_FOUND", "An attempt is named by a whole number from 1.")
    return int(text)


def _event_id(kind: str) -> str:
    return f"{kind}.{uuid4().hex}"

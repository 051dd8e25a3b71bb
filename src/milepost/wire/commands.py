"""The bodies of commands."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from milepost.domain.lifecycle import End, FailurePolicy
from milepost.wire.events import Code, Counter, DataBody
from milepost.wire.ids import Id
from milepost.wire.numbers import Decimal

Foreign = Annotated[str, Meta(min_length=1, max_length=1000)]


class StepPlan(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A step as its coordinator plans it. Without them, weight and `onFailure` are those of its operation."""

    step_id: Id
    operation_code: Id
    producer_id: Id
    weight: Annotated[float, Meta(gt=0, le=1_000_000)] | Annotated[int, Meta(gt=0, le=1_000_000)] | None = None
    on_failure: FailurePolicy | None = None
    data: DataBody | None = None


class CreateTask(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A new task with the steps that are known. Without `taskId` the service makes one."""

    tenant_id: Id
    owner_id: Id
    task_type: Id
    title: str
    task_id: Id | None = None
    project_id: Id | None = None
    product: Id | None = None
    status_definition_version: Counter | None = None
    operation_definition_version: Counter | None = None
    steps: Annotated[tuple[StepPlan, ...], Meta(max_length=500)] = ()
    summary_data: DataBody | None = None


class AddSteps(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """More steps for a task that is unfinished."""

    steps: Annotated[tuple[StepPlan, ...], Meta(min_length=1, max_length=500)]


class OpenTaskAttempt(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Opens a task attempt. Without `steps` every step that did not succeed is reopened."""

    steps: Annotated[tuple[Id, ...], Meta(max_length=500)] | None = None
    abandon: bool = False
    override_cancel: bool = False


class OpenStepAttempt(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Opens a step attempt; `abandon` gives up one that is unfinished."""

    abandon: bool = False
    override_cancel: bool = False


class FreshToken(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Asks for a token: of the newest attempt, or of the one named; `newSource` fences every older source."""

    step_attempt: Counter | None = None
    new_source: bool = False


class RequestCancel(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Asks the coordinator to stop."""

    reason: str | None = None


class CorrectTask(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What an operator says the truth about a task is, judged on `expectedVersion`; only terminal states."""

    lifecycle_status: End
    reason: Annotated[str, Meta(min_length=1)]
    expected_version: Decimal | Counter
    business_status: Code | None = None


class CreateSession(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A session for a user of the host product."""

    user_id: Id
    tenant_id: Id | None = None
    project_ids: Annotated[tuple[Id, ...], Meta(max_length=1000)] = ()
    roles: tuple[Literal["member", "admin", "operator"], ...] = ("member",)
    ttl_seconds: Annotated[int, Meta(ge=1, le=86_400)] = 3600


class SessionMade(Struct, frozen=True, rename="camel"):
    """A session's bearer, shown once."""

    session_id: str
    token: str
    expires_at: str


class TicketMade(Struct, frozen=True, rename="camel"):
    """A ticket, shown once: `?ticket=` of one stream, until `expiresAt`."""

    ticket: str
    expires_at: str


class ExchangeCode(Struct, frozen=True, forbid_unknown_fields=True):
    """The one-time code of a sign-in link."""

    code: Annotated[str, Meta(max_length=128)]


class SessionState(Struct, frozen=True, rename="camel"):
    """Who is signed in."""

    tenant_id: str
    user_id: str
    project_ids: tuple[str, ...]
    roles: tuple[str, ...]
    expires_at: str


class BatchGet(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Asks for what is newer than the versions a client knows, in the epoch it knows them from."""

    task_ids: Annotated[tuple[Id, ...], Meta(max_length=200)]
    known_versions: Annotated[dict[str, Decimal], Meta(max_length=200)] = {}
    epoch: str | None = None
    view: Literal["summary", "detail"] = "summary"


ClientCount = Annotated[int, Meta(ge=0, le=1_000)]


class ClientCounters(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What a viewer's connections went through since its last beacon."""

    reconnects: ClientCount = 0
    resets: ClientCount = 0
    snapshots: ClientCount = 0
    notices_shown: ClientCount = 0


class Beacon(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What a viewer measured: milliseconds from commits to their being visible, at most 100 of them, and counters."""

    commit_to_visible_ms: Annotated[tuple[Annotated[int, Meta(ge=0, le=86_400_000)], ...], Meta(max_length=100)] = ()
    counters: ClientCounters = ClientCounters()


class ReportBatch(Struct, frozen=True, forbid_unknown_fields=True):
    """Up to 500 events, each judged by itself; `executionToken` stands beside an event's own fields."""

    events: Annotated[list[Any], Meta(max_length=500)]

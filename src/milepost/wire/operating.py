"""What operators read and settle, on the wire."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from milepost.domain.lifecycle import Lifecycle
from milepost.wire.numbers import Decimal, Instant
from milepost.wire.views import ErrorView


class ConflictView(Struct, frozen=True, rename="camel"):
    """A terminal fact that contradicted an end, the state it met, and what became of it."""

    event_id: str
    task_id: str
    step_id: str | None
    event_type: str
    producer_id: str
    task_attempt: int
    step_attempt: int | None
    task_version: Decimal
    lifecycle_status: Lifecycle
    step_lifecycle_status: Lifecycle | None
    message: str | None
    error: ErrorView | None
    occurred_at: Instant
    received_at: Instant
    state: Literal["OPEN", "RESOLVED"]
    resolved_at: Instant | None
    resolved_by: str | None
    note: str | None


class ConflictPage(Struct, frozen=True, rename="camel"):
    """Conflicts, newest first."""

    items: tuple[ConflictView, ...]
    next_cursor: str | None


class ResolveConflict(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Settles a conflict; `note` says what was found."""

    note: Annotated[str, Meta(min_length=1)]


class AuditView(Struct, frozen=True, rename="camel"):
    """One use of a privileged route or command."""

    id: Decimal
    actor: str
    action: str
    subject: str
    detail: dict[str, Any]
    at: Instant


class AuditPage(Struct, frozen=True, rename="camel"):
    """The audit log, newest first."""

    items: tuple[AuditView, ...]
    next_cursor: str | None


class CredentialView(Struct, frozen=True, rename="camel"):
    """A service's credential, without its secret; `tenantId` is null for one of all tenants."""

    credential_id: str
    producer_id: str
    tenant_id: str | None
    rights: tuple[str, ...]
    roles_up_to: str
    created_at: Instant
    revoked_at: Instant | None


class CredentialList(Struct, frozen=True, rename="camel"):
    """The credentials that may act in the tenant."""

    items: tuple[CredentialView, ...]


class Stats(Struct, frozen=True, rename="camel"):
    """Counts of a tenant: tasks by lifecycle, unfinished ones by health, conflicts nobody settled yet."""

    tasks: Mapping[str, int]
    unfinished: Mapping[str, int]
    open_conflicts: int
    epoch: str
    as_of: Instant


class SessionsRevoked(Struct, frozen=True, rename="camel"):
    """How many sessions were ended."""

    revoked: int

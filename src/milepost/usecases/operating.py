"""What operators read and settle, in the shapes of the wire."""

from typing import Any, Final

import msgspec

from milepost.ports.access import Access, Credential
from milepost.ports.operating import Audited, Conflict, ConflictState, Operating
from milepost.wire.ids import is_id
from milepost.wire.numbers import instant, instant_or_none
from milepost.wire.operating import (
    AuditPage,
    AuditView,
    ConflictPage,
    ConflictView,
    CredentialList,
    CredentialView,
)
from milepost.wire.problems import Rejection
from milepost.wire.views import error_view

_DIGITS: Final = 18


async def conflicts(
    operating: Operating, tenant_id: str, state: ConflictState | None, cursor: str | None, limit: int
) -> ConflictPage:
    """A page of conflicts, newest first. Raises `Rejection` FIELD_INVALID for what is no cursor."""
    found = await operating.conflicts(tenant_id, state, _place(cursor), limit + 1)
    items = tuple(map(conflict_view, found[:limit]))
    last = found[limit - 1].evidence if len(found) > limit else None
    return ConflictPage(items, f"{last.received_at}|{last.event_id}" if last else None)


async def audited(operating: Operating, tenant_id: str, cursor: str | None, limit: int) -> AuditPage:
    """A page of the audit log, newest first. Raises `Rejection` FIELD_INVALID for what is no cursor."""
    if cursor is not None and not _is_count(cursor):
        raise _no_cursor()
    found = await operating.audited(tenant_id, None if cursor is None else int(cursor), limit + 1)
    more = len(found) > limit
    return AuditPage(tuple(map(_audit_view, found[:limit])), str(found[limit - 1].number) if more else None)


async def credentials(access: Access, tenant_id: str) -> CredentialList:
    """The credentials that may act in this tenant, revoked ones included; never their secrets."""
    found = await access.credentials()
    return CredentialList(tuple(_credential_view(one) for one in found if one.tenant_id in (tenant_id, None)))


def conflict_view(conflict: Conflict) -> ConflictView:
    """One conflict on the wire."""
    found = conflict.evidence
    return ConflictView(
        event_id=found.event_id,
        task_id=found.task_id,
        step_id=found.step_id,
        event_type=found.event_type,
        producer_id=found.producer_id,
        task_attempt=found.task_attempt,
        step_attempt=found.step_attempt,
        task_version=str(found.task_version),
        lifecycle_status=found.lifecycle,
        step_lifecycle_status=found.step_lifecycle,
        message=found.payload.message,
        error=error_view(found.payload.error),
        occurred_at=instant(found.occurred_at),
        received_at=instant(found.received_at),
        state=conflict.state,
        resolved_at=instant_or_none(conflict.resolved_at),
        resolved_by=conflict.resolved_by,
        note=conflict.note,
    )


def _audit_view(found: Audited) -> AuditView:
    entry = found.entry
    detail = msgspec.json.decode(entry.detail, type=dict[str, Any])
    return AuditView(str(found.number), entry.actor, entry.action, entry.subject, detail, instant(entry.at))


def _credential_view(found: Credential) -> CredentialView:
    return CredentialView(
        found.credential_id,
        found.producer_id,
        found.tenant_id,
        tuple(sorted(found.rights)),
        found.roles_up_to,
        instant(found.created_at),
        instant_or_none(found.revoked_at),
    )


def _place(cursor: str | None) -> tuple[int, str] | None:
    if cursor is None:
        return None
    at, _, event_id = cursor.partition("|")
    if not _is_count(at) or not is_id(event_id):
        raise _no_cursor()
    return int(at), event_id


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS


def _no_cursor() -> Rejection:
    return Rejection.at("/query/cursor", "FIELD_INVALID", "Not a cursor of this list.")

"""What operators read and settle: conflicts, the audit log, figures of a tenant."""

from collections.abc import Mapping
from typing import Literal, Protocol

from msgspec import Struct

from milepost.domain.events import Evidence
from milepost.ports.access import AuditEntry

ConflictState = Literal["OPEN", "RESOLVED"]


class Conflict(Struct, frozen=True):
    """A terminal fact that contradicted an end, as evidence, and what became of it."""

    evidence: Evidence
    state: ConflictState
    resolved_at: int | None = None
    resolved_by: str | None = None
    note: str | None = None


class Resolution(Struct, frozen=True):
    """Who settled the conflict of an event, with which note, when."""

    tenant_id: str
    event_id: str
    operator: str
    note: str
    at: int


class Audited(Struct, frozen=True):
    """An entry of the audit log with its number."""

    number: int
    entry: AuditEntry


class Figures(Struct, frozen=True):
    """Counts of one tenant: tasks that are not deleted by lifecycle, unfinished ones by health, open conflicts."""

    tasks: Mapping[str, int]
    unfinished: Mapping[str, int]
    open_conflicts: int


class Operating(Protocol):
    """Each method is a view or a transaction of its own."""

    async def conflicts(
        self, tenant_id: str, state: ConflictState | None, before: tuple[int, str] | None, limit: int
    ) -> tuple[Conflict, ...]:
        """Conflicts newest first, after `before` = (received_at, event_id) of the last one seen."""
        ...

    async def resolve(self, resolution: Resolution) -> Conflict | None:
        """Settles an open conflict, with its audit entry; one that is settled stays as it is. None if unknown."""
        ...

    async def audited(self, tenant_id: str, before: int | None, limit: int) -> tuple[Audited, ...]:
        """The audit log, newest first, with numbers below `before`."""
        ...

    async def figures(self, tenant_id: str) -> Figures:
        """Counts as they are now."""
        ...

"""Turns values into rows and back. A row is a tuple in the order of its table's columns."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar
from unicodedata import normalize

import msgspec
from msgspec.structs import astuple
from sqlalchemy import Table

from milepost.domain.cancelling import due_at
from milepost.domain.events import Event, Evidence, PrivateFacts, PublicFacts, StreamEntry
from milepost.domain.health import look_at
from milepost.domain.notices import Action, Notification
from milepost.domain.state import Pending, Step, Task
from milepost.domain.values import Data, Failure, Number, Progress, ResultRef, StructuredError
from milepost.ports.access import AuditEntry, Credential, OnceCode, Right, Role, UserSession
from milepost.ports.definitions import Published
from milepost.ports.notices import Broadcast
from milepost.ports.storage import CommandResult, Remembered
from milepost.storage import definition_tables, notice_tables, tables

S = TypeVar("S", bound=msgspec.Struct)
Row = Sequence[Any]

_encode = msgspec.json.Encoder().encode


def folded(text: str) -> str:
    """Text without case, the same for everybody: what lists are searched by."""
    return normalize("NFC", normalize("NFC", text).casefold())


class Shape(Generic[S]):
    """How one struct lies in one table: which fields are JSON, which are flags, and what is derived behind them."""

    def __init__(
        self,
        struct: type[S],
        table: Table,
        *,
        json: Mapping[str, Any] | None = None,
        raw: Sequence[str] = (),
        derived: Callable[[S], tuple[Any, ...]] | None = None,
    ) -> None:
        """`json` maps fields to their types; fields in `raw` are JSON in bytes already."""
        self.table = table
        self.columns = tuple(table.c.keys())
        self.fields = fields = struct.__struct_fields__
        self.width = len(fields)
        self._struct = struct
        self._json = [(fields.index(name), msgspec.json.Decoder(kind)) for name, kind in (json or {}).items()]
        self._flags = [index for index, field in enumerate(msgspec.structs.fields(struct)) if field.type is bool]
        self._raw = [fields.index(name) for name in raw]
        self._derived = derived

    def row(self, value: S) -> Row:
        """The row of a value, derived columns included."""
        cells: list[Any] = list(astuple(value))
        for index, _ in self._json:
            if cells[index] is not None:
                cells[index] = _encode(cells[index]).decode()
        for index in self._raw:
            cells[index] = cells[index].decode()
        if self._derived is not None:
            cells.extend(self._derived(value))
        return cells

    def value(self, row: Row) -> S:
        """The value of a row; the columns behind the struct's own fields are ignored."""
        cells: list[Any] = list(row[: self.width])
        for index, decoder in self._json:
            if cells[index] is not None:
                cells[index] = decoder.decode(cells[index])
        for index in self._raw:
            cells[index] = cells[index].encode()
        for index in self._flags:
            cells[index] = cells[index] != 0
        return self._struct(*cells)


def _listing(task: Task) -> tuple[Any, ...]:
    listed_at = task.created_at if task.deleted_at is None else None
    return listed_at, folded(f"{task.title}\n{task.task_id}"), due_at(task)


def _waiting(step: Step) -> tuple[Any, ...]:
    return (step.pending.since if step.pending else None, look_at(step))


def _conflict(evidence: Evidence) -> tuple[Any, ...]:
    return ("OPEN" if evidence.reason == "CONFLICTING_TERMINAL" else None, None, None, None)


TASK = Shape(Task, tables.task, json={"summary": Data, "result_ref": ResultRef, "failure": Failure}, derived=_listing)
STEP = Shape(
    Step,
    tables.task_step,
    json={"weight": Number, "progress": Progress, "pending": Pending, "data": Data, "error": StructuredError},
    derived=_waiting,
)
EVENT = Shape(Event, tables.task_event_log, json={"public": PublicFacts, "private": PrivateFacts})
EVIDENCE = Shape(Evidence, tables.task_event_evidence, json={"payload": PublicFacts}, derived=_conflict)
REMEMBERED = Shape(Remembered, tables.task_event_dedup, raw=("answer",))
RESULT = Shape(CommandResult, tables.command_result, raw=("answer",))
NOTIFICATION = Shape(Notification, notice_tables.notification, json={"actions": tuple[Action, ...]})
BROADCAST = Shape(Broadcast, notice_tables.system_broadcast)
CREDENTIAL = Shape(Credential, tables.service_credential, json={"rights": frozenset[Right]})
SESSION = Shape(UserSession, tables.user_session, json={"project_ids": frozenset[str], "roles": frozenset[Role]})
PUBLISHED = Shape(Published, definition_tables.task_definition)
CODE = Shape(OnceCode, tables.used_once, raw=("body",))


AUDITED = tuple(name for name in tables.audit_log.c.keys() if name != "audit_id")  # noqa: SIM118 (columns, not names)
"""The columns of an audit entry, without the number the database gives it."""


def entry_row(entry: StreamEntry, position: int) -> Row:
    """The row of a stream entry under its position."""
    tenant_id, *rest = astuple(entry)
    return (tenant_id, position, *rest)


def entry_value(row: Row) -> tuple[int, StreamEntry]:
    """A position and its entry."""
    tenant_id, position, *rest = row
    rest[6] = rest[6] != 0
    return position, StreamEntry(tenant_id, *rest)


def audit_row(entry: AuditEntry) -> Row:
    """The row of an audit entry, without the number the database gives it."""
    return astuple(entry)

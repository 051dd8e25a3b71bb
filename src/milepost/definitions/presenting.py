"""The wording of a task type as people see it: names, colours and icons of its statuses and operations.

Colours and icons are tokens that pages give a meaning to. What a document says nothing about has a built-in wording.
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from milepost.definitions.documents import (
    Document,
    Label,
    OperationDefinition,
    Presentation,
    StatusDefinition,
    label_of,
)
from milepost.domain.lifecycle import ENDS, WAITING_USER_ACTION, Lifecycle
from milepost.domain.rules import ProgressMode, StatusScope


class StatusWording(Struct, frozen=True):
    """One business status as people see it."""

    code: str
    label: Label
    lifecycle: Lifecycle
    terminal: bool
    severity: str
    sort_order: int
    scope: tuple[StatusScope, ...]
    presentation: Presentation
    enabled: bool


class OperationWording(Struct, frozen=True):
    """One operation as people see it; `expected` as it was written."""

    code: str
    label: Label
    presentation: Presentation
    expected: str | int | float | None
    enabled: bool


class Wording(Struct, frozen=True):
    """One version of a task type as people see it; operations of an open type are those it says something about."""

    task_type: str
    product: str | None
    version: int
    label: Label
    mode: ProgressMode
    statuses: tuple[StatusWording, ...]
    operations: tuple[OperationWording, ...]


_BOTH: Final[tuple[StatusScope, ...]] = ("task", "step")


def _built_in(
    code: str, text: str, lifecycle: Lifecycle, severity: str, order: int, color: str, icon: str
) -> StatusWording:
    scope: tuple[StatusScope, ...] = ("task",) if code == WAITING_USER_ACTION else _BOTH
    label = Label(text, f"status.{code.lower()}")
    look = Presentation(color, icon)
    return StatusWording(code, label, lifecycle, lifecycle in ENDS, severity, order, scope, look, enabled=True)


_BUILT_IN: Final = {
    one.code: one
    for one in (
        _built_in("PENDING", "Pending", "PENDING", "INFO", 100, "neutral", "clock"),
        _built_in("RUNNING", "Running", "RUNNING", "INFO", 200, "progress", "play"),
        _built_in(WAITING_USER_ACTION, "Waiting for you", "RUNNING", "WARNING", 300, "attention", "hand"),
        _built_in("SUCCEEDED", "Succeeded", "SUCCEEDED", "SUCCESS", 400, "success", "check"),
        _built_in("FAILED", "Failed", "FAILED", "ERROR", 500, "danger", "cross"),
        _built_in("CANCELLED", "Cancelled", "CANCELLED", "WARNING", 600, "muted", "stop"),
        _built_in("TIMED_OUT", "Timed out", "TIMED_OUT", "ERROR", 700, "danger", "timer"),
    )
}


def wording(document: Document) -> Wording:
    """How a document words its type: its own statuses and the built-in ones, by sort order, then by code."""
    absent = {"TIMED_OUT"} - set(document.optional_lifecycles)
    statuses = {code: one for code, one in _BUILT_IN.items() if code not in absent}
    for said in document.statuses:
        statuses[said.code] = _status(said)
    ordered = sorted(statuses.values(), key=lambda one: (one.sort_order, one.code))
    return Wording(
        task_type=document.task_type,
        product=document.product,
        version=document.version,
        label=label_of(document.display_name, document.task_type),
        mode=document.progress_mode,
        statuses=tuple(ordered),
        operations=tuple(map(_operation, document.operations or ())),
    )


def generic_wording(task_type: str) -> Wording:
    """The wording of a type that nobody defined."""
    return wording(Document(task_type, 1))


def _status(said: StatusDefinition) -> StatusWording:
    base = _BUILT_IN[said.lifecycle_status]
    own = _BUILT_IN.get(said.code, base)
    look = said.presentation
    return replace(
        base,
        code=said.code,
        label=own.label
        if said.display_name is None and own.code == said.code
        else label_of(said.display_name, said.code),
        severity=said.severity or own.severity,
        sort_order=base.sort_order if said.sort_order is None else said.sort_order,
        scope=said.scope if isinstance(said.scope, tuple) else (said.scope,),
        presentation=Presentation(look.color or own.presentation.color, look.icon or own.presentation.icon, look.texts),
        enabled=said.enabled,
    )


def _operation(said: OperationDefinition) -> OperationWording:
    label = label_of(said.display_name, said.code)
    return OperationWording(said.code, label, said.presentation, said.expected_duration, said.enabled)

"""Compares two versions of a definition: what changed, whether it is compatible, and what needs a new version and why.

A published document never changes, so every change takes a new document version. A data schema has a version of its
own, in its name: under the same name only what no producer and no reader can notice may change.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import fields

from milepost.definitions.compiling import SCHEMA_BYTES
from milepost.definitions.documents import Document, OperationDefinition, SchemaDefinition, StatusDefinition
from milepost.definitions.evolution import Step, schema_steps
from milepost.definitions.fields import octets
from milepost.definitions.source import pointed
from milepost.domain.lifecycle import STEP_FACTS


class Change(Struct, frozen=True, rename="camel"):
    """One change. `needs` is None where it is compatible, else what takes a new version: `document` or a schema.

    `because` says why; `path` is a JSON Pointer into the newer document.
    """

    path: str
    what: str
    needs: str | None = None
    because: str | None = None


class Comparison(Struct, frozen=True, rename="camel"):
    """All changes, and what stands in the way of publishing the newer document after the older."""

    changes: tuple[Change, ...]
    older: int
    newer: int
    obstacles: tuple[str, ...]

    @property
    def raised(self) -> bool:
        """Whether the version number was raised."""
        return self.newer > self.older


DOCUMENT: Final = "document"


def compared(older: Document, newer: Document) -> Comparison:
    """What changed from one document to the other."""
    changes = (*_task_type(older, newer), *_statuses(older, newer), *_operations(older, newer), *_schemas(older, newer))
    return Comparison(changes, older.version, newer.version, tuple(_obstacles(older, newer, changes)))


def _obstacles(older: Document, newer: Document, changes: tuple[Change, ...]) -> Iterator[str]:
    for name in ("task_type", "product"):
        if getattr(older, name) != getattr(newer, name):
            yield f"the documents are about different things: {name.replace('_', ' ')} differs"
            return
    broken = sorted({change.needs for change in changes if change.needs not in (None, DOCUMENT)})
    for name in broken:
        yield f"{name} changes in a way that needs a new name, such as {_next(name)}"
    if changes and newer.version <= older.version:
        yield f"the version must be raised above {older.version}: a published document never changes"
    elif newer.version < older.version:
        yield f"the version went back from {older.version} to {newer.version}"


def _next(name: str) -> str:
    stem, _, number = name.rpartition(".v")
    return f"{stem}.v{int(number) + 1}" if number.isdigit() else f"{name}.v2"


_FREE: Final = "compatible"
_TYPE_FIELDS: Final[dict[str, str]] = {
    "display_name": _FREE,
    "enabled": _FREE,
    "progress_mode": "percentages would mean something else",
    "expected_max_duration": _FREE,
    "retention": _FREE,
    "cancel_deadline": _FREE,
    "result_resolver": _FREE,
    "summary_schema": "the summary would hold other data",
}
_STATUS_FIELDS: Final[dict[str, str]] = {
    "display_name": _FREE,
    "severity": _FREE,
    "sort_order": _FREE,
    "presentation": _FREE,
    "lifecycle_status": "the code would mean another lifecycle",
    "enabled": "producers that report it would be refused",
}
_OPERATION_FIELDS: Final[dict[str, str]] = {
    "display_name": _FREE,
    "presentation": _FREE,
    "heartbeat_interval": _FREE,
    "stale_after": _FREE,
    "probe": _FREE,
    "expected_duration": _FREE,
    "weight": _FREE,
    "producer_pattern": "other producers may run it",
    "failure_policy": "its failure would mean something else for the task",
    "max_attempts": "its failure would mean something else for the task",
    "enabled": "steps that run it could no longer be planned",
}


def _fields(path: str, older: Any, newer: Any, meanings: dict[str, str]) -> Iterator[Change]:
    names = {field.name: field.encode_name for field in fields(older)}
    for name, because in meanings.items():
        before, after = getattr(older, name), getattr(newer, name)
        if before == after:
            continue
        what = f"{names[name]} changed{_from_to(before, after)}"
        place = path + pointed(names[name])
        if because == _FREE or (name == "enabled" and after is True):
            yield Change(place, what)
        else:
            yield Change(place, what, DOCUMENT, because)


def _from_to(before: Any, after: Any) -> str:
    plain = (str, int, float, bool, type(None))
    if not isinstance(before, plain) or not isinstance(after, plain):
        return ""
    return f" from {_word(before)} to {_word(after)}"


def _word(value: Any) -> str:
    return "nothing" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _sets(path: str, name: str, before: Iterable[str], after: Iterable[str], because: str) -> Iterator[Change]:
    """Adding is compatible, taking away is not."""
    old, new = frozenset(before), frozenset(after)
    for item in sorted(new - old):
        yield Change(path, f"{name} {item} added")
    for item in sorted(old - new):
        yield Change(path, f"{name} {item} removed", DOCUMENT, because)


def _task_type(older: Document, newer: Document) -> Iterator[Change]:
    yield from _fields("", older, newer, _TYPE_FIELDS)
    because = "facts that lead there would be refused"
    yield from _sets("/optionalLifecycles", "lifecycle", older.optional_lifecycles, newer.optional_lifecycles, because)
    roles = ("admin", "operator")
    before = roles if older.cancel_roles is None else older.cancel_roles
    after = roles if newer.cancel_roles is None else newer.cancel_roles
    yield from _sets("/cancelRoles", "role", before, after, "people lose the right to ask for a cancel")
    yield from _projections("/projections", older.projections, newer.projections)
    if (older.operations is None) != (newer.operations is None):
        opens = newer.operations is None
        what = "every operation is allowed now" if opens else "only the listed operations are allowed now"
        because = None if opens else "steps of other operations could no longer be planned"
        yield Change("/operations", what, None if opens else DOCUMENT, because)


def _projections(path: str, before: dict[str, tuple[str, ...]], after: dict[str, tuple[str, ...]]) -> Iterator[Change]:
    for audience in sorted({*before, *after}):
        because = f"{audience} would no longer show it"
        yield from _sets(f"{path}/{audience}", "field", before.get(audience, ()), after.get(audience, ()), because)


def _pairs(path: str, what: str, older: dict[str, Any], newer: dict[str, Any], order: list[str], why: str) -> Any:
    changes = [Change(f"{path}/{order.index(name)}", f"{what} {name} added") for name in order if name not in older]
    changes += [Change(path, f"{what} {name} removed", DOCUMENT, why) for name in older if name not in newer]
    both = [(f"{path}/{order.index(name)}", older[name], newer[name]) for name in order if name in older]
    return changes, both


def _statuses(older: Document, newer: Document) -> Iterator[Change]:
    before = {one.code: one for one in older.statuses}
    after = {one.code: one for one in newer.statuses}
    why = "producers that report it would be refused"
    changes, both = _pairs("/statuses", "status", before, after, [one.code for one in newer.statuses], why)
    yield from changes
    for path, old, new in both:
        yield from _status(path, old, new)


def _status(path: str, older: StatusDefinition, newer: StatusDefinition) -> Iterator[Change]:
    yield from _fields(path, older, newer, _STATUS_FIELDS)
    why = "producers that report it there would be refused"
    yield from _sets(f"{path}/scope", "scope", _scope(older), _scope(newer), why)
    if newer.allowed_from is None and older.allowed_from is not None:
        yield Change(f"{path}/allowedFrom", "it may follow any status now")
    elif newer.allowed_from is not None:
        place, because = f"{path}/allowedFrom", "moves that were legal would be refused"
        if older.allowed_from is None:
            yield Change(place, "it may follow only some statuses now", DOCUMENT, because)
        else:
            yield from _sets(place, "origin", older.allowed_from, newer.allowed_from, because)


def _scope(status: StatusDefinition) -> tuple[str, ...]:
    return status.scope if isinstance(status.scope, tuple) else (status.scope,)


def _operations(older: Document, newer: Document) -> Iterator[Change]:
    if older.operations is None or newer.operations is None:
        return
    before = {one.code: one for one in older.operations}
    after = {one.code: one for one in newer.operations}
    why = "steps that run it could no longer be planned"
    changes, both = _pairs("/operations", "operation", before, after, [one.code for one in newer.operations], why)
    yield from changes
    for path, old, new in both:
        yield from _operation(path, old, new)


def _operation(path: str, older: OperationDefinition, newer: OperationDefinition) -> Iterator[Change]:
    yield from _fields(path, older, newer, _OPERATION_FIELDS)
    before = STEP_FACTS if older.allowed_event_types is None else older.allowed_event_types
    after = STEP_FACTS if newer.allowed_event_types is None else newer.allowed_event_types
    why = "facts of this type would be refused"
    yield from _sets(f"{path}/allowedEventTypes", "event type", before, after, why)
    for event in sorted({*older.allowed_data_schemas, *newer.allowed_data_schemas}):
        place = f"{path}/allowedDataSchemas/{event}"
        old, new = _names(older, event), _names(newer, event)
        yield from _sets(place, "schema", old, new, "facts that carry it would be refused")
    yield from _projections(f"{path}/projections", older.projections, newer.projections)


def _names(operation: OperationDefinition, event: str) -> tuple[str, ...]:
    said = operation.allowed_data_schemas.get(event, ())
    return (said,) if isinstance(said, str) else said


def _schemas(older: Document, newer: Document) -> Iterator[Change]:
    before = {one.name: one for one in older.schemas}
    after = {one.name: one for one in newer.schemas}
    why = "facts that carry it would be refused"
    changes, both = _pairs("/schemas", "schema", before, after, [one.name for one in newer.schemas], why)
    yield from changes
    for path, old, new in both:
        yield from _schema(path, old, new)


def _schema(path: str, older: SchemaDefinition, newer: SchemaDefinition) -> Iterator[Change]:
    for step in schema_steps(older.schema, newer.schema):
        yield _told(f"{path}/schema{step.path}", newer.name, step)
    yield from _limits(path, older, newer)
    for pointer in sorted({*newer.sensitive} - {*older.sensitive}):
        yield Change(f"{path}/sensitive", f"{pointer} is sensitive now")
    for pointer in sorted({*older.sensitive} - {*newer.sensitive}):
        because = "what was kept back could be shown"
        yield Change(f"{path}/sensitive", f"{pointer} is no longer sensitive", newer.name, because)


def _limits(path: str, older: SchemaDefinition, newer: SchemaDefinition) -> Iterator[Change]:
    before = SCHEMA_BYTES if older.max_size is None else octets(older.max_size) or 0
    after = SCHEMA_BYTES if newer.max_size is None else octets(newer.max_size) or 0
    if after > before:
        yield Change(f"{path}/maxSize", "larger values are taken")
    elif after < before:
        because = "values that were taken would be refused"
        yield Change(f"{path}/maxSize", "only smaller values are taken", newer.name, because)


def _told(path: str, name: str, step: Step) -> Change:
    return Change(path, step.what, None if step.because is None else name, step.because)

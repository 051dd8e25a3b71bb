"""Compiles a document into the rules that decisions are made by."""

from typing import Final

import msgspec

from milepost.definitions.documents import Document, OperationDefinition, SchemaDefinition, StatusDefinition
from milepost.definitions.fields import milliseconds, octets
from milepost.definitions.generic import LIFECYCLES, built_in
from milepost.definitions.whitelist import whitelist
from milepost.domain.lifecycle import STEP_FACTS, Lifecycle
from milepost.domain.masks import Mask
from milepost.domain.rules import (
    Audience,
    BusinessStatus,
    OperationRules,
    Probe,
    ProgressRules,
    SchemaRules,
    StatusScope,
    TaskRules,
)

HEARTBEAT_MS: Final = 10_000
HEARTBEATS: Final = 6
"""After how many missed heartbeats a step is stale where nothing says otherwise."""

CANCEL_MS: Final = 60_000
SCHEMA_BYTES: Final = 64 * 1024


def compiled(document: Document, definition_id: str, progress: ProgressRules | None = None) -> TaskRules:
    """The rules of a document that was found without errors."""
    optional: tuple[Lifecycle, ...] = document.optional_lifecycles
    schemas = {one.name: one for one in document.schemas}
    roles = document.cancel_roles
    return TaskRules(
        task_type=document.task_type,
        version=document.version,
        mode=document.progress_mode,
        statuses=built_in(optional) | {one.code: _status(one) for one in document.statuses},
        enabled=frozenset((*LIFECYCLES, *optional)),
        default_status={code: code for code in (*LIFECYCLES, *optional)},
        any_operation=document.operations is None,
        cancel_deadline_ms=_span(document.cancel_deadline) or CANCEL_MS,
        progress=progress or ProgressRules(),
        definition_id=definition_id,
        operations={one.code: _operation(one, schemas) for one in document.operations or ()},
        schemas={name: _schema(one) for name, one in schemas.items()},
        summary_schema=document.summary_schema,
        summary_shown=_summary(document, schemas),
        cancel_roles=frozenset({"admin", "operator"}) if roles is None else frozenset(roles),
        expected_max_ms=_span(document.expected_max_duration),
        retention_ms=_span(document.retention),
        result_resolver=document.result_resolver,
    )


def _status(said: StatusDefinition) -> BusinessStatus:
    scope: tuple[StatusScope, ...] = said.scope if isinstance(said.scope, tuple) else (said.scope,)
    origins = None if said.allowed_from is None else frozenset(said.allowed_from)
    return BusinessStatus(said.code, said.lifecycle_status, frozenset(scope), origins, said.enabled)


def _operation(said: OperationDefinition, schemas: dict[str, SchemaDefinition]) -> OperationRules:
    interval = _span(said.heartbeat_interval) or HEARTBEAT_MS
    carried = {event: _names(names) for event, names in said.allowed_data_schemas.items()}
    pointers = said.projections.get("TASK_DETAIL", ())
    probe = said.probe
    return OperationRules(
        code=said.code,
        heartbeat_interval_ms=interval,
        stale_after_ms=_span(said.stale_after) or HEARTBEATS * interval,
        producer=said.producer_pattern,
        events=STEP_FACTS & frozenset(said.allowed_event_types or STEP_FACTS),
        schemas=carried,
        failure_policy=said.failure_policy,
        max_attempts=said.max_attempts,
        probe=Probe(probe.kind, probe.url or probe.name or "", probe.credential_ref) if probe else None,
        expected_ms=_span(said.expected_duration),
        weight=said.weight,
        shown={name: _mask(schemas[name], pointers) for names in carried.values() for name in names if name in schemas},
        enabled=said.enabled,
    )


def _schema(said: SchemaDefinition) -> SchemaRules:
    limit = None if said.max_size is None else octets(said.max_size)
    return SchemaRules(said.name, msgspec.json.encode(said.schema).decode(), limit or SCHEMA_BYTES)


def _summary(document: Document, schemas: dict[str, SchemaDefinition]) -> dict[Audience, Mask]:
    schema = schemas.get(document.summary_schema or "")
    if schema is None:
        return {}
    audiences: tuple[Audience, ...] = ("USER_SUMMARY", "TASK_DETAIL")
    return {each: _mask(schema, document.projections.get(each, ())) for each in audiences}


def _mask(schema: SchemaDefinition, pointers: tuple[str, ...]) -> Mask:
    return whitelist(schema.schema, pointers, schema.sensitive)


def _names(said: str | tuple[str, ...]) -> frozenset[str]:
    return frozenset((said,) if isinstance(said, str) else said)


def _span(said: str | float | None) -> int | None:
    return None if said is None else milliseconds(said)

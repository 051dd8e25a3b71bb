"""A definition document as typed values, in the spelling in which it was written."""

from typing import Any

import msgspec
from msgspec import Struct, field

from milepost.definitions.source import Source
from milepost.domain.lifecycle import FailurePolicy, Lifecycle
from milepost.domain.rules import ProbeKind, ProgressMode, Role, StatusScope
from milepost.domain.values import Number

Span = str | int | float
"""A length of time as it was written: `60s`, or a number of seconds."""


class Label(Struct, frozen=True):
    """A name for people, and the key of its translations."""

    default: str
    key: str | None = None


class Presentation(Struct, frozen=True):
    """Tokens and keys that pages give a meaning to; never markup."""

    color: str | None = None
    icon: str | None = None
    texts: dict[str, str] = field(default_factory=dict[str, str])


class StatusDefinition(Struct, frozen=True, rename="camel"):
    """One business status."""

    code: str
    lifecycle_status: Lifecycle
    scope: StatusScope | tuple[StatusScope, ...]
    display_name: str | Label | None = None
    severity: str | None = None
    sort_order: int | None = None
    presentation: Presentation = Presentation()
    allowed_from: tuple[str, ...] | None = None
    enabled: bool = True


class ProbeDefinition(Struct, frozen=True, rename="camel"):
    """Where to ask about a silent step."""

    kind: ProbeKind
    url: str | None = None
    name: str | None = None
    credential_ref: str | None = None


class OperationDefinition(Struct, frozen=True, rename="camel"):
    """One operation."""

    code: str
    display_name: str | Label | None = None
    presentation: Presentation = Presentation()
    producer_pattern: str = "*"
    allowed_event_types: tuple[str, ...] | None = None
    allowed_data_schemas: dict[str, str | tuple[str, ...]] = field(default_factory=dict[str, str | tuple[str, ...]])
    failure_policy: FailurePolicy | None = None
    max_attempts: int | None = None
    heartbeat_interval: Span | None = None
    stale_after: Span | None = None
    probe: ProbeDefinition | None = None
    expected_duration: Span | None = None
    weight: Number | None = None
    projections: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    enabled: bool = True


class SchemaDefinition(Struct, frozen=True, rename="camel"):
    """One data schema."""

    name: str
    schema: dict[str, Any]
    max_size: Span | None = None
    sensitive: tuple[str, ...] = ()


class Document(Struct, frozen=True, rename="camel"):
    """One version of one task type. `product` is None where it serves every product."""

    task_type: str
    version: int
    product: str | None = None
    enabled: bool = True
    display_name: str | Label | None = None
    progress_mode: ProgressMode = "WEIGHTED"
    optional_lifecycles: tuple[Lifecycle, ...] = ()
    expected_max_duration: Span | None = None
    retention: Span | None = None
    cancel_deadline: Span | None = None
    cancel_roles: tuple[Role, ...] | None = None
    result_resolver: str | None = None
    summary_schema: str | None = None
    projections: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    statuses: tuple[StatusDefinition, ...] = ()
    operations: tuple[OperationDefinition, ...] | None = None
    schemas: tuple[SchemaDefinition, ...] = ()


_canonical = msgspec.json.Encoder(order="sorted").encode


def document_of(source: Source) -> Document:
    """The typed values of a document without errors."""
    return msgspec.convert(source.value, Document)


def decoded(text: bytes) -> Document:
    """A published document. What an older or newer version knows besides is passed over."""
    return msgspec.json.decode(text, type=Document)


def encoded(source: Source) -> bytes:
    """A document as JSON in the order in which it was written."""
    return msgspec.json.encode(source.value)


def canonical(text: bytes) -> bytes:
    """A document as JSON, the same for every order of its keys."""
    return _canonical(msgspec.json.decode(text))


def label_of(said: str | Label | None, code: str) -> Label:
    """The name of something; its code where it has none."""
    if said is None:
        return Label(code)
    return Label(said) if isinstance(said, str) else said

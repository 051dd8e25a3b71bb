"""Definitions on the wire: what services publish and list, and what viewers are shown of them."""

from typing import Any

from msgspec import Struct

from milepost.definitions.documents import Label, Presentation
from milepost.definitions.presenting import OperationWording, StatusWording, Wording
from milepost.domain.lifecycle import Lifecycle
from milepost.domain.rules import ProgressMode, StatusScope
from milepost.settings.values import Duration
from milepost.wire.numbers import Instant


class PublishedView(Struct, frozen=True, rename="camel"):
    """One published version. `tenantId` is null for the default tenant, `product` for one that serves every product."""

    definition_id: str
    tenant_id: str | None
    product: str | None
    task_type: str
    version: int
    enabled: bool
    published_by: str
    published_at: Instant
    document: dict[str, Any] | None = None


class PublishedList(Struct, frozen=True, rename="camel"):
    """Published versions; their documents where a task type was asked for."""

    items: tuple[PublishedView, ...]


class ChangeView(Struct, frozen=True, rename="camel"):
    """One difference from the version before; `needs` is null where it is compatible, else what takes a new version."""

    path: str
    what: str
    needs: str | None
    because: str | None


class WarningView(Struct, frozen=True, rename="camel"):
    """Something in a document that is allowed and probably not meant."""

    path: str
    wrong: str
    advice: str


class PublishAnswer(Struct, frozen=True, rename="camel"):
    """The answer to a publication: the version, what changed since the one before, and what is probably not meant."""

    published: PublishedView
    changes: tuple[ChangeView, ...]
    warnings: tuple[WarningView, ...]


class LabelView(Struct, frozen=True):
    """A name for people: the key of its translations, and the text where there is none."""

    key: str | None
    default: str


class StatusShown(Struct, frozen=True, rename="camel"):
    """A business status as pages show it; `color` and `icon` are tokens, `texts` keys of translations."""

    code: str
    display_name: LabelView
    lifecycle_status: Lifecycle
    terminal: bool
    severity: str
    sort_order: int
    scope: tuple[StatusScope, ...]
    color: str | None
    icon: str | None
    texts: dict[str, str]
    enabled: bool


class OperationShown(Struct, frozen=True, rename="camel"):
    """An operation as pages show it."""

    code: str
    display_name: LabelView
    color: str | None
    icon: str | None
    texts: dict[str, str]
    expected_duration_ms: int | None
    enabled: bool


class DefinitionShown(Struct, frozen=True, rename="camel"):
    """One version of a task type as pages show it. An unknown code falls back to its lifecycle status."""

    task_type: str
    product: str | None
    version: int
    display_name: LabelView
    progress_mode: ProgressMode
    statuses: tuple[StatusShown, ...]
    operations: tuple[OperationShown, ...]


def definition_shown(said: Wording) -> DefinitionShown:
    """A task type's wording on the wire."""
    return DefinitionShown(
        said.task_type,
        said.product,
        said.version,
        _label(said.label),
        said.mode,
        tuple(map(_status, said.statuses)),
        tuple(map(_operation, said.operations)),
    )


def _label(label: Label) -> LabelView:
    return LabelView(label.key, label.default)


def _status(said: StatusWording) -> StatusShown:
    look: Presentation = said.presentation
    return StatusShown(
        said.code,
        _label(said.label),
        said.lifecycle,
        said.terminal,
        said.severity,
        said.sort_order,
        said.scope,
        look.color,
        look.icon,
        look.texts,
        said.enabled,
    )


def _operation(said: OperationWording) -> OperationShown:
    look = said.presentation
    expected = None if said.expected is None else int(Duration.parse(said.expected))
    return OperationShown(said.code, _label(said.label), look.color, look.icon, look.texts, expected, said.enabled)

"""Publishes definitions: checked in full, compared with the version before, and never changed again."""

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from milepost.clock import Clock
from milepost.definitions.checking import check
from milepost.definitions.comparing import DOCUMENT, Comparison, compared
from milepost.definitions.documents import Document, canonical, decoded, document_of, encoded
from milepost.definitions.source import Finding, Source
from milepost.ports.access import Access, AuditEntry
from milepost.ports.definitions import Definitions, Published
from milepost.ports.storage import Unavailable
from milepost.wire.definitions import ChangeView, PublishAnswer, PublishedList, PublishedView, WarningView
from milepost.wire.numbers import instant
from milepost.wire.problems import FieldError, Rejection

TRIES: Final = 5
MOST: Final = 100
"""How many faults of one document an answer tells, and how many documents it holds."""


class Publication(Struct, frozen=True):
    """A wish to publish: the line it belongs to begins with the tenant, which is empty for the default one."""

    tenant_id: str
    document: Any
    publisher: str


class Made(Struct, frozen=True):
    """The answer, and whether the version was published now (`new`) or had been before."""

    answer: PublishAnswer
    new: bool


async def publish(definitions: Definitions, access: Access, clock: Clock, wish: Publication) -> Made:
    """Publishes one document; the same document again answers the same.

    Raises `Rejection` DEFINITION_INVALID with every fault, VERSION_CONFLICT where the version is taken or not raised.
    """
    source = Source(wish.document)
    # A large document keeps the processor busy for a while; reports go on meanwhile.
    document, warnings = await asyncio.to_thread(_checked, source)
    text = encoded(source)
    for _ in range(TRIES):
        made = await _publish(definitions, access, clock, wish, document, text, warnings)
        if made is not None:
            return made
    raise Unavailable("Others publish the same definition all the time.")


def _checked(source: Source) -> tuple[Document, tuple[WarningView, ...]]:
    findings = check(source)
    errors = [finding for finding in findings if finding.level == "error"]
    if errors:
        faults = tuple(FieldError(one.path, "DEFINITION_INVALID", _sentence(one)) for one in errors[:MOST])
        raise Rejection("DEFINITION_INVALID", f"The document has {len(errors)} faults.", faults)
    return document_of(source), tuple(WarningView(one.path, one.wrong, one.advice) for one in findings)


def _sentence(finding: Finding) -> str:
    return f"{finding.wrong}: {finding.advice}"


async def _publish(
    definitions: Definitions,
    access: Access,
    clock: Clock,
    wish: Publication,
    document: Document,
    text: bytes,
    warnings: tuple[WarningView, ...],
) -> Made | None:
    """One try; None where another version was published meanwhile."""
    product = document.product or ""
    visible = await definitions.versions(wish.tenant_id, product, document.task_type)
    own = [one for one in visible if (one.tenant_id, one.product) == (wish.tenant_id, product)]
    heading = _heading(wish, document, text, clock.now())
    before = next((one for one in own if one.version == document.version), None)
    if before is not None and before.definition_id != heading.definition_id:
        raise _conflict(f"Version {document.version} is published already, with another content, and never changes.")
    earlier = [one for one in visible if one is not before and one.version < document.version]
    changes = await _changes(definitions, _latest(earlier), document)
    if before is not None:
        return Made(PublishAnswer(published_view(before), _told(changes), warnings), new=False)
    newest = max((one.version for one in visible), default=0)
    if document.version <= newest:
        raise _conflict(f"The newest version is {newest}: raise the version above it.")
    _compatible(changes)
    if not await definitions.publish(heading, text, max((one.version for one in own), default=0)):
        return None
    await _audit(access, heading)
    return Made(PublishAnswer(published_view(heading), _told(changes), warnings), new=True)


def _conflict(detail: str) -> Rejection:
    return Rejection.at("/version", "VERSION_CONFLICT", detail)


def _latest(published: Sequence[Published]) -> Published | None:
    """The version that a new one follows: the newest of the most particular line."""
    if not published:
        return None
    line = (published[0].tenant_id, published[0].product)
    return max((one for one in published if (one.tenant_id, one.product) == line), key=lambda one: one.version)


async def _changes(definitions: Definitions, before: Published | None, document: Document) -> Comparison | None:
    if before is None:
        return None
    older = decoded((await definitions.documents([before.definition_id]))[before.definition_id])
    return compared(msgspec.structs.replace(older, product=document.product), document)


def _compatible(comparison: Comparison | None) -> None:
    broken = [one for one in (comparison.changes if comparison else ()) if one.needs not in (None, DOCUMENT)]
    if broken:
        detail = "A data schema keeps its meaning under its name: give the changed one a new name."
        faults = tuple(
            FieldError(one.path, "DEFINITION_INVALID", f"{one.what}: {one.because}; {one.needs} keeps its meaning")
            for one in broken[:MOST]
        )
        raise Rejection("DEFINITION_INVALID", detail, faults)


def _told(comparison: Comparison | None) -> tuple[ChangeView, ...]:
    changes = comparison.changes if comparison else ()
    return tuple(ChangeView(one.path, one.what, one.needs, one.because) for one in changes)


def _heading(wish: Publication, document: Document, text: bytes, now: int) -> Published:
    key = (wish.tenant_id, document.product or "", document.task_type, document.version)
    digest = hashlib.sha256(msgspec.json.encode(key) + canonical(text)).hexdigest()
    return Published(*key, digest[:32], document.enabled, wish.publisher, now)


async def _audit(access: Access, heading: Published) -> None:
    detail = {"product": heading.product, "version": heading.version, "definitionId": heading.definition_id}
    entry = AuditEntry(
        heading.tenant_id,
        heading.published_by,
        "definition.published",
        heading.task_type,
        msgspec.json.encode(detail).decode(),
        heading.published_at,
    )
    await access.audit(entry)


async def listed(
    definitions: Definitions, tenant_id: str, task_type: str | None, product: str | None, version: int | None
) -> PublishedList:
    """The versions a tenant may use; with their documents where a task type is asked for, the newest of them."""
    found = [
        one
        for one in await definitions.listed(tenant_id)
        if task_type in (None, one.task_type) and product in (None, one.product) and version in (None, one.version)
    ]
    if task_type is None:
        return PublishedList(tuple(published_view(one) for one in found))
    newest = sorted(found, key=lambda one: one.published_at)[-MOST:]
    texts = await definitions.documents([one.definition_id for one in newest])
    documents = {name: msgspec.json.decode(text, type=dict[str, Any]) for name, text in texts.items()}
    return PublishedList(tuple(published_view(one, documents.get(one.definition_id)) for one in found))


def published_view(heading: Published, document: dict[str, Any] | None = None) -> PublishedView:
    """A published version on the wire."""
    return PublishedView(
        heading.definition_id,
        heading.tenant_id or None,
        heading.product or None,
        heading.task_type,
        heading.version,
        heading.enabled,
        heading.published_by,
        instant(heading.published_at),
        document,
    )

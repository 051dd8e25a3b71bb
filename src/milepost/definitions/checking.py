"""Checks a document and says everything that is wrong with it at once, each with its line and what to do."""

from typing import Any, Final

from milepost.definitions import fields
from milepost.definitions.fields import Check, entries, fields_of
from milepost.definitions.findings import Notes, meant
from milepost.definitions.operations import check_operations
from milepost.definitions.pointers import check_breadth, check_pointers, pointer
from milepost.definitions.schemas import check_schemas, names_of
from milepost.definitions.source import Finding, Source
from milepost.definitions.statuses import check_statuses

OPTIONAL: Final = ("TIMED_OUT",)
MODES: Final = ("STEPS", "WEIGHTED", "STAGES")
ROLES: Final = ("member", "admin", "operator")
SUMMARY_AUDIENCES: Final = ("USER_SUMMARY", "TASK_DETAIL")


def check(source: Source) -> list[Finding]:
    """Every finding about a document, by line; without an error among them it can be published."""
    notes = Notes(source)
    if source.value is None and not source.findings:
        notes.error("", "the document is empty", "write at least taskType and version")
    if source.value is None:
        return notes.all()
    if fields.mapping(notes, "", source.value, FIELDS, needs=("taskType", "version")):
        document = fields_of(source.value)
        enabled = frozenset(entries(document.get("optionalLifecycles")))
        check_statuses(notes, document, enabled)
        check_schemas(notes, document)
        check_operations(notes, document, enabled)
        _check_summary(notes, document)
        _check_use(notes, document)
    return notes.all()


def has_errors(findings: list[Finding]) -> bool:
    """Whether something among these keeps a document from being published."""
    return any(finding.level == "error" for finding in findings)


def _later(_notes: Notes, _path: str, _value: Any) -> None:
    """A section with checks of its own, which need the rest of the document."""


FIELDS: Final[dict[str, Check]] = {
    "taskType": fields.code,
    "product": fields.code,
    "version": fields.whole(1, 1_000_000),
    "enabled": fields.flag,
    "displayName": fields.label,
    "progressMode": fields.one_of(*MODES),
    "optionalLifecycles": fields.some_of(*OPTIONAL),
    "expectedMaxDuration": fields.duration("1s", "365d"),
    "retention": fields.duration("1h", "3650d"),
    "cancelDeadline": fields.duration("1s", "7d"),
    "cancelRoles": fields.some_of(*ROLES),
    "resultResolver": fields.code,
    "summarySchema": _later,
    "projections": _later,
    "statuses": _later,
    "operations": _later,
    "schemas": _later,
}


def _check_summary(notes: Notes, document: dict[str, Any]) -> None:
    name = document.get("summarySchema")
    known = names_of(document)
    if name is not None and name not in known:
        notes.error("/summarySchema", f"there is no schema {fields.shown(name)}", meant(str(name), known))
        return
    shown = document.get("projections")
    if shown is None:
        if name is not None:
            notes.warning("/summarySchema", "nobody will see this data", "name its fields under projections")
        return
    if name is None:
        notes.error("/projections", "there is no data to show", "name the schema under summarySchema")
        return
    checks: dict[str, Check] = dict.fromkeys(SUMMARY_AUDIENCES, fields.listed(pointer))
    if fields.mapping(notes, "/projections", _known_audiences(notes, shown), checks):
        for audience, pointers in fields_of(shown).items():
            if audience in SUMMARY_AUDIENCES:
                check_pointers(notes, f"/projections/{audience}", pointers, document, [str(name)])
        check_breadth(notes, fields_of(shown))


def _known_audiences(notes: Notes, shown: Any) -> Any:
    """The projections without those of audiences that never get such data, about which there is more to say."""
    narrow = {"PROJECT_BROADCAST", "TENANT_BROADCAST", "SYSTEM_BROADCAST"} & fields_of(shown).keys()
    for audience in sorted(narrow):
        notes.error(f"/projections/{audience}", f"{audience} never carries a task's data", "leave it out")
    return {key: item for key, item in fields_of(shown).items() if key not in narrow} if narrow else shown


def _check_use(notes: Notes, document: dict[str, Any]) -> None:
    used = {document.get("summarySchema")}
    for operation in map(fields_of, entries(document.get("operations"))):
        for allowed in fields_of(operation.get("allowedDataSchemas")).values():
            used.update(item for item in [allowed, *entries(allowed)] if isinstance(item, str))
    for index, schema in enumerate(map(fields_of, entries(document.get("schemas")))):
        name = schema.get("name")
        if isinstance(name, str) and name not in used:
            notes.warning(f"/schemas/{index}/name", f"nothing may carry {name}", "allow it in an operation, or drop it")

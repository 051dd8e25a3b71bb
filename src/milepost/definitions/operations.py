"""Checks of the operations: who runs them, what they may report, and what their failure means."""

import re
from typing import Any, Final
from urllib.parse import urlsplit

from milepost.definitions import fields
from milepost.definitions.fields import Check, entries, fields_of
from milepost.definitions.findings import Notes, meant
from milepost.definitions.pointers import check_pointers, pointer
from milepost.definitions.schemas import names_of
from milepost.definitions.statuses import presentation
from milepost.domain.lifecycle import HEARTBEAT, STEP_LEADS_TO, TASK_FACTS
from milepost.domain.rules import CREATION

EVENTS: Final = (*STEP_LEADS_TO, HEARTBEAT)
POLICIES: Final = ("FAIL_TASK", "RETRY_THEN_FAIL_TASK", "CONTINUE_WITH_WARNING", "WAIT_FOR_USER")
HEARTBEAT_MS: Final = 10_000
STALE_MS: Final = 60_000
_MUST: Final = ("STEP_COMPLETED", "STEP_FAILED")
_URL_FIELDS: Final = ("taskId", "stepId", "stepAttempt", "operationCode", "producerId")
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")


def _event(notes: Notes, path: str, value: Any) -> None:
    if isinstance(value, str) and value in TASK_FACTS:
        notes.error(path, f"{value} is reported by the coordinator, for no operation", "leave it out")
    elif not isinstance(value, str) or value not in EVENTS:
        notes.error(path, f"there is no event type {fields.shown(value)}", meant(str(value), EVENTS))


def _named(notes: Notes, path: str, value: Any) -> None:
    if isinstance(value, list):
        fields.listed(_named, least=1)(notes, path, value)
        fields.doubled(notes, path, value)
    elif not isinstance(value, str):
        notes.error(path, f"{fields.shown(value)} is no name of a schema", "name a schema, or a list of them")


def _carried(notes: Notes, path: str, value: Any) -> None:
    if not isinstance(value, dict):
        notes.error(path, "expected event types with their schemas", "write `STEP_COMPLETED: a.name.v1`")
        return
    for event, names in fields_of(value).items():
        place = f"{path}/{event}"
        if event == HEARTBEAT:
            notes.error(place, "a heartbeat carries no data", "leave it out")
        elif event != CREATION:
            _event(notes, place, event)
        _named(notes, place, names)


def _shown(notes: Notes, path: str, value: Any) -> None:
    for audience in fields_of(value):
        if audience in ("USER_SUMMARY", "PROJECT_BROADCAST", "TENANT_BROADCAST", "SYSTEM_BROADCAST"):
            wrong = f"{audience} never carries the data of a step"
            notes.error(f"{path}/{audience}", wrong, "only TASK_DETAIL does; leave it out")
    known = {key: item for key, item in fields_of(value).items() if not key.endswith(("_SUMMARY", "_BROADCAST"))}
    fields.mapping(notes, path, known if isinstance(value, dict) else value, {"TASK_DETAIL": fields.listed(pointer)})


def _probe(notes: Notes, path: str, value: Any) -> None:
    checks: dict[str, Check] = {
        "kind": fields.one_of("http", "provider", "plugin"),
        "url": _url,
        "name": fields.code,
        "credentialRef": fields.code,
    }
    if not fields.mapping(notes, path, value, checks, needs=("kind",)):
        return
    kind = fields_of(value).get("kind")
    needed, other = ("url", "name") if kind == "http" else ("name", "url")
    if kind in ("http", "provider", "plugin"):
        if needed not in value:
            notes.error(path, f"a probe of kind {kind} needs {needed}", f"add {needed}")
        if other in value:
            notes.error(f"{path}/{other}", f"a probe of kind {kind} has no {other}", "leave it out")


def _url(notes: Notes, path: str, value: Any) -> None:
    try:
        parts = urlsplit(value if isinstance(value, str) else "")
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and not re.search(r"\s", str(value))
    except ValueError:
        parts, whole = urlsplit(""), False
    if not whole:
        notes.error(path, "this is no address", "write https://host/path")
    elif parts.username is not None or parts.password is not None:
        notes.error(path, "an address must not hold a password", "name the credential under credentialRef")
    for name in _PLACEHOLDER.findall(value if isinstance(value, str) else ""):
        if name not in _URL_FIELDS:
            notes.error(path, f"nothing fills in {{{fields.shown(name)}}}", meant(name, _URL_FIELDS))


FIELDS: Final[dict[str, Check]] = {
    "code": fields.code,
    "displayName": fields.label,
    "presentation": presentation,
    "producerPattern": fields.written(fields.PATTERN, "a producer's id; * stands for any characters"),
    "allowedEventTypes": fields.listed(_event, least=1),
    "allowedDataSchemas": _carried,
    "failurePolicy": fields.one_of(*POLICIES),
    "maxAttempts": fields.whole(2, 1_000),
    "heartbeatInterval": fields.duration("1s", "1h"),
    "staleAfter": fields.duration("3s", "30d"),
    "probe": _probe,
    "expectedDuration": fields.duration("1ms", "365d"),
    "weight": fields.weight,
    "projections": _shown,
    "enabled": fields.flag,
}


def check_operations(notes: Notes, document: dict[str, Any], enabled: frozenset[Any]) -> None:
    """Checks the operations, each by itself and against the rest of the document."""
    said = document.get("operations")
    if said is None:
        return
    fields.listed(_checked, least=1)(notes, "/operations", said)
    fields.doubled(notes, "/operations", said, "code")
    for index, operation in enumerate(map(fields_of, entries(said))):
        path = f"/operations/{index}"
        _check_events(notes, path, operation, enabled)
        _check_policy(notes, path, operation)
        _check_silence(notes, path, operation)
        _check_data(notes, path, operation, document)


def _checked(notes: Notes, path: str, value: Any) -> None:
    fields.mapping(notes, path, value, FIELDS, needs=("code",))


def _check_events(notes: Notes, path: str, operation: dict[str, Any], enabled: frozenset[Any]) -> None:
    place = f"{path}/allowedEventTypes"
    events = [item for item in entries(operation.get("allowedEventTypes")) if isinstance(item, str)]
    fields.doubled(notes, place, events)
    if not events:
        return
    for missing in (end for end in _MUST if end not in events):
        notes.error(place, f"without {missing} a step could never say how it ended", f"add {missing}")
    if "STEP_TIMED_OUT" in events and "TIMED_OUT" not in enabled:
        notes.error(place, "TIMED_OUT is not enabled", "add `optionalLifecycles: [TIMED_OUT]` to the task type")


def _check_policy(notes: Notes, path: str, operation: dict[str, Any]) -> None:
    retries = operation.get("failurePolicy") == "RETRY_THEN_FAIL_TASK"
    if retries and "maxAttempts" not in operation:
        notes.error(f"{path}/failurePolicy", "nothing says how often to try", "add maxAttempts")
    if "maxAttempts" in operation and not retries:
        wrong = "only RETRY_THEN_FAIL_TASK counts attempts"
        notes.error(f"{path}/maxAttempts", wrong, "leave it out, or choose that policy")


def _check_silence(notes: Notes, path: str, operation: dict[str, Any]) -> None:
    interval = fields.milliseconds(operation.get("heartbeatInterval", HEARTBEAT_MS / 1000))
    stale = fields.milliseconds(operation["staleAfter"]) if "staleAfter" in operation else None
    if interval is not None and stale is not None and stale < 3 * interval:
        wrong = f"staleAfter is less than three heartbeats of {interval // 1000} s"
        notes.error(f"{path}/staleAfter", wrong, f"write at least {3 * interval // 1000}s: one may be lost on its way")


def _check_data(notes: Notes, path: str, operation: dict[str, Any], document: dict[str, Any]) -> None:
    known = names_of(document)
    events = entries(operation.get("allowedEventTypes"))
    names: list[str] = []
    for event, said in fields_of(operation.get("allowedDataSchemas")).items():
        place = f"{path}/allowedDataSchemas/{event}"
        if events and event in STEP_LEADS_TO and event not in events:
            notes.error(place, f"the operation does not report {event}", "add it to allowedEventTypes")
        for name in entries(said) or [said]:
            if isinstance(name, str) and name not in known:
                notes.error(place, f"there is no schema {fields.shown(name)}", meant(name, known))
            elif isinstance(name, str):
                names.append(name)
    shown = fields_of(operation.get("projections")).get("TASK_DETAIL")
    if shown is None and names:
        place = f"{path}/allowedDataSchemas"
        notes.warning(place, "nobody will see this data", "name its fields under projections: TASK_DETAIL")
    check_pointers(notes, f"{path}/projections/TASK_DETAIL", shown, document, names)

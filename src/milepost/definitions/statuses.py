"""Checks of the business statuses: product wording, each mapped to a lifecycle."""

from typing import Any, Final

from milepost.definitions import fields
from milepost.definitions.fields import Check, entries, fields_of
from milepost.definitions.findings import Notes, meant
from milepost.domain.lifecycle import ENDS, WAITING_USER_ACTION

LIFECYCLES: Final = ("PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "TIMED_OUT")
BUILT_IN: Final = (*LIFECYCLES, WAITING_USER_ACTION)
"""Codes that every task type has: the wording of those whose product says nothing of its own."""

SEVERITIES: Final = ("INFO", "SUCCESS", "WARNING", "ERROR")
SCOPES: Final = ("task", "step")


def _scope(notes: Notes, path: str, value: Any) -> None:
    if isinstance(value, list):
        fields.some_of(*SCOPES, least=1)(notes, path, value)
    else:
        fields.one_of(*SCOPES)(notes, path, value)


def _texts(notes: Notes, path: str, value: Any) -> None:
    for name in fields_of(value):
        fields.token(notes, f"{path}/{name}", name)
    fields.mapping(notes, path, value, dict.fromkeys(fields_of(value), fields.key))


def presentation(notes: Notes, path: str, value: Any) -> None:
    """How pages show something: tokens and keys that they give a meaning to."""
    fields.mapping(notes, path, value, {"color": fields.token, "icon": fields.token, "texts": _texts})


FIELDS: Final[dict[str, Check]] = {
    "code": fields.code,
    "displayName": fields.label,
    "lifecycleStatus": fields.one_of(*LIFECYCLES),
    "terminal": fields.flag,
    "severity": fields.one_of(*SEVERITIES),
    "sortOrder": fields.whole(0, 1_000_000),
    "presentation": presentation,
    "allowedFrom": fields.listed(fields.code),
    "scope": _scope,
    "enabled": fields.flag,
}


def check_statuses(notes: Notes, document: dict[str, Any], enabled: frozenset[Any]) -> None:
    """Checks the statuses, each by itself and against the others."""
    said = document.get("statuses")
    if said is None:
        return
    fields.listed(_checked)(notes, "/statuses", said)
    fields.doubled(notes, "/statuses", said, "code")
    known = _known(said)
    for index, status in enumerate(map(fields_of, entries(said))):
        path = f"/statuses/{index}"
        _check_lifecycle(notes, path, status, enabled)
        _check_origin(notes, path, status, known)


def _checked(notes: Notes, path: str, value: Any) -> None:
    fields.mapping(notes, path, value, FIELDS, needs=("code", "lifecycleStatus", "scope"))


def _known(said: Any) -> dict[str, str]:
    """The lifecycle of every code that can be named."""
    known = {code: code for code in LIFECYCLES} | {WAITING_USER_ACTION: "RUNNING"}
    for status in map(fields_of, entries(said)):
        if isinstance(status.get("code"), str) and isinstance(status.get("lifecycleStatus"), str):
            known[status["code"]] = status["lifecycleStatus"]
    return known


def _check_lifecycle(notes: Notes, path: str, status: dict[str, Any], enabled: frozenset[Any]) -> None:
    code, lifecycle, terminal = status.get("code"), status.get("lifecycleStatus"), status.get("terminal")
    if lifecycle == "TIMED_OUT" and "TIMED_OUT" not in enabled:
        notes.error(f"{path}/lifecycleStatus", "TIMED_OUT is not enabled", "add `optionalLifecycles: [TIMED_OUT]`")
    if isinstance(terminal, bool) and lifecycle in LIFECYCLES and terminal != (lifecycle in ENDS):
        said = "is an end" if lifecycle in ENDS else "is no end"
        notes.error(f"{path}/terminal", f"{lifecycle} {said}", f"write `terminal: {str(lifecycle in ENDS).lower()}`")
    if code in BUILT_IN and lifecycle in LIFECYCLES:
        due = "RUNNING" if code == WAITING_USER_ACTION else str(code)
        if status.get("enabled") is False:
            notes.error(f"{path}/enabled", f"{code} is always in use", "leave it out")
        if lifecycle != due:
            wrong = f"{code} always means {due}"
            notes.error(f"{path}/lifecycleStatus", wrong, f"write {due}, or choose another code")


def _check_origin(notes: Notes, path: str, status: dict[str, Any], known: dict[str, str]) -> None:
    place = f"{path}/allowedFrom"
    origins = entries(status.get("allowedFrom"))
    fields.doubled(notes, place, origins)
    lifecycle = status.get("lifecycleStatus")
    if origins and lifecycle in ENDS:
        notes.warning(place, "an end ignores allowedFrom", "leave it out: a true end is never refused")
    for index, origin in enumerate(origins):
        if not isinstance(origin, str):
            continue
        if origin not in known:
            notes.error(f"{place}/{index}", f"there is no status {fields.shown(origin)}", meant(origin, known))
        elif known[origin] in ENDS:
            notes.error(f"{place}/{index}", f"{origin} is an end, and nothing leaves it", "leave it out")
        elif lifecycle == "PENDING" and known[origin] == "RUNNING":
            notes.error(f"{place}/{index}", f"{origin} is running, and nothing goes back to PENDING", "leave it out")

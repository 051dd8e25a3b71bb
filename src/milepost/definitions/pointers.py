"""Checks of projections: a field is shown only if it is named, declared by a schema, and not sensitive."""

from typing import Any

from milepost.definitions import fields
from milepost.definitions.fields import entries, fields_of
from milepost.definitions.findings import Notes
from milepost.definitions.whitelist import TooLarge, declared, selected, shows_anything, whitelist


def pointer(notes: Notes, path: str, value: Any) -> None:
    """A JSON Pointer; `*` in it stands for every item of a list."""
    if not isinstance(value, str) or (value and not value.startswith("/")):
        notes.error(path, f"{fields.shown(value)} is no JSON Pointer", "write one such as /pages or /tables/*/rows")


def check_pointers(notes: Notes, path: str, pointers: Any, document: dict[str, Any], names: list[str]) -> None:
    """Checks that each pointer names something that one of these schemas declares and that may be shown."""
    fields.doubled(notes, path, pointers)
    schemas = [entry for entry in map(fields_of, entries(document.get("schemas"))) if entry.get("name") in names]
    for index, said in enumerate(entries(pointers)):
        if isinstance(said, str) and (not said or said.startswith("/")):
            _check(notes, f"{path}/{index}", said, schemas)


def check_breadth(notes: Notes, shown: dict[str, Any]) -> None:
    """The wider the audience, the smaller the payload: a list shows nothing that the detail does not show."""
    detail = [item for item in entries(shown.get("TASK_DETAIL")) if isinstance(item, str)]
    for index, said in enumerate(entries(shown.get("USER_SUMMARY"))):
        if isinstance(said, str) and not any(said == item or said.startswith(f"{item}/") for item in detail):
            place = f"/projections/USER_SUMMARY/{index}"
            notes.error(place, f"lists would show {said}, the detail would not", "name it under TASK_DETAIL too")


def _check(notes: Notes, path: str, said: str, schemas: list[dict[str, Any]]) -> None:
    found, visible = False, False
    for schema in schemas:
        sensitive = [one for one in entries(schema.get("sensitive")) if isinstance(one, str)]
        try:
            found = found or selected(declared(schema.get("schema")), said) is not None
            visible = visible or shows_anything(whitelist(schema.get("schema"), [said], sensitive))
        except TooLarge:
            return
    names = ", ".join(str(schema.get("name")) for schema in schemas)
    if not names:
        notes.error(path, "no data may be carried here", "allow a data schema first")
    elif not found:
        notes.error(path, f"{names} has no field {fields.shown(said)}", "name a field that the schema lists")
    elif not visible:
        advice = "leave out what is sensitive; list the fields of an object under its properties"
        notes.error(path, f"nothing of {fields.shown(said) or 'it'} can be shown", advice)

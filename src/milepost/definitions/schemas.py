"""Checks of the data schemas: JSON Schema 2020-12, closed in itself, with a size and without secrets shown.

References lead only into the schema itself: nothing is fetched, neither here nor when data is judged. Patterns are
matched by an engine that needs linear time, so what needs looking back or ahead is refused.
"""

import re
from typing import Any, Final, cast

import jsonschema_rs

from milepost.definitions import fields
from milepost.definitions.fields import Check, entries, fields_of
from milepost.definitions.findings import Notes, meant
from milepost.definitions.keywords import check_keywords
from milepost.definitions.source import pointed
from milepost.definitions.whitelist import TooLarge, declared, referred, selected

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
MOST: Final = "64KiB"
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}\.v[1-9][0-9]{0,5}")
_TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")
_META: Final = jsonschema_rs.Draft202012Validator({"$ref": DIALECT}, offline=True)
_ELSEWHERE: Final = ("$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary")


def names_of(document: dict[str, Any]) -> list[str]:
    """The names of all schemas of a document."""
    named = [entry.get("name") for entry in map(fields_of, entries(document.get("schemas")))]
    return [name for name in named if isinstance(name, str)]


def _name(notes: Notes, path: str, value: Any) -> None:
    if isinstance(value, str) and fields.CODE.fullmatch(value) and not re.search(r"\.v[0-9]+$", value):
        notes.error(path, f"{value} has no version", f"write {value}.v1")
    else:
        fields.written(NAME, "a name with a version, such as document.parsed.v1")(notes, path, value)


def _later(_notes: Notes, _path: str, _value: Any) -> None:
    """Checked once the schema itself is known to be one."""


FIELDS: Final[dict[str, Check]] = {
    "name": _name,
    "description": fields.text,
    "schema": _later,
    "maxSize": fields.size(MOST),
    "sensitive": fields.listed(_later),
}


def check_schemas(notes: Notes, document: dict[str, Any]) -> None:
    """Checks every data schema."""
    said = document.get("schemas")
    if said is None:
        return
    fields.listed(_checked)(notes, "/schemas", said)
    fields.doubled(notes, "/schemas", said, "name")
    for index, entry in enumerate(map(fields_of, entries(said))):
        path = f"/schemas/{index}"
        if "schema" in entry and entry["schema"] is not None:
            _check_schema(notes, f"{path}/schema", entry["schema"])
            if not notes.has_errors_below(f"{path}/schema"):
                _check_sensitive(notes, f"{path}/sensitive", entry)


def _checked(notes: Notes, path: str, value: Any) -> None:
    fields.mapping(notes, path, value, FIELDS, needs=("name", "schema"))


def _check_schema(notes: Notes, path: str, schema: Any) -> None:
    if not isinstance(schema, dict):
        notes.error(path, "expected a JSON Schema", "write at least `type: object` with its properties")
        return
    root = cast("dict[str, Any]", schema)
    if root.get("$schema", DIALECT) != DIALECT:
        notes.error(f"{path}/$schema", "another dialect than 2020-12", f"write {DIALECT}, or leave it out")
        return
    _check_references(notes, path, root, root)
    if notes.has_errors_below(path):
        return
    for error in _META.iter_errors(root):
        _note(notes, path, error, root)
    check_keywords(notes, path, root)
    if notes.has_errors_below(path):
        return
    try:
        compiled(root)
        declared(root)
    except TooLarge:
        notes.error(path, "the schema describes too many places", "make it smaller")
    except jsonschema_rs.ValidationError as error:
        place = path + pointed(*error.instance_path)
        notes.error(place, f"this schema cannot be used: {_line(error.message)}", "use plain patterns, without (?=…)")


def compiled(schema: dict[str, Any]) -> jsonschema_rs.Draft202012Validator:
    """What judges values by a schema. Its messages hold no values. Raises `ValueError`."""
    return jsonschema_rs.Draft202012Validator(
        schema,
        validate_formats=True,
        mask="the value",
        offline=True,
        pattern_options=jsonschema_rs.RegexOptions(size_limit=1 << 20),
    )


def _check_references(notes: Notes, path: str, value: Any, root: dict[str, Any]) -> None:
    if isinstance(value, list):
        for index, item in enumerate(cast("list[Any]", value)):
            _check_references(notes, f"{path}/{index}", item, root)
    if not isinstance(value, dict):
        return
    for name, item in cast("dict[str, Any]", value).items():
        place = path + pointed(name)
        if name in _ELSEWHERE and isinstance(item, str):
            notes.error(place, f"{name} is not taken", "name a place of this schema by $ref: '#/$defs/…'")
        elif name == "$ref" and isinstance(item, str):
            if not item.startswith("#"):
                notes.error(place, "a reference to another document", "copy it under $defs; nothing is fetched")
            elif referred(root, item) is None:
                notes.error(place, f"there is no {fields.shown(item)} in this schema", "add it under $defs")
        elif name not in ("const", "enum", "default", "examples"):
            _check_references(notes, place, item, root)


def _check_sensitive(notes: Notes, path: str, entry: dict[str, Any]) -> None:
    fields.doubled(notes, path, entry.get("sensitive"))
    whole = declared(entry["schema"])
    for index, said in enumerate(entries(entry.get("sensitive"))):
        place = f"{path}/{index}"
        if not isinstance(said, str) or not said.startswith("/"):
            notes.error(place, f"{fields.shown(said)} is no JSON Pointer", "write one such as /customer/mail")
        elif selected(whole, said) is None:
            notes.error(place, f"the schema has no field {fields.shown(said)}", "name a field that it lists")


def _note(notes: Notes, path: str, error: jsonschema_rs.ValidationError, root: dict[str, Any]) -> None:
    place = path + pointed(*error.instance_path)
    said = referred(root, "#" + pointed(*error.instance_path))
    if error.instance_path and error.instance_path[-1] == "type" and isinstance(said, str):
        notes.error(place, f"JSON has no type {fields.shown(said)}", meant(said, _TYPES))
    else:
        notes.error(place, f"this is no JSON Schema: {_line(error.message)}", "see JSON Schema 2020-12")


def _line(said: object) -> str:
    first = str(said).splitlines()[0] if str(said) else type(said).__name__
    return fields.shown(first) if len(first) > 200 else first

"""JSON Schemas of all messages, made from the types that encode them; the checked-in files are these, byte for byte."""

import json
from pathlib import Path
from typing import Any, Final, get_args

import msgspec

from milepost.wire.messages import Message

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def message_schemas() -> dict[str, dict[str, Any]]:
    """One schema for each kind of message, by kind."""
    return dict(sorted(_schema(shape) for shape in get_args(Message)))


def message_files() -> dict[str, bytes]:
    """The same as files, by name."""
    return {f"{kind}.json": _text(schema) for kind, schema in message_schemas().items()}


def write(folder: Path) -> None:
    """Makes a folder hold these files and no other schema."""
    folder.mkdir(parents=True, exist_ok=True)
    files = message_files()
    for old in folder.glob("*.json"):
        if old.name not in files:
            old.unlink()
    for name, text in files.items():
        (folder / name).write_bytes(text)


def _schema(shape: Any) -> tuple[str, dict[str, Any]]:
    kind: str = shape.__struct_config__.tag
    (root,), parts = msgspec.json.schema_components([shape], ref_template="#/$defs/{name}")
    whole = parts.pop(root["$ref"].rpartition("/")[2])
    head = {"$schema": DIALECT, "$id": f"urn:milepost:message:{kind}"}
    return kind, {**head, **whole, **({"$defs": dict(sorted(parts.items()))} if parts else {})}


def _text(schema: dict[str, Any]) -> bytes:
    return (json.dumps(schema, indent=2, ensure_ascii=False) + "\n").encode()

"""Shows the settings that hold, secrets hidden, as TOML for people or as plain values for programs."""

from collections.abc import Iterator
from typing import Any, cast

import msgspec
from msgspec import Struct

from milepost.settings import tree
from milepost.settings.reading import Loaded
from milepost.settings.sections import Settings
from milepost.settings.values import Duration, Secret, Size


def plain(settings: Settings) -> dict[str, Any]:
    """Nested plain values; lengths of time and sizes as they are written, secrets hidden."""
    return {field: _plain(getattr(settings, field)) for field in Settings.__struct_fields__}


def toml(loaded: Loaded) -> str:
    """The same as a settings file, with the origin of each value that is not the default."""
    table = plain(loaded.settings)
    return "\n".join(_lines(table, (), loaded)).lstrip("\n") + "\n"


def _plain(value: object) -> Any:
    if isinstance(value, Struct):
        return {field: _plain(getattr(value, field)) for field in value.__struct_fields__}
    if isinstance(value, tuple):
        return [_plain(item) for item in cast("tuple[object, ...]", value)]
    return str(value) if isinstance(value, Duration | Size | Secret) else value


def _lines(table: dict[str, Any], at: tree.Path, loaded: Loaded) -> Iterator[str]:
    for name, value in table.items():
        if not isinstance(value, dict):
            origin = loaded.origins.get((*at, name))
            yield f"{name} = {_toml(value)}" + (f"  # {origin}" if origin else "")
    for name, value in table.items():
        if isinstance(value, dict):
            section = cast("dict[str, Any]", value)
            if any(not isinstance(item, dict) for item in section.values()):
                yield f"\n[{'.'.join((*at, name))}]"
            yield from _lines(section, (*at, name), loaded)


def _toml(value: Any) -> str:
    """A value as TOML writes it; JSON's scalars and lists are TOML too, tables are written inline."""
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return "{" + ", ".join(f"{name} = {_toml(item)}" for name, item in table.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in cast("list[Any]", value)) + "]"
    return msgspec.json.encode(value).decode()

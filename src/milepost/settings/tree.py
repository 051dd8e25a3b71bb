"""The settings as a tree of sections and keys: which paths exist, and of what kind each is."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final, TypeAlias, cast, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import fields

from milepost.settings.sections import Settings, Target
from milepost.settings.values import Address, Secret

Path: TypeAlias = tuple[str, ...]


class Key(Struct, frozen=True):
    """One key: whether it may come from a file, whether it is a list, and whether it is a table of tables."""

    path: Path
    secret: bool
    many: bool
    tables: bool


def _keys(kind: type[Struct], at: Path) -> Iterator[Key]:
    hints = get_type_hints(kind)
    for name in (field.name for field in fields(kind)):
        hint = hints[name]
        if isinstance(hint, type) and issubclass(hint, Struct):
            yield from _keys(hint, (*at, name))
        else:
            secret = hint in (Secret, Address)
            many = get_origin(hint) is tuple
            yield Key((*at, name), secret, many, many and Target in get_args(hint))


KEYS: Final[Mapping[Path, Key]] = {key.path: key for key in _keys(Settings, ())}
"""Every key that can be set."""

_SECTIONS: Final = {path[:length] for path in KEYS for length in range(1, len(path))}


def leaves(table: Mapping[str, Any], at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The values of nested tables with their paths; goes no deeper than the settings do."""
    for name, value in table.items():
        path = (*at, name)
        if isinstance(value, dict) and path in _SECTIONS:
            yield from leaves(cast("dict[str, Any]", value), path)
        else:
            yield path, value


def put(table: dict[str, Any], path: Path, value: object) -> None:
    """Sets a value in nested tables, making those on the way."""
    for name in path[:-1]:
        table = table.setdefault(name, {})
    table[path[-1]] = value


def objection(path: Path) -> str | None:
    """What is wrong with a path that is no key, with the nearest that is one; None for a key."""
    if path in KEYS:
        return None
    name = ".".join(path)
    if path in _SECTIONS:
        return f"{name} is a section, not a key"
    known = {".".join(key) for key in KEYS} | {".".join(section) for section in _SECTIONS}
    near = get_close_matches(name, known, n=1, cutoff=0.6) or get_close_matches(
        path[-1], [key[-1] for key in KEYS if key[:-1] == path[:-1]], n=1
    )
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"unknown key {name}{hint}"

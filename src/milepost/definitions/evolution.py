"""How a data schema may grow under its name: optional fields and annotations, nothing else.

What a producer sends must stay valid, and what a reader knows must keep its meaning.
"""

from collections.abc import Iterator
from typing import Any, Final, cast

from msgspec import Struct

from milepost.definitions.source import pointed

_SAID: Final = frozenset({"title", "description", "examples", "default", "deprecated", "$comment", "$schema"})
"""Keywords that only explain."""

_NESTED: Final = ("items", "additionalProperties", "propertyNames", "contains")
_SHAPED: Final = frozenset({"properties", "required", "$defs", *_NESTED})


class Step(Struct, frozen=True):
    """One difference between two schemas; `because` says why it needs a new name, None: it does not."""

    path: str
    what: str
    because: str | None = None


def schema_steps(older: Any, newer: Any, path: str = "") -> Iterator[Step]:
    """Every difference, where it stands in the newer schema."""
    if older == newer:
        return
    if not isinstance(older, dict) or not isinstance(newer, dict):
        yield Step(path, "the schema changed", "values could be judged or read differently")
        return
    before, after = cast("dict[str, Any]", older), cast("dict[str, Any]", newer)
    yield from _properties(before, after, path)
    yield from _required(before, after, path)
    yield from _keywords(before, after, path)
    for name in _NESTED:
        if name in before and name in after:
            yield from schema_steps(before[name], after[name], f"{path}/{name}")
    yield from _definitions(before, after, path)


def _properties(before: dict[str, Any], after: dict[str, Any], path: str) -> Iterator[Step]:
    old, new = _named(before, "properties"), _named(after, "properties")
    needed = set(_listed(after, "required"))
    gone, fresh = [name for name in old if name not in new], [name for name in new if name not in old]
    for name in fresh:
        place = f"{path}/properties{pointed(name)}"
        if name in needed:
            yield Step(place, f"the field {name} added, required", "producers that do not know it would be refused")
        else:
            yield Step(place, f"the optional field {name} added")
    for name in gone:
        twin = next((one for one in fresh if new[one] == old[name]), None)
        what = f"the field {name} removed" if twin is None else f"the field {name} renamed to {twin}"
        yield Step(f"{path}/properties", what, "readers that know it would miss it")
    for name in (name for name in new if name in old):
        yield from schema_steps(old[name], new[name], f"{path}/properties{pointed(name)}")


def _required(before: dict[str, Any], after: dict[str, Any], path: str) -> Iterator[Step]:
    old, new = set(_listed(before, "required")), set(_listed(after, "required"))
    known = _named(before, "properties")
    for name in sorted(name for name in new - old if name in known):
        yield Step(f"{path}/required", f"the field {name} became required", "producers that leave it out are refused")
    for name in sorted(old - new):
        if name in _named(after, "properties"):
            yield Step(f"{path}/required", f"the field {name} became optional", "readers rely on it")


def _keywords(before: dict[str, Any], after: dict[str, Any], path: str) -> Iterator[Step]:
    for name in sorted({*before, *after}):
        both = name in before and name in after
        if before.get(name) == after.get(name) and both:
            continue
        if name in _SAID or name.startswith("x-"):
            yield Step(path + pointed(name), f"{name} changed")
        elif name not in _SHAPED or (name in _NESTED and not both):
            change = "changed" if both else "added" if name in after else "removed"
            yield Step(path + pointed(name), f"{name} {change}", "values could be judged or read differently")


def _definitions(before: dict[str, Any], after: dict[str, Any], path: str) -> Iterator[Step]:
    old, new = _named(before, "$defs"), _named(after, "$defs")
    for name in sorted(old.keys() & new.keys()):
        yield from schema_steps(old[name], new[name], f"{path}/$defs{pointed(name)}")


def _named(schema: dict[str, Any], key: str) -> dict[str, Any]:
    found = schema.get(key)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _listed(schema: dict[str, Any], key: str) -> list[str]:
    found = schema.get(key)
    return [one for one in cast("list[Any]", found) if isinstance(one, str)] if isinstance(found, list) else []

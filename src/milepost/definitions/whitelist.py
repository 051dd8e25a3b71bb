"""From a JSON Schema to masks: what a schema declares, and the parts of it that a list of pointers names.

Only what is declared can be shown. A reference inside the schema is followed; one that leads back into itself is
followed once, so a tree shows its first level.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from milepost.definitions.source import parts_of
from milepost.domain.masks import NOTHING, Mask

ANY: Final = "*"
"""In a pointer: every item of a list, or every member that the schema does not name."""

BUDGET: Final = 10_000
"""The most places of a schema that are looked at, references followed."""

_PLAIN: Final = frozenset({"string", "number", "integer", "boolean", "null"})
_SHAPED: Final = ("properties", "additionalProperties", "patternProperties", "items", "prefixItems", "$ref")
_JOINED: Final = ("allOf", "anyOf", "oneOf")
_BRANCHED: Final = ("then", "else", "not", "if")


class TooLarge(Exception):
    """The schema describes more places than are looked at."""


def declared(schema: Any) -> Mask:
    """Everything a schema declares. Raises `TooLarge`."""
    return _Reading(schema).mask(schema, frozenset())


class _Reading:
    def __init__(self, root: Any) -> None:
        self._root = root
        self._left = BUDGET

    def mask(self, schema: Any, inside: frozenset[str]) -> Mask:
        self._left -= 1
        if self._left < 0:
            raise TooLarge
        if schema is True:
            return Mask(plain=True)
        if not isinstance(schema, dict):
            return NOTHING
        return self._of(cast("dict[str, Any]", schema), inside)

    def _of(self, schema: dict[str, Any], inside: frozenset[str]) -> Mask:
        others = [self.mask(each, inside) for each in _members(schema, "patternProperties").values()]
        if isinstance(schema.get("additionalProperties"), dict):
            others.append(self.mask(schema["additionalProperties"], inside))
        items = [self.mask(each, inside) for each in _listed(schema, "prefixItems")]
        if "items" in schema:
            items.append(self.mask(schema["items"], inside))
        own = Mask(
            plain=_is_plain(schema),
            members={name: self.mask(each, inside) for name, each in _members(schema, "properties").items()},
            others=joined(others) if others else None,
            items=joined(items) if items else None,
        )
        return joined([own, *self._referred(schema, inside)])

    def _referred(self, schema: dict[str, Any], inside: frozenset[str]) -> list[Mask]:
        found = [self.mask(each, inside) for key in _JOINED for each in _listed(schema, key)]
        found += [self.mask(schema[key], inside) for key in ("then", "else") if key in schema]
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference not in inside:
            found.append(self.mask(referred(self._root, reference), inside | {reference}))
        return found


def referred(root: Any, reference: str) -> Any:
    """What a reference inside the document names; None where there is nothing."""
    parts = parts_of(reference.removeprefix("#")) if reference.startswith("#") else None
    if parts is None:
        return None
    place = root
    for part in parts:
        if isinstance(place, dict) and part in place:
            place = cast("dict[str, Any]", place)[part]
        elif isinstance(place, list) and part.isdigit() and int(part) < len(cast("list[Any]", place)):
            place = cast("list[Any]", place)[int(part)]
        else:
            return None
    return place


def selected(whole: Mask, pointer: str) -> Mask | None:
    """The part of a mask that a pointer names, with all below it; None where there is no such part."""
    parts = parts_of(pointer)
    return None if parts is None else _selected(whole, parts)


def _selected(whole: Mask, parts: tuple[str, ...]) -> Mask | None:
    if not parts:
        return whole
    name, rest = parts[0], parts[1:]
    if name in whole.members:
        inner = _selected(whole.members[name], rest)
        return None if inner is None else Mask(members={name: inner})
    if name != ANY:
        return None
    others = _selected(whole.others, rest) if whole.others else None
    items = _selected(whole.items, rest) if whole.items else None
    # Members with a name of their own are not meant by it, so they may not slip in among the others.
    hidden = dict.fromkeys(whole.members, NOTHING) if others else {}
    return Mask(members=hidden, others=others, items=items) if others or items else None


def without(whole: Mask, pointer: str) -> Mask:
    """A mask less the part that a pointer names."""
    parts = parts_of(pointer)
    return whole if parts is None else _without(whole, parts)


def _without(whole: Mask, parts: tuple[str, ...]) -> Mask:
    if not parts:
        return NOTHING
    name, rest = parts[0], parts[1:]
    members = dict(whole.members)
    if name in members:
        members[name] = _without(members[name], rest)
        return Mask(plain=whole.plain, members=members, others=whole.others, items=whole.items)
    if name != ANY:
        return whole
    others = _without(whole.others, rest) if whole.others else None
    items = _without(whole.items, rest) if whole.items else None
    return Mask(plain=whole.plain, members=members, others=others, items=items)


def whitelist(schema: Any, pointers: Iterable[str], sensitive: Iterable[str]) -> Mask:
    """What these pointers show of values of a schema, less everything sensitive. Unknown pointers show nothing."""
    whole = declared(schema)
    for pointer in sensitive:
        whole = without(whole, pointer)
    parts = [part for pointer in pointers if (part := selected(whole, pointer)) is not None]
    return joined(parts)


def joined(masks: Iterable[Mask]) -> Mask:
    """Everything that one of these masks shows."""
    found = [mask for mask in masks if mask is not NOTHING]
    if len(found) < 2:
        return found[0] if found else NOTHING
    names = dict.fromkeys(name for mask in found for name in mask.members)
    return Mask(
        plain=any(mask.plain for mask in found),
        members={name: joined([mask.members[name] for mask in found if name in mask.members]) for name in names},
        others=_either([mask.others for mask in found]),
        items=_either([mask.items for mask in found]),
    )


def shows_anything(mask: Mask) -> bool:
    """Whether some value would show something through this mask."""
    parts = [*mask.members.values(), mask.others, mask.items]
    return mask.plain or any(part is not None and shows_anything(part) for part in parts)


def _either(masks: Iterable[Mask | None]) -> Mask | None:
    found = [mask for mask in masks if mask is not None]
    return joined(found) if found else None


def _is_plain(schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    if kind is None:
        return not any(key in schema for key in (*_SHAPED, *_JOINED, *_BRANCHED))
    kinds = cast("list[str]", kind) if isinstance(kind, list) else [kind]
    return any(one in _PLAIN for one in kinds)


def _members(schema: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = schema.get(key)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _listed(schema: Mapping[str, Any], key: str) -> list[Any]:
    found = schema.get(key)
    return cast("list[Any]", found) if isinstance(found, list) else []

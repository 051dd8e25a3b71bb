"""Masks: which parts of a JSON value one audience may see. What a mask does not name is never shown."""

from collections.abc import Mapping
from typing import Any, Final, cast

from msgspec import Struct, field


class Mask(Struct, frozen=True, omit_defaults=True):
    """A whitelist in the shape of the value: plain values, named members, members of any other name, items of a list.

    A container is shown only through its own parts, so a field that turns out to hold an object where the schema spoke
    of text shows nothing of it.
    """

    plain: bool = False
    members: Mapping[str, "Mask"] = field(default_factory=dict[str, "Mask"])
    others: "Mask | None" = None
    items: "Mask | None" = None


NOTHING: Final = Mask()
"""Shows nothing."""

_ABSENT: Final = object()


def shown(value: Any, mask: Mask | None) -> Any:
    """The part of a value that the mask names; None where nothing of it may be shown."""
    found = _part(value, mask)
    return None if found is _ABSENT else found


def _part(value: Any, mask: Mask | None) -> Any:
    if mask is None:
        return _ABSENT
    if isinstance(value, dict):
        return _members(cast("dict[str, Any]", value), mask) if mask.members or mask.others else _ABSENT
    if isinstance(value, list | tuple):
        parts = [_part(item, mask.items) for item in cast("list[Any]", value)] if mask.items else _ABSENT
        return parts if parts is _ABSENT else [part for part in cast("list[Any]", parts) if part is not _ABSENT]
    return value if mask.plain else _ABSENT


def _members(value: dict[str, Any], mask: Mask) -> dict[str, Any]:
    parts = {name: _part(item, mask.members.get(name, mask.others)) for name, item in value.items()}
    return {name: part for name, part in parts.items() if part is not _ABSENT}

"""Reads JSON that others sent: bounded, strict about keys and numbers, lenient about the spelling of text.

The fast path is msgspec. It keeps the last of two equal keys in silence, so keys are counted: every key stands before a
colon, and where the number of `":` in the body differs from the number of keys that were read, or space hides one, the
slow path reads the body again and says which key is doubled. The slow path also takes in what msgspec refuses and we
must not: lone surrogates (they become U+FFFD) and numbers such as NaN or 1e999 (they are refused where they stand).
"""

import json
import math
import re
from typing import Any, Final

import msgspec

from milepost.wire.ids import PATTERN
from milepost.wire.numbers import SAFE
from milepost.wire.problems import Rejection
from milepost.wire.texts import clean

DEPTH: Final = 32
_HOLDERS: Final = frozenset((dict, list))
_SPACED: Final = re.compile(rb'"\s+:')
_decode: Final = msgspec.json.Decoder().decode


class _Doubled:
    """Stands where an object had two equal keys, until `normalised` refuses it there."""

    def __init__(self, key: str) -> None:
        self.key = key


def parse(body: bytes) -> Any:
    """The value of a JSON text. Raises `Rejection` JSON_INVALID when it is none.

    What is wrong inside it is found by `normalised`, so that one item of a batch cannot spoil its neighbours.
    """
    try:
        value = _decode(body)
    except (msgspec.DecodeError, RecursionError):
        return _slowly(body)
    plain = body.count(b'":') == _keys(value) and not _SPACED.search(body)
    return value if plain else _slowly(body)


def normalised(value: Any) -> Any:
    """The value with clean texts and one spelling of every number: 1.0 is 1, -0.0 is 0.

    Raises `Rejection` with the place: DUPLICATE_KEY, NUMBER_OUT_OF_RANGE, or FIELD_INVALID for too deep a nesting.
    """
    try:
        return _walked(value, 0)
    except _Bad as bad:
        pointer = clean("".join("/" + escape(part) for part in reversed(bad.path)))
        raise Rejection.at(pointer, bad.code, bad.detail) from None


class _Bad(Exception):
    """Something that may not stand where it was found; `path` grows from the inside out, and only when it is raised."""

    def __init__(self, code: str, detail: str, *path: str | int) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail
        self.path: list[str | int] = list(path)


def _walked(value: Any, depth: int) -> Any:
    # Asked for its class, not for an instance: JSON has exactly these, and every value of every report comes by here.
    kind = value.__class__
    if kind is str:
        return _text(value)
    if kind is int or kind is float:
        return _number(value)
    if kind is dict or kind is list:
        return _container(value, depth + 1)
    if kind is _Doubled:
        raise _doubled(value.key)
    return value


def _text(value: str) -> str:
    return value if value.isascii() and "\x00" not in value else clean(value)


def _container(value: dict[str, Any] | list[Any], depth: int) -> Any:
    if depth > DEPTH:
        raise _Bad("FIELD_INVALID", f"Nested deeper than {DEPTH} levels.")
    place: str | int = 0
    try:
        if isinstance(value, list):
            items: list[Any] = []
            for place, item in enumerate(value):  # noqa: B007 (the handler below reads where it stopped)
                items.append(_walked(item, depth))
            return items
        members: dict[str, Any] = {}
        for place, item in value.items():
            members[_text(place)] = _walked(item, depth)
        if len(members) < len(value):
            raise _doubled()  # two keys that differ only in what had to be cleaned
    except _Bad as bad:
        bad.path.append(place)
        raise
    return members


def _doubled(*key: str) -> _Bad:
    return _Bad("DUPLICATE_KEY", "This key stands twice in one object.", *key)


def _number(value: int | float) -> int | float:
    # Every float beyond SAFE is a whole number, so 1e20 is judged like the same number written with all its digits.
    if -SAFE <= value <= SAFE:
        return int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(value, float) and not math.isfinite(value):
        raise _Bad("NUMBER_OUT_OF_RANGE", "A number must be finite.")
    raise _Bad("NUMBER_OUT_OF_RANGE", "An integer beyond ±(2^53−1) cannot be kept exactly.")


def _keys(value: Any) -> int:
    """How many keys all objects of a value have together; a loop, since the depth is not yet known to be sane."""
    count = 0
    waiting: list[Any] = [value]
    while waiting:
        held = waiting.pop()
        if held.__class__ is dict:
            count += len(held)
            waiting += [item for item in held.values() if item.__class__ in _HOLDERS]
        elif held.__class__ is list:
            waiting += [item for item in held if item.__class__ in _HOLDERS]
    return count


def _slowly(body: bytes) -> Any:
    try:
        text = body.decode("utf-8", "surrogatepass")
        return json.loads(text, object_pairs_hook=_object, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        where = f" at line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise Rejection("JSON_INVALID", f"The body is not valid JSON{where}.") from None


def _integer(digits: str) -> int | float:
    # Python refuses to read thousands of digits; that many are out of range anyway, and are refused where they stand.
    return int(digits) if len(digits) < 64 else math.inf


def _object(pairs: list[tuple[str, Any]]) -> Any:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    return _Doubled(next(key for key, _ in pairs if key in seen or seen.add(key)))


def converted(value: Any, shape: type[Any], pointer: str = "") -> Any:
    """A normalised value as one of the wire's types. Raises `Rejection` FIELD_INVALID or ID_INVALID with the place."""
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        raise _located(str(error), pointer) from None


_PLACE: Final = re.compile(r" - at `(?:key in )?\$([^`]*)`$")
_FIELD: Final = re.compile(r"missing required field `(.+)`|unknown field `(.+)`", re.DOTALL)
_NO_ID: Final = f"Expected `str` matching regex {PATTERN!r}"
_ID_TOLD: Final = "An id has 1 to 128 characters of A-Z a-z 0-9 . _ - ~"


def _located(message: str, pointer: str) -> Rejection:
    found = _PLACE.search(message)
    detail = message[: found.start()] if found else message
    # `[...]` stands for a member whose name is not told: the place is then the object that holds it.
    path = re.sub(r"\[(\d+)\]", r".\1", found[1]).partition("[...]")[0] if found else ""
    place = pointer + path.replace(".", "/")
    field = _FIELD.search(detail)
    if field:
        place = f"{place}/{escape((field[1] or field[2])[:100])}"
    code, said = ("ID_INVALID", _ID_TOLD) if detail == _NO_ID else ("FIELD_INVALID", f"{detail[:300]}.")
    return Rejection.at(place, code, said)


def escape(part: str | int) -> str:
    """One part of a path as a JSON Pointer writes it (RFC 6901)."""
    return str(part).replace("~", "~0").replace("/", "~1")

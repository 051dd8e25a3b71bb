"""Reads JSON that others sent: bounded, strict about keys and numbers, lenient about the spelling of text.

The fast path is msgspec. It keeps the last of two equal keys in silence, so keys are counted: every key stands before a
colon, and where the number of `":` in the body differs from the number of keys that were read, or space hides one, the
slow path reads the body again and says which key is doubled. The slow path also takes in what msgspec refuses and we
must not: lone surrogates (they become U+FFFD) and numbers such as NaN or 1e999 (they are refused where they stand).
"""

import json
import math
import re
from typing import Any, Final, cast

import msgspec

from milepost.wire.numbers import SAFE
from milepost.wire.problems import FieldError, Rejection
from milepost.wire.texts import clean

DEPTH: Final = 32
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
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
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
        pointer = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in reversed(bad.path))
        raise Rejection.at(pointer, bad.code, bad.detail) from None


class _Bad(Exception):
    """Something that may not stand where it was found; `path` grows from the inside out, and only when it is raised."""

    def __init__(self, code: str, detail: str, *path: str | int) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail
        self.path: list[str | int] = list(path)


def _walked(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if value.isascii() and "\x00" not in value else clean(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, _Doubled):
        raise _Bad("DUPLICATE_KEY", "This key stands twice in one object.", value.key)
    return _container(value, depth + 1)


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
            members[_walked(place, depth)] = _walked(item, depth)
    except _Bad as bad:
        bad.path.append(place)
        raise
    return members


def _number(value: int | float) -> int | float:
    if isinstance(value, int):
        if -SAFE <= value <= SAFE:
            return value
        raise _Bad("NUMBER_OUT_OF_RANGE", "An integer beyond ±(2^53−1) cannot be kept exactly.")
    if not math.isfinite(value):
        raise _Bad("NUMBER_OUT_OF_RANGE", "A number must be finite.")
    return int(value) if value.is_integer() and abs(value) <= SAFE else value


def _keys(value: Any) -> int:
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return len(members) + sum(_keys(item) for item in members.values() if isinstance(item, dict | list))
    if isinstance(value, list):
        return sum(_keys(item) for item in cast("list[Any]", value) if isinstance(item, dict | list))
    return 0


def _slowly(body: bytes) -> Any:
    try:
        text = body.decode("utf-8", "surrogatepass")
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        where = f" at line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise Rejection("JSON_INVALID", f"The body is not valid JSON{where}.") from None


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


_PLACE: Final = re.compile(r" - at `(key in )?\$([^`]*)`$")


def _located(message: str, pointer: str) -> Rejection:
    found = _PLACE.search(message)
    path = re.sub(r"\[(\d+)\]", r".\1", found[2]) if found else ""
    place = pointer + path.replace("...", "*").replace(".", "/")
    detail = message[: found.start()] if found else message
    missing = re.search(r"missing required field `([^`]+)`|unknown field `([^`]+)`", detail)
    if missing:
        place = f"{place}/{missing[1] or missing[2]}"
    code = "ID_INVALID" if "A-Za-z0-9._~" in detail else "FIELD_INVALID"
    said = "An id has 1 to 128 characters of A-Z a-z 0-9 . _ - ~" if code == "ID_INVALID" else f"{detail}."
    return Rejection("FIELD_INVALID" if code != "ID_INVALID" else code, said, (FieldError(place, code, said),))

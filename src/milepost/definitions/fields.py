"""Checks of single fields: what a value must be, said in one line with what to do about it."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias, cast

from milepost.definitions.findings import Notes, meant
from milepost.definitions.source import pointed
from milepost.settings.values import Duration, Size

Check: TypeAlias = Callable[[Notes, str, Any], None]

CODE: Final = re.compile(r"[A-Za-z0-9._~\-]{1,128}")
PATTERN: Final = re.compile(r"[A-Za-z0-9._~*\-]{1,128}")
TOKEN: Final = re.compile(r"[a-z][a-z0-9-]{0,63}")
KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_MARKUP: Final = re.compile(r"[<>]|&[#A-Za-z][A-Za-z0-9]{0,31};")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
TEXT: Final = 300


def mapping(notes: Notes, path: str, value: Any, checks: Mapping[str, Check], needs: Iterable[str] = ()) -> bool:
    """Checks a mapping's fields: unknown ones, missing ones, and each known one by its own check."""
    if not isinstance(value, dict):
        notes.error(path, "expected fields with values", "write `name: value` lines here")
        return False
    fields = cast("dict[str, Any]", value)
    for name, item in fields.items():
        place = path + pointed(name)
        if name not in checks:
            notes.error(place, f"unknown field {name}", meant(name, checks))
        elif item is None:
            notes.error(place, f"{name} has no value", "give it one or leave it out")
        else:
            checks[name](notes, place, item)
    for name in needs:
        if name not in fields:
            notes.error(path, f"{name} is missing", f"add {name}")
    return True


def listed(check: Check, *, most: int = 200, least: int = 0) -> Check:
    """A list whose items pass a check."""

    def checked(notes: Notes, path: str, value: Any) -> None:
        if not isinstance(value, list):
            notes.error(path, "expected a list", "write one `- item` a line")
            return
        items = cast("list[Any]", value)
        if not least <= len(items) <= most:
            notes.error(path, f"a list of {len(items)}", f"give {least} to {most} items")
        for index, item in enumerate(items):
            check(notes, f"{path}/{index}", item)

    return checked


def doubled(notes: Notes, path: str, value: Any, name: str | None = None) -> None:
    """Says which items of a list stand twice; with a name, by that field of theirs."""
    seen: dict[Any, int] = {}
    for index, item in enumerate(entries(value)):
        key = item if name is None else (cast("dict[str, Any]", item).get(name) if isinstance(item, dict) else None)
        if not isinstance(key, str):
            continue
        place = f"{path}/{index}" if name is None else f"{path}/{index}/{name}"
        if key in seen:
            notes.error(place, f"{key} stands twice", "keep one of the two")
        seen[key] = index


def one_of(*allowed: str) -> Check:
    """One of a few words."""

    def checked(notes: Notes, path: str, value: Any) -> None:
        if not isinstance(value, str) or value not in allowed:
            notes.error(path, f"{shown(value)} is not known here", meant(str(value), allowed))

    return checked


def some_of(*allowed: str, least: int = 0) -> Check:
    """A list of a few words, each once."""
    each = listed(one_of(*allowed), least=least)

    def checked(notes: Notes, path: str, value: Any) -> None:
        each(notes, path, value)
        doubled(notes, path, value)

    return checked


def written(pattern: re.Pattern[str], how: str) -> Check:
    """Text of one form."""

    def checked(notes: Notes, path: str, value: Any) -> None:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            notes.error(path, f"{shown(value)} cannot stand here", f"write {how}")

    return checked


code: Final = written(CODE, "1 to 128 characters of A-Z a-z 0-9 . _ - ~")
token: Final = written(TOKEN, "a token such as `progress` or `text-scan`: a-z 0-9 and -, never markup")
key: Final = written(KEY, "the key of a text such as `status.reading`, never the markup itself")


def text(notes: Notes, path: str, value: Any) -> None:
    """A short text for people, without markup."""
    if not isinstance(value, str) or not value.strip():
        notes.error(path, f"{shown(value)} is no text", "write a text; put quotes around a number")
    elif len(value) > TEXT:
        notes.error(path, f"a text of {len(value)} characters", f"keep it within {TEXT}")
    elif _MARKUP.search(value) or _CONTROL.search(value):
        notes.error(path, "markup or control characters", "write plain text; pages show it as it stands")


def label(notes: Notes, path: str, value: Any) -> None:
    """A name for people: a text, or the key of a translation and the text where there is none."""
    if isinstance(value, dict):
        mapping(notes, path, value, {"key": key, "default": text}, needs=("default",))
    else:
        text(notes, path, value)


def flag(notes: Notes, path: str, value: Any) -> None:
    """True or false."""
    if not isinstance(value, bool):
        notes.error(path, f"{shown(value)} is neither true nor false", "write true or false")


def whole(least: int, most: int) -> Check:
    """A whole number between two."""

    def checked(notes: Notes, path: str, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            said = f'"{shown(value)}" is a text' if isinstance(value, str) else f"{shown(value)} cannot stand here"
            notes.error(path, said, f"write a whole number from {least} to {most}, without quotes")

    return checked


def weight(notes: Notes, path: str, value: Any) -> None:
    """How much a step counts beside the others."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1_000_000:
        notes.error(path, f"{shown(value)} is no weight", "write a number above 0, up to 1000000")


def duration(least: str, most: str) -> Check:
    """A length of time between two."""

    def checked(notes: Notes, path: str, value: Any) -> None:
        found = milliseconds(value)
        if found is None:
            notes.error(path, f"{shown(value)} is no length of time", "write one such as 500ms, 60s, 5m, 2h or 30d")
        elif not Duration.parse(least) <= found <= Duration.parse(most):
            notes.error(path, f"{value} is out of range", f"write {least} to {most}")

    return checked


def size(most: str) -> Check:
    """A number of bytes up to a limit."""

    def checked(notes: Notes, path: str, value: Any) -> None:
        found = octets(value)
        if found is None:
            notes.error(path, f"{shown(value)} is no size", "write one such as 4KiB")
        elif not 2 <= found <= Size.parse(most):
            notes.error(path, f"{value} is out of range", f"write up to {most}")

    return checked


def milliseconds(value: Any) -> int | None:
    """A length of time in milliseconds; None where it is none."""
    try:
        return int(Duration.parse(value))
    except ValueError:
        return None


def octets(value: Any) -> int | None:
    """A size in bytes; None where it is none."""
    try:
        return int(Size.parse(value))
    except ValueError:
        return None


def shown(value: Any) -> str:
    """A value in a message: short, on one line, and never the contents of a container."""
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "a mapping"
    if isinstance(value, bool):
        return "true" if value else "false"
    said = "".join(character if character.isprintable() else "?" for character in str(value))
    return said if len(said) <= 60 else f"{said[:57]}..."


def entries(value: Any) -> list[Any]:
    """The items of a list; none where it is no list."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a mapping; none where it is no mapping."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}

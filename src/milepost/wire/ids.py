"""Identifiers: 1–128 of `A–Z a–z 0–9 . _ - ~`, compared byte for byte, and the way foreign ones come in."""

import re
from typing import Annotated, Final

from msgspec import Meta

from milepost.wire.problems import Rejection

PATTERN: Final = r"^[A-Za-z0-9._~\-]{1,128}(?![\s\S])"
Id = Annotated[str, Meta(pattern=PATTERN, description="1 to 128 characters of A-Z a-z 0-9 . _ - ~")]

_ID: Final = re.compile(PATTERN)
_PLAIN: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_ESCAPED: Final = re.compile(r"~([0-9a-f]{2})")


def is_id(text: str) -> bool:
    """Whether this text is an identifier as it stands."""
    return _ID.match(text) is not None


def checked(text: str, pointer: str) -> str:
    """The text, if it is an identifier. Raises `Rejection` ID_INVALID at `pointer`."""
    if not is_id(text):
        raise Rejection.at(pointer, "ID_INVALID", "An id has 1 to 128 characters of A-Z a-z 0-9 . _ - ~")
    return text


def escaped(foreign: str) -> str:
    """A foreign identifier as one of ours: every UTF-8 byte outside `A–Za–z0–9._-` becomes `~hh`.

    Raises `Rejection` ID_INVALID when it is empty or the result is longer than 128 characters.
    """
    data = foreign.encode("utf-8", "surrogatepass")
    return checked("".join(chr(byte) if byte in _PLAIN else f"~{byte:02x}" for byte in data), "")


def readable(identifier: str) -> str:
    """The decoded form that people see; an identifier that is no escaped text is returned as it is."""
    raw = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), identifier).encode("latin-1")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return identifier

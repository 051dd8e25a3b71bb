"""Numbers and instants on the wire: what may pass 2^53 is a decimal string, an instant RFC 3339 UTC in milliseconds."""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Annotated

from msgspec import Meta

SAFE = 2**53 - 1
"""The largest integer every JSON reader keeps exactly."""

Decimal = Annotated[
    str, Meta(pattern=r"^(0|[1-9][0-9]{0,17})(?![\s\S])", description="A non-negative integer as text.")
]
Instant = Annotated[str, Meta(description="RFC 3339, UTC, milliseconds.", extra_json_schema={"format": "date-time"})]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
_MS_LENGTH = len("2027-01-15T08:00:00.123Z")
_FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MS
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MS
_CURSOR = re.compile(r"([A-Za-z0-9]{1,32}):(0|[1-9][0-9]{0,17})")
_BEYOND_MS = re.compile(r"(\.[0-9]{3})[0-9]+")


def instant(ms: int) -> str:
    """An instant in UTC milliseconds as RFC 3339 text."""
    seconds, rest = divmod(ms, 1000)
    return f"{_second(seconds)}.{rest:03d}Z"


@lru_cache(maxsize=1024)
def _second(seconds: int) -> str:
    # Most instants that are told are of the last seconds, and formatting a date costs more than the rest of an answer.
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()[:19]


def instant_or_none(ms: int | None) -> str | None:
    """The same for an instant that may be absent."""
    return None if ms is None else instant(ms)


def milliseconds(value: datetime) -> int:
    """An aware datetime as UTC milliseconds: cut, never rounded, and kept within the years 1 to 9999 of UTC."""
    return min(max((value - _EPOCH) // _MS, _FIRST), _LAST)


def cut_fraction(text: str) -> str:
    """A time without what lies beyond its milliseconds: a reader of datetimes would round nanoseconds, even upwards."""
    return _BEYOND_MS.sub(r"\1", text, count=1) if len(text) > _MS_LENGTH else text


def cursor(epoch: str, position: int) -> str:
    """A place in a stream: `epoch:position`."""
    return f"{epoch}:{position}"


def parse_cursor(text: str) -> tuple[str, int] | None:
    """The epoch and position of a cursor, or None where the text is not one."""
    found = _CURSOR.fullmatch(text)
    return (found[1], int(found[2])) if found else None

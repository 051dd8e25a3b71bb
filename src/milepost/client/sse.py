"""Reads server-sent events from bytes as they come, bounded.

Our own parser, 60 lines: a line ends at CR, LF or CRLF and nowhere else (splitting text on Python's line ends would cut
an event at U+2028), and no line or event may grow without limit, which ready-made readers leave to their callers.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

LIMIT = 4 << 20
"""Bytes of one event, its lines taken together."""

_END = re.compile(rb"\r\n|\n|\r")


class ServerEvent(Struct, frozen=True):
    """One event. Without data it is a sign of life that may move the cursor; `id` is the last one seen."""

    kind: str
    data: str
    id: str


class TooLong(Exception):
    """An event larger than any message of ours: whatever this is, it is no stream of Milepost."""


class Parser:
    """Takes bytes in any portions and gives whole events."""

    def __init__(self) -> None:
        self.retry_ms: int | None = None
        self._rest = b""
        self._first = True
        self._kind = ""
        self._id = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, portion: bytes) -> Iterator[ServerEvent]:
        """The events that these bytes complete. Raises `TooLong`."""
        held = self._rest + portion
        start = 0
        for found in _END.finditer(held):
            # A CR at the very end may be half of a CRLF: it waits for the next byte.
            if found[0] == b"\r" and found.end() == len(held):
                break
            event = self._line(held[start : found.start()])
            start = found.end()
            if event is not None:
                yield event
        self._rest = held[start:]
        if self._size + len(self._rest) > LIMIT:
            raise TooLong

    def _line(self, raw: bytes) -> ServerEvent | None:
        line = raw.decode("utf-8", "replace")
        if self._first:
            self._first = False
            line = line.removeprefix("\ufeff")
        if not line:
            return self._dispatch()
        self._size += len(raw)
        if self._size > LIMIT:
            raise TooLong
        name, colon, value = line.partition(":")
        if name or not colon:
            self._field(name, value.removeprefix(" "))
        return None

    def _field(self, name: str, value: str) -> None:
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._kind = value
        elif name == "id" and "\x00" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry_ms = min(int(value), 60_000)

    def _dispatch(self) -> ServerEvent:
        event = ServerEvent(self._kind or "message", "\n".join(self._data), self._id)
        self._kind, self._data, self._size = "", [], 0
        return event

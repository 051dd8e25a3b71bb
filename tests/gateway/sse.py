"""A strict reader of server-sent events, written from the standard's grammar and nothing of ours."""

import re
from typing import NamedTuple

_LINE_END = re.compile(r"\r\n|\r|\n")


class Seen(NamedTuple):
    event: str
    data: str
    last_id: str


class Parser:
    """Takes bytes as they come; `retry` is the last one said."""

    def __init__(self) -> None:
        self._bytes = b""
        self._text = ""
        self._event = ""
        self._data: list[str] = []
        self._id = ""
        self.last_id = ""
        self.retry: int | None = None
        self.comments = 0

    def feed(self, chunk: bytes) -> list[Seen]:
        self._bytes += chunk
        try:
            text = self._bytes.decode("utf-8")
            self._bytes = b""
        except UnicodeDecodeError as error:
            text = self._bytes[: error.start].decode("utf-8")
            self._bytes = self._bytes[error.start :]
            assert len(self._bytes) < 4, "not UTF-8"
        self._text += text
        return self._lines()

    def _lines(self) -> list[Seen]:
        seen: list[Seen] = []
        while True:
            found = _LINE_END.search(self._text)
            # A CR at the very end may be the first half of a CRLF.
            if found is None or (found[0] == "\r" and found.end() == len(self._text)):
                return seen
            line, self._text = self._text[: found.start()], self._text[found.end() :]
            if line:
                self._field(line)
            else:
                seen.extend(self._dispatch())

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "":
            self.comments += 1
        elif name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        elif name == "id":
            assert "\0" not in value
            self._id = value
        elif name == "retry":
            assert value.isascii()
            assert value.isdigit()
            self.retry = int(value)
        else:
            raise AssertionError(f"an unknown field: {name!r}")

    def _dispatch(self) -> list[Seen]:
        self.last_id = self._id
        event, data = self._event or "message", self._data
        self._event, self._data = "", []
        return [Seen(event, "\n".join(data), self.last_id)] if data else []

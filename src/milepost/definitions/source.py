"""A document as it was written: its values, the line of every place, and what was wrong with its text."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, field

Level = Literal["error", "warning"]


class Finding(Struct, frozen=True, rename="camel"):
    """One thing to say about a document. `path` is a JSON Pointer into it, `line` counts from 1."""

    line: int
    path: str
    level: Level
    wrong: str
    advice: str


class Source(Struct, frozen=True):
    """A document as plain values, the line of each place by JSON Pointer, and what was wrong with its text."""

    value: Any
    lines: Mapping[str, int] = field(default_factory=dict[str, int])
    findings: tuple[Finding, ...] = ()

    def line_of(self, path: str) -> int:
        """The line of a place; of the nearest one around it where it is missing."""
        while path and path not in self.lines:
            path = path.rpartition("/")[0]
        return self.lines.get(path, 1)


def pointed(*parts: str | int) -> str:
    """A JSON Pointer of these parts."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def parts_of(pointer: str) -> tuple[str, ...] | None:
    """The parts of a JSON Pointer; None where the text is none."""
    if pointer and not pointer.startswith("/"):
        return None
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])

"""Looks at a document before anybody reads it: how large, which kind, and a checksum to know it by."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

Kind = Literal["pdf", "html", "markdown", "csv", "text"]

CHUNK = 4096


class Inventory(Struct, frozen=True):
    """What is known of a file by its bytes alone; `size` in bytes."""

    kind: Kind
    size: int
    sha256: str


def documents() -> list[Path]:
    """The documents that come with the demonstration, by name."""
    folder = Path(__file__).parent / "documents"
    return sorted(path for path in folder.iterdir() if path.is_file())


def chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, a chunk at a time."""
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


def kind_of(head: bytes, name: str) -> Kind:
    """The kind of a document: by its first bytes where they tell, else by its name."""
    start = head.lstrip()[:64].lower()
    if start.startswith(b"%pdf-"):
        return "pdf"
    if start.startswith((b"<!doctype html", b"<html")):
        return "html"
    by_name: dict[str, Kind] = {".md": "markdown", ".csv": "csv"}
    return by_name.get(Path(name).suffix.lower(), "text")


class Checksum:
    """A checksum in the making."""

    def __init__(self) -> None:
        self.size = 0
        self._head = b""
        self._hash = hashlib.sha256()

    def add(self, chunk: bytes) -> None:
        """Takes in the next bytes."""
        self._head = self._head or chunk
        self.size += len(chunk)
        self._hash.update(chunk)

    def inventory(self, name: str) -> Inventory:
        """The result, once all bytes were added."""
        return Inventory(kind_of(self._head, name), self.size, self._hash.hexdigest())

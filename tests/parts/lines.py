"""What a process writes, line by line, as it comes."""

import queue
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from io import IOBase

import httpx


class Lines:
    """Reads a pipe or a response in a thread of its own, so that waiting for a line can have an end."""

    def __init__(self, source: Iterable[str]) -> None:
        self.seen: list[str] = []
        self._waiting: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, args=(source,), daemon=True).start()

    def _read(self, source: Iterable[str]) -> None:
        with suppress(OSError, httpx.HTTPError):
            for line in source:
                self._waiting.put(line.rstrip("\n"))
        if isinstance(source, IOBase):
            source.close()
        self._waiting.put(None)

    def until(self, wanted: Callable[[str], bool], seconds: float = 20.0) -> str:
        """The next line that is wanted; the others are kept in `seen`."""
        while True:
            line = self._waiting.get(timeout=seconds)
            assert line is not None, f"it ended after: {self.seen[-3:]}"
            self.seen.append(line)
            if wanted(line):
                return line

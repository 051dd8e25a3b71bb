"""What a reading core asks of its driver. Cores are generators of these; drivers carry them, sync or async."""

from collections.abc import Generator
from typing import TypeVar

from msgspec import Struct

from milepost.client.sse import ServerEvent
from milepost.ports.http import Outcome, Request

T = TypeVar("T")


class Get(Struct, frozen=True):
    """Carry a request; its outcome comes back."""

    request: Request


class Open(Struct, frozen=True):
    """Open a stream; a `Reply` without a body comes back when it is open, or the outcome of the attempt."""

    request: Request


class Next(Struct, frozen=True):
    """Read the next event of the open stream; the event comes back, or `Ended`."""


class Close(Struct, frozen=True):
    """Close the open stream, if there is one."""


class Pause(Struct, frozen=True):
    """Wait so many seconds."""

    seconds: float


class Ended(Struct, frozen=True):
    """The stream is over."""

    reason: str
    retry_ms: int | None = None


Answer = Outcome | ServerEvent | Ended | None
Read = Generator[Get | Pause, Answer, T]

"""What bounds a stream, and what is counted about it."""

import random
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

ResetReason: TypeAlias = Literal["BEHIND", "FLOOR", "EPOCH", "FUTURE"]
EndReason: TypeAlias = Literal["gone", "slow", "expired", "revoked", "drained", "unavailable"]


class StreamLimits(Struct, frozen=True):
    """Bounds of the realtime streams; times in the unit their name says, sizes in bytes."""

    per_user: int = 50
    per_tenant: int = 20_000
    max_replay: int = 1_000
    max_message: int = 32 * 1024
    queue_bytes: int = 256 * 1024
    heartbeat_seconds: float = 15.0
    poll_seconds: float = 1.0
    linger_seconds: float = 10.0
    retry_ms: tuple[int, int] = (1_000, 4_000)

    def retry(self) -> int:
        """Milliseconds after which a client may come back: never the same for all."""
        return random.randint(*self.retry_ms)

    def retry_after(self) -> int:
        """The same in whole seconds, for a refused request."""
        return -(-self.retry() // 1000)


class StreamMetrics(Protocol):
    """Is told what happens on the streams; every method returns at once."""

    def opened(self) -> None:
        """A viewer was let in."""
        ...

    def ended(self, reason: EndReason) -> None:
        """A viewer's stream is over."""
        ...

    def refused(self, code: str) -> None:
        """A viewer was turned away with this code."""
        ...

    def encoded(self, kind: str) -> None:
        """A message was encoded, once for all its viewers."""
        ...

    def sent(self, messages: int) -> None:
        """Messages were queued for viewers, each counted once a viewer."""
        ...

    def collapsed(self, messages: int) -> None:
        """Messages were replaced by newer ones before they were sent."""
        ...

    def replayed(self, messages: int) -> None:
        """A viewer resumed and was sent this much of the log."""
        ...

    def reset(self, reason: ResetReason) -> None:
        """A viewer was told to take a snapshot."""
        ...

    def caught_up(self, entries: int, *, from_log: bool) -> None:
        """A tail handed on entries, read from the log or taken from a commit of this process."""
        ...


class QuietMetrics:
    """Counts nothing."""

    def opened(self) -> None:
        """Nothing."""

    def ended(self, reason: EndReason) -> None:
        """Nothing."""

    def refused(self, code: str) -> None:
        """Nothing."""

    def encoded(self, kind: str) -> None:
        """Nothing."""

    def sent(self, messages: int) -> None:
        """Nothing."""

    def collapsed(self, messages: int) -> None:
        """Nothing."""

    def replayed(self, messages: int) -> None:
        """Nothing."""

    def reset(self, reason: ResetReason) -> None:
        """Nothing."""

    def caught_up(self, entries: int, *, from_log: bool) -> None:
        """Nothing."""

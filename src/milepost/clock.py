"""The one place where time comes from. Everything else takes an instant as an argument."""

import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time in integer milliseconds since 1970-01-01 UTC."""

    def now(self) -> int:
        """The current instant in UTC milliseconds."""
        ...


class SystemClock:
    """The machine's wall clock, cut (never rounded) to milliseconds."""

    def now(self) -> int:
        """The current instant in UTC milliseconds."""
        return time.time_ns() // 1_000_000

"""A clock that stands still until it is moved."""


class ManualClock:
    """Tells the instant it was set to, in UTC milliseconds."""

    def __init__(self, now: int = 1_790_000_000_000) -> None:
        self._now = now

    def now(self) -> int:
        """The instant it was set to."""
        return self._now

    def advance(self, ms: int) -> None:
        """Moves it on."""
        self._now += ms

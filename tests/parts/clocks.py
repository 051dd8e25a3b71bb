"""A clock that moves only when a test says so."""


class SetClock:
    """Tells the time it was set to, in UTC milliseconds."""

    def __init__(self, now: int = 1_800_000_000_000) -> None:
        self._now = now

    def now(self) -> int:
        return self._now

    def pass_ms(self, ms: int) -> None:
        self._now += ms

"""How many facts one producer may report: a bucket that fills with time and that each fact takes one from."""

import math
from typing import Final, NamedTuple

KEYS: Final = 10_000
"""The most producers that are remembered; a bucket that is full again says nothing and is forgotten first."""


class Source(NamedTuple):
    """Who is limited: one producer in one tenant."""

    tenant_id: str
    producer_id: str


class Rates:
    """Buckets of one process, `per_second` facts and up to `burst` at once. 0 a second: no limit."""

    def __init__(self, per_second: int = 0, burst: int = 1) -> None:
        self._per_second = per_second
        self._burst = float(max(1, burst))
        self._buckets: dict[Source, tuple[float, int]] = {}

    def take(self, source: Source, now: int) -> int | None:
        """None where this fact may come in at `now` (UTC ms); else the whole seconds after which to try again."""
        if self._per_second <= 0:
            return None
        left = self._left(source, now)
        if left < 1:
            return max(1, math.ceil((1 - left) / self._per_second))
        if source not in self._buckets and len(self._buckets) >= KEYS:
            self._forget(now)
        self._buckets[source] = (left - 1, now)
        return None

    def _left(self, source: Source, now: int) -> float:
        held, at = self._buckets.get(source, (self._burst, now))
        return min(self._burst, held + max(0, now - at) * self._per_second / 1000)

    def _forget(self, now: int) -> None:
        for source in [source for source in self._buckets if self._left(source, now) >= self._burst]:
            del self._buckets[source]
        if len(self._buckets) >= KEYS:
            self._buckets.clear()

"""When this service was there to be told anything: silence counts only while somebody listened."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

GAP_MS: Final = 15_000
"""A longer time without a stamp of any process is a gap; a shorter one is a restart or a slow moment."""


class Span(Struct, frozen=True, order=True):
    """A time in which one process took in reports, as its stamps prove: from the first to the last one."""

    since: int
    until: int


class Listening(Struct, frozen=True):
    """The times in which any process listened, in order; no two are nearer than a gap."""

    spans: tuple[Span, ...] = ()

    @classmethod
    def of(cls, stamped: Iterable[Span]) -> "Listening":
        """Joins what the processes stamped."""
        joined: list[Span] = []
        for span in sorted(stamped):
            if joined and span.since - joined[-1].until <= GAP_MS:
                joined[-1] = Span(joined[-1].since, max(joined[-1].until, span.until))
            else:
                joined.append(span)
        return cls(tuple(joined))

    def since(self, now: int) -> int | None:
        """Since when somebody has been listening without a gap; None where nobody is known to listen now."""
        if not self.spans or now - self.spans[-1].until > GAP_MS:
            return None
        return self.spans[-1].since

    def heard_ms(self, begin: int, now: int) -> int:
        """How long somebody listened between two instants: the time that passed, less the gaps."""
        total = sum(max(0, min(span.until, now) - max(span.since, begin)) for span in self.spans)
        last = self.spans[-1].until if self.spans and self.since(now) is not None else now
        return total + max(0, now - max(last, begin))

    def long_enough(self, begin: int, silence_ms: int, limit_ms: int, now: int) -> bool:
        """Whether nothing came since `begin` for `silence_ms` of listening, the last `limit_ms` of it without a gap."""
        since = self.since(now)
        return since is not None and now - since >= limit_ms and self.heard_ms(begin, now) >= silence_ms

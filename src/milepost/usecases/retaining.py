"""Removes what is no longer needed: one small portion of each kind a call, so that nobody waits for it."""

from typing import Final

from msgspec import Struct

from milepost.clock import Clock
from milepost.ports.access import Access
from milepost.ports.retention import AnswerPlace, Retention

PORTION: Final = 500
_SPANS_MS: Final = 7 * 86_400_000


class Keeping(Struct, frozen=True):
    """How long things are kept: stream entries since their commit, remembered answers since their task's end (ms)."""

    stream_ms: int = 72 * 3_600_000
    answers_ms: int = 30 * 86_400_000


class Removed(Struct, frozen=True):
    """How many rows one call removed, by kind, and whether more are waiting."""

    stream: int
    answers: int
    codes: int
    sessions: int
    spans: int
    more: bool


class Sweeper:
    """Walks over everything in portions. It remembers where its walk over answers stands, and may forget it."""

    def __init__(self, retention: Retention, access: Access, clock: Clock, keeping: Keeping) -> None:
        self._retention = retention
        self._access = access
        self._clock = clock
        self._keeping = keeping
        self._place: AnswerPlace | None = None

    async def sweep(self, portion: int = PORTION) -> Removed:
        """One portion of each kind. Raises `Unavailable`."""
        now = self._clock.now()
        tenants = await self._access.tenants()
        before = now - self._keeping.stream_ms
        trimmed = [await self._retention.trim_stream(tenant_id, before, portion) for tenant_id in tenants]
        answers = await self._retention.forget_answers(self._place, now - self._keeping.answers_ms, portion)
        self._place = answers.next
        codes = await self._retention.drop_codes(now, portion)
        sessions = await self._retention.drop_sessions(now, portion)
        spans = await self._retention.drop_spans(now - _SPANS_MS, portion)
        more = answers.next is not None or portion in (*trimmed, codes, sessions, spans)
        return Removed(sum(trimmed), answers.removed, codes, sessions, spans, more)

"""Watches executors: silence becomes STALE, a sign of life becomes HEALTHY again, an unanswered cancel is told of.

Nothing here ends anything. Verdicts are made over what a scan read without a lock, and each is checked again, against
what was seen, under the lock of its task.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final, Literal

from msgspec import Struct

from milepost.domain.outcomes import Accepted
from milepost.domain.state import TaskKey, TaskState
from milepost.domain.watching import (
    Seen,
    Verdict,
    cancel_is_overdue,
    cancel_unanswered,
    pronounce,
    storm,
    verdict_on,
)
from milepost.ports.storage import StepKey, Wanted
from milepost.ports.watching import Hearing, Liveness, Place, Watched, Watching
from milepost.usecases.batching import Batcher
from milepost.usecases.commit import Work
from milepost.usecases.ledger import Ledger

PAGE: Final = 500
_PORTION: Final = 100

Ids = Callable[[str], str]
"""A new event id that begins with the word it is given."""


class Pronounce(Struct, frozen=True):
    """A verdict on one attempt of a step; `event_id` is chosen once."""

    key: TaskKey
    seen: Seen
    verdict: Verdict
    event_id: str

    def wanted(self, state: TaskState | None) -> Wanted:
        """Nothing besides the task's rows."""
        return Wanted()

    def decide(self, ledger: Ledger) -> bool:
        """Whether a version was made: only if the step is still what was seen."""
        state = ledger.state(self.key)
        if state is None:
            return False
        change = pronounce(state, self.seen, self.verdict, self.event_id, ledger.now)
        if isinstance(change, Accepted):
            ledger.apply(change)
        return isinstance(change, Accepted)


class NoteUnanswered(Struct, frozen=True):
    """Tells that the request to cancel of `asked_at` was not answered in time; `event_id` is chosen once."""

    key: TaskKey
    asked_at: int
    event_id: str

    def wanted(self, state: TaskState | None) -> Wanted:
        """Nothing besides the task's rows."""
        return Wanted()

    def decide(self, ledger: Ledger) -> bool:
        """Whether a version was made: only if the request still stands."""
        state = ledger.state(self.key)
        if state is None:
            return False
        change = cancel_unanswered(state, self.asked_at, self.event_id, ledger.now)
        if isinstance(change, Accepted):
            ledger.apply(change)
        return isinstance(change, Accepted)


class Guard(Struct, frozen=True):
    """When so many steps would turn STALE at once that none does: more than `percent` of all, and `least` or more."""

    percent: int = 20
    least: int = 10


class Scanned(Struct, frozen=True):
    """How one scan went. `storm` counts the steps that would have turned STALE and were left as they are."""

    outcome: Literal["done", "deaf", "fenced"] = "done"
    silent: int = 0
    long: int = 0
    heard: int = 0
    unanswered: int = 0
    storm: int = 0
    watched: int | None = None


class Health:
    """The health reconciler's scan. It keeps nothing between two of them."""

    def __init__(
        self, watching: Watching, liveness: Liveness, commit: Batcher[Work], ids: Ids, guard: Guard | None = None
    ) -> None:
        self._watching = watching
        self._liveness = liveness
        self._commit = commit
        self._ids = ids
        self._guard = guard or Guard()

    async def scan(self, still: Callable[[], Awaitable[bool]]) -> Scanned:
        """Looks at everybody who is due. `still` says whether this scan may go on, before anything is committed.

        While nobody is known to take in reports there is no verdict at all.
        """
        hearing = await self._liveness.hearing()
        if hearing.listening.since(hearing.now) is None:
            return Scanned("deaf")
        verdicts = await self._verdicts(hearing)
        silent = [one for one in verdicts if one.verdict == "SILENT"]
        watched = await self._watching.watched() if silent else None
        storms = storm(len(silent), watched or 0, percent=self._guard.percent, least=self._guard.least)
        if storms:
            verdicts = [one for one in verdicts if one.verdict != "SILENT"]
        overdue = await self._overdue(hearing)
        if (verdicts or overdue) and not await still():
            return Scanned("fenced")
        made = await self._made(verdicts)
        noted = await self._made(overdue)
        said = [one.verdict for one, done in zip(verdicts, made, strict=True) if done]
        return Scanned(
            silent=said.count("SILENT"),
            long=said.count("STALE_LONG"),
            heard=said.count("HEARD"),
            unanswered=sum(noted),
            storm=len(silent) if storms else 0,
            watched=watched,
        )

    async def _verdicts(self, hearing: Hearing) -> list[Pronounce]:
        verdicts: list[Pronounce] = []
        over: list[StepKey] = []
        async for one in self._walk(hearing.now):
            verdict = verdict_on(one.task, one.step, hearing.listening, hearing.now)
            if verdict is not None:
                verdicts.append(Pronounce(one.task.key, Seen.of(one.step), verdict, self._ids("health")))
            elif one.task.ended or one.task.deleted_at is not None:
                over.append(one.place.key)
        for start in range(0, len(over), PAGE):
            await self._watching.unwatch(over[start : start + PAGE])
        return verdicts

    async def _walk(self, now: int) -> AsyncIterator[Watched]:
        place: Place | None = None
        while True:
            page: tuple[Watched, ...] = await self._watching.due(now, place, PAGE)
            for one in page:
                yield one
            if len(page) < PAGE:
                return
            place = page[-1].place

    async def _overdue(self, hearing: Hearing) -> list[NoteUnanswered]:
        tasks = await self._watching.unanswered(hearing.now, PAGE)
        return [
            NoteUnanswered(task.key, task.cancel_requested_at or 0, self._ids("health"))
            for task in tasks
            if cancel_is_overdue(task, hearing.listening, hearing.now)
        ]

    async def _made(self, works: Sequence[Work]) -> list[bool]:
        made: list[bool] = []
        for start in range(0, len(works), _PORTION):
            portion = works[start : start + _PORTION]
            made += [outcome is True for outcome in await asyncio.gather(*map(self._commit, portion))]
        return made

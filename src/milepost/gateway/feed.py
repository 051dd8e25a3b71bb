"""The one feed of a process: a tail per tenant that has a listener, and one look at all of their tops a second.

A wake-up says only that there is more to read; whoever loses one loses a second. Every judgement about the life of the
database is made here, from one statement at a time that compares each tenant's top with what was handed on before the
statement began.
"""

import asyncio
import logging

from msgspec.structs import replace

from milepost.clock import Clock
from milepost.gateway.bulletin import Bulletin
from milepost.gateway.limits import QuietMetrics, StreamLimits, StreamMetrics
from milepost.gateway.message import Encoder
from milepost.gateway.others import settle
from milepost.gateway.register import SLOTS, Register
from milepost.gateway.replay import Cursor, Desk, Replay, plan, scope_of
from milepost.gateway.sources import Sources
from milepost.gateway.tail import Tail
from milepost.gateway.viewer import Interest, Viewer
from milepost.ports.notices import Notices
from milepost.ports.reading import Reading, Scope
from milepost.ports.storage import Storage, Unavailable
from milepost.ports.stream import Committed, StreamLog, Tops, Window
from milepost.usecases.rulebook import Rulebook
from milepost.wire.numbers import cursor
from milepost.wire.problems import Rejection

EMPTY = Window(0, 0)
_STALLED_BEATS = 4
_log = logging.getLogger(__name__)


class Feed:
    """Feeds every cursor stream of this process from the stream log. It implements `Announcer`."""

    def __init__(
        self,
        storage: Storage,
        log: StreamLog,
        reading: Reading,
        clock: Clock,
        limits: StreamLimits | None = None,
        metrics: StreamMetrics | None = None,
        rulebook: Rulebook | None = None,
        *,
        notices: Notices | None = None,
    ) -> None:
        self.limits = limits or StreamLimits()
        self.metrics: StreamMetrics = metrics or QuietMetrics()
        rules = rulebook or Rulebook()
        self.encoder = Encoder(clock, self.metrics, self.limits.max_message, rules.of)
        self.sources = Sources(storage, log, reading, rules)
        self.epoch = ""
        self._desk = Desk(self.sources, self.encoder, self.metrics, self.limits.max_replay, self.look)
        self._bulletin = Bulletin(notices, self.encoder, clock)
        self._clock = clock
        self._register = Register(self.limits)
        self._tails: dict[str, Tail] = {}
        self._handed: dict[str, int] = {}
        self._looking: asyncio.Task[None] | None = None
        self._next_look: asyncio.Task[None] | None = None
        self._timers: tuple[asyncio.Task[None], ...] = ()
        self._draining = False
        self._empty = asyncio.Event()

    async def start(self) -> None:
        """Starts the two timers: heartbeats and expiry, and the look at the tops."""
        loop = asyncio.get_running_loop()
        self._timers = (loop.create_task(self._beat()), loop.create_task(self._poll()))

    async def stop(self) -> None:
        """Stops timers and tails; streams that are still open end without a word."""
        for timer in self._timers:
            timer.cancel()
        looks = [look for look in (self._looking, self._next_look) if look is not None]
        for look in looks:
            look.cancel()
        await asyncio.gather(*self._timers, *looks, return_exceptions=True)
        self._timers = ()
        for tail in self._tails.values():
            tail.stop()
        self._tails.clear()

    def announce(self, committed: Committed) -> None:
        """Wakes the tail of this tenant, if it has one; called after a commit, in commit order."""
        tail = self._tails.get(committed.tenant_id)
        if tail is None:
            return
        try:
            tail.announce(committed)
        except Exception:
            # What was committed is a fact whatever becomes of its message: the log has it.
            _log.exception("A commit could not be handed on directly; it is read from the log.")
            tail.wake()

    def admit(self, interest: Interest) -> None:
        """Takes a place for a viewer. Raises `Rejection` UNAVAILABLE while draining, RATE_LIMITED at a cap."""
        try:
            if self._draining:
                raise Rejection(
                    "UNAVAILABLE", "This server is going down; connect again.", retry_after=self.limits.retry_after()
                )
            self._register.admit(interest)
        except Rejection as refused:
            self.metrics.refused(refused.code)
            raise

    async def join(self, interest: Interest, after: Cursor | None) -> Viewer:
        """A viewer that was admitted. It gets everything above the R at which it joined, once it is live.

        Its place is given back if this fails, and by `leave` otherwise. Raises `Unavailable`.
        """
        try:
            await self._bulletin.ready()
            tail = await self._tail(interest.tenant_id, after)
        except BaseException:
            self._drop_idle(interest.tenant_id)
            self._release(interest)
            raise
        viewer = Viewer(interest, self.limits, self.metrics, tail.position)
        tail.audience.add(viewer)
        self._register.add(viewer)
        self.metrics.opened()
        if self._draining:
            viewer.finish("drained")
        return viewer

    def settle(self, viewer: Viewer, interest: Interest) -> None:
        """Gives a viewer the filter its rights allow, read since it joined. Raises `Rejection` NOT_FOUND."""
        tail = self._tails[interest.tenant_id]
        settle(tail.audience, viewer, interest, tail.position)

    async def replay(self, viewer: Viewer, after: Cursor | None, scope: Scope | None = None) -> Replay:
        """What a viewer that has joined is sent first; `scope` where its interest does not say.

        Raises `Unavailable`.
        """
        interest = viewer.interest
        found = await plan(self._desk, self._tails[interest.tenant_id], viewer, after, scope or scope_of(interest))
        return replace(found, opening=found.opening + self._bulletin.messages()) if interest.personal else found

    def leave(self, viewer: Viewer) -> None:
        """A viewer is gone: its place is free, and a tail without listeners stops."""
        tenant_id = viewer.interest.tenant_id
        self._register.discard(viewer)
        tail = self._tails.get(tenant_id)
        if tail is not None:
            tail.audience.discard(viewer)
            self._drop_idle(tenant_id)
        viewer.end = viewer.end or "gone"
        viewer.outlet = None
        self.metrics.ended(viewer.end)
        self._release(viewer.interest)

    def revoke(self, session_id: str) -> None:
        """Ends all streams of a session at once."""
        for viewer in self._register.of_session(session_id):
            viewer.finish("revoked")

    async def drain(self, seconds: float = 5.0) -> None:
        """Refuses new streams, tells the open ones when to come back and ends them; waits until they are closed."""
        self._draining = True
        for viewer in self._register.everybody():
            viewer.finish("drained")
        if len(self._register):
            try:
                await asyncio.wait_for(self._empty.wait(), seconds)
            except TimeoutError:
                _log.warning("%d streams did not close in time.", len(self._register))

    def tick(self) -> None:
        """One turn of the wheel: ends the streams of expired sessions and sends the heartbeats that are due."""
        for viewer in self._register.expired(self._clock.now()):
            viewer.finish("expired")
        for viewer in self._register.turn():
            self._beat_for(viewer)

    async def look(self) -> None:
        """Compares all listened tenants with their tops, by a statement that begins after this call."""
        await asyncio.shield(self._soon())

    def nudge(self) -> None:
        """Has a look soon, for somebody who cannot wait for it."""
        self._soon()

    def _soon(self) -> asyncio.Task[None]:
        if self._next_look is None:
            self._next_look = asyncio.get_running_loop().create_task(self._look_after(self._looking))
            self._next_look.add_done_callback(_seen)
        return self._next_look

    async def _look_after(self, running: asyncio.Task[None] | None) -> None:
        if running is not None:
            await asyncio.wait([running])
        self._looking, self._next_look = self._next_look, None
        try:
            await self._compare()
        finally:
            self._looking = None

    async def _compare(self) -> None:
        tenants = list(self._tails)
        if not tenants:
            return
        marks = {tenant: self._mark(tenant) for tenant in tenants}
        tops = await self.sources.log.tops(tenants)
        known = tops.epoch == self.epoch or not self.epoch
        if known and any(tops.windows.get(tenant, EMPTY).top < mark for tenant, mark in marks.items()):
            _log.error("The database is older than what viewers were told: a new epoch begins.")
            await self.sources.storage.renew_epoch(tops.epoch)
            tops = await self.sources.log.tops(tenants)
            known = False
        self._apply(tops, tenants, begin=not known or not self.epoch)

    def _apply(self, tops: Tops, tenants: list[str], *, begin: bool) -> None:
        if begin:
            self.epoch = tops.epoch
            self._handed.clear()
        for tenant in tenants:
            tail = self._tails.get(tenant)
            window = tops.windows.get(tenant, EMPTY)
            if tail is None:
                continue
            if begin or not tail.epoch:
                tail.begin(tops.epoch, window)
            else:
                tail.saw(window)

    def _mark(self, tenant: str) -> int:
        return max(self._tails[tenant].position, self._handed.get(tenant, 0))

    async def _tail(self, tenant_id: str, after: Cursor | None) -> Tail:
        """The tail of a tenant, as far on as the cursor of the viewer that wants to join, if the log is."""
        while True:
            tail = self._tails.get(tenant_id)
            if tail is None:
                tail = Tail(tenant_id, self.sources, self.encoder, self.metrics, self.nudge)
                self._tails[tenant_id] = tail
            if not tail.epoch or (after is not None and (after[0] != self.epoch or after[1] > tail.position)):
                await self.look()
            if after is not None and after[0] == tail.epoch and tail.position < after[1] <= tail.window.top:
                await tail.reach(after[1])
                if tail.position < after[1] and self._tails.get(tenant_id) is tail:
                    raise Unavailable
            if self._tails.get(tenant_id) is tail and tail.epoch:
                return tail

    def _drop_idle(self, tenant_id: str) -> None:
        tail = self._tails.get(tenant_id)
        if tail is None or len(tail.audience):
            return
        del self._tails[tenant_id]
        self._handed[tenant_id] = max(tail.position, self._handed.get(tenant_id, 0))
        tail.stop()

    def _release(self, interest: Interest) -> None:
        self._register.release(interest)
        if self._draining and not len(self._register):
            self._empty.set()

    def _beat_for(self, viewer: Viewer) -> None:
        outlet, tail = viewer.outlet, self._tails.get(viewer.interest.tenant_id)
        if outlet is None or tail is None or viewer.end is not None:
            return
        if outlet.busy or len(viewer.queue) or not viewer.live:
            viewer.stalled += 1
            if viewer.stalled >= _STALLED_BEATS:
                viewer.finish("slow")
            return
        viewer.stalled = 0
        outlet.beat(cursor(tail.epoch, tail.position) if tail.position > viewer.told else None)
        viewer.told = tail.position

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self.limits.heartbeat_seconds / SLOTS)
            try:
                self.tick()
            except Exception:
                _log.exception("The heartbeats of one turn failed.")

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(self.limits.poll_seconds)
            try:
                await self.look()
                if self._tails:
                    await self._bulletin.post([tail.audience for tail in self._tails.values()])
            except Unavailable:
                _log.warning("The stream log cannot be read; viewers wait.")
            except Exception:
                _log.exception("The stream log cannot be read; viewers wait.")


def _seen(look: asyncio.Task[None]) -> None:
    # Whoever waited has the error; where nobody did, the timer looks again within a second.
    if not look.cancelled():
        look.exception()

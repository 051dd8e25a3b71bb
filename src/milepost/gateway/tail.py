"""The tail of one tenant's stream: hands on entries one after another, in position order, each exactly once.

R (`position`) is the highest position handed on. Two sources may feed it: the log, read as `position > R`, and the
commit of this process, taken instead of a read only if it starts exactly at R + 1. What is loaded for a batch is loaded
before R moves, and handing on awaits nothing; so a viewer that joins at any moment finds one R that divides what its
replay must read from what it will be sent.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence

from milepost.gateway.audience import Audience
from milepost.gateway.limits import ResetReason, StreamMetrics
from milepost.gateway.message import Current, Encoder, Material, Message, project_of
from milepost.gateway.others import hand_on
from milepost.gateway.sources import PAGE, Sources, load_events, load_states, material_of, newest_of_each
from milepost.gateway.viewer import Viewer
from milepost.ports.stream import Committed, Logged, Window

ALL = 2**63 - 1
_log = logging.getLogger(__name__)


class Tail:
    """Follows one tenant while it has a listener. `epoch` is empty until the first window was read."""

    def __init__(
        self, tenant_id: str, sources: Sources, encoder: Encoder, metrics: StreamMetrics, alarm: Callable[[], None]
    ) -> None:
        self.tenant_id = tenant_id
        self.audience = Audience()
        self.epoch = ""
        self.position = 0
        self.window = Window(0, 0)
        self._sources = sources
        self._encoder = encoder
        self._metrics = metrics
        self._alarm = alarm
        self._ahead = 0
        self._wanted = False
        self._reader: asyncio.Task[None] | None = None

    def begin(self, epoch: str, window: Window) -> None:
        """Starts at the top of this epoch; viewers of another one are told to take a snapshot."""
        told = bool(self.epoch)
        self.epoch, self.window, self.position, self._ahead = epoch, window, window.top, 0
        if told:
            self._reset("EPOCH")

    def saw(self, window: Window) -> None:
        """The window as the database has it now; reads on if there is more."""
        self.window = window
        if window.top > self.position:
            self.wake()

    def announce(self, committed: Committed) -> None:
        """Takes a commit of this process, or reads the log where it does not follow on what was handed on."""
        rows = committed.entries
        if not rows or rows[-1].position <= self.position or not self.epoch:
            return
        if committed.epoch != self.epoch:
            self._alarm()
        elif self._follows(committed):
            self._metrics.caught_up(len(rows), from_log=False)
            self._hand_on(rows, material_of(committed))
        else:
            self.wake()

    def wake(self) -> None:
        """Reads the log up to its end, once now or once more after the reading that is under way."""
        self._wanted = True
        if self._reader is None:
            self._reader = asyncio.get_running_loop().create_task(self._read())

    async def reach(self, position: int) -> None:
        """Waits until everything up to `position` was handed on, or until reading failed."""
        while self.position < position:
            self.wake()
            reader = self._reader
            if reader is not None:
                # Not awaited itself: the last listener's leaving ends the reader, and must not end who waits for it.
                await asyncio.wait([reader])
            if self.position < position and self._reader is None:
                return

    def stop(self) -> None:
        """Nobody listens any more."""
        self.epoch = ""
        if self._reader is not None:
            self._reader.cancel()

    def _follows(self, committed: Committed) -> bool:
        # Behind a reading that saw newer states than its entries, an older payload would take viewers back.
        rows = committed.entries
        if rows[0].position != self.position + 1 or self.position < self._ahead:
            return False
        if not all(self._sources.rulebook.holds(state.task) for state in committed.states.values()):
            return False
        return all(row.entry.kind != "task" or row.entry.task_id in committed.states for row in rows)

    async def _read(self) -> None:
        try:
            while self._wanted:
                self._wanted = False
                while await self._read_page():
                    pass
        except Exception:
            # The timer sees that the top is above R and wakes the tail again within a second.
            _log.warning("A tenant's stream could not be read; trying again.", exc_info=True)
        finally:
            self._reader = None

    async def _read_page(self) -> bool:
        """Hands on one page of the log; whether there may be more."""
        epoch = self.epoch
        page = await self._sources.log.entries(self.tenant_id, self.position, ALL, PAGE)
        if not page or self.epoch != epoch:
            return False
        material = await self._load(page, epoch)
        if material is None:
            return False
        rows = [row for row in page if row.position > self.position]
        if rows and rows[0].position != self.position + 1:
            self._lost(rows[0].position - 1)
        if rows:
            self._metrics.caught_up(len(rows), from_log=True)
            self._hand_on(rows, material)
        return len(page) == PAGE

    async def _load(self, page: Sequence[Logged], epoch: str) -> Material | None:
        """All that today's audience needs of a page; None if another epoch began meanwhile."""
        states: dict[str, Current] = {}
        material = Material(states, {})
        asked: dict[str, bool] = {}
        while missing := self._missing(page, asked):
            asked.update(missing)
            for steps in (False, True):
                ids = [task_id for task_id, with_steps in missing.items() if with_steps is steps]
                loaded = await load_states(self._sources, self.tenant_id, ids, steps=steps)
                if self.epoch != epoch or loaded.epochs - {epoch}:
                    self._alarm()
                    return None
                states.update(loaded.states)
            detailed = [row for row in page if asked.get(row.entry.task_id or "")]
            material = Material(states, await load_events(self._sources.reading, detailed))
        seen = max((state.task.last_position for state in states.values()), default=0)
        self._ahead = max(self._ahead, seen)
        return material if self.epoch == epoch else None

    def _missing(self, page: Sequence[Logged], asked: dict[str, bool]) -> dict[str, bool]:
        """Tasks whose state is yet to be loaded, and whether with steps; viewers may have joined meanwhile."""
        missing: dict[str, bool] = {}
        granted = {
            project_of(row.entry)
            for row in page
            if row.entry.kind == "access.granted" and self.audience.streams_of(row.entry.audience_user)
        }
        for row in page:
            entry = row.entry
            if entry.kind != "task" or entry.task_id is None:
                continue
            if not self.audience.wants(entry) and entry.audience_project not in granted:
                continue
            steps = self.audience.wants_detail(entry)
            if entry.task_id not in asked or (steps and not asked[entry.task_id]):
                missing[entry.task_id] = steps
        return missing

    def _hand_on(self, rows: Sequence[Logged], material: Material) -> None:
        kept = newest_of_each(rows)
        self._metrics.collapsed(len(rows) - len(kept))
        try:
            for row in kept:
                self._deliver(row, material)
        except Exception:
            _log.exception("An entry could not be turned into a message; its viewers take a snapshot.")
            self.position = rows[-1].position
            self._reset("BEHIND")
        self.position = rows[-1].position

    def _deliver(self, row: Logged, material: Material) -> None:
        entry = row.entry
        if entry.kind not in ("task", "task.removed"):
            hand_on(self.audience, self._encoder, self.epoch, row)
            return
        if not self.audience.wants(entry):
            return
        wide, narrow, detail = self.audience.of(entry)
        if entry.kind == "task.removed":
            self._put(self._encoder.removed(self.epoch, row), [*wide, *narrow, *detail])
            return
        current = material.states.get(entry.task_id or "")
        if current is None or current.task.deleted_at is not None:
            return
        if wide:
            self._put(self._encoder.summary(self.epoch, row, current.task, "USER_SUMMARY"), wide)
        if narrow:
            self._put(self._encoder.summary(self.epoch, row, current.task, "PROJECT_BROADCAST"), narrow)
        if detail:
            event = material.events.get((current.task.task_id, entry.task_version or 0))
            self._put(self._encoder.detail(self.epoch, row, current, event), detail)

    def _put(self, message: Message, viewers: Sequence[Viewer]) -> None:
        self._metrics.sent(len(viewers))
        for viewer in viewers:
            viewer.put(message)

    def _lost(self, position: int) -> None:
        """Entries left the window before they were handed on: nobody can be told what they were."""
        self.position = position
        self._reset("FLOOR")

    def _reset(self, reason: ResetReason) -> None:
        message = self._encoder.reset(self.epoch, self.position, reason)
        for viewer in self.audience:
            self._metrics.reset(reason)
            viewer.restart(message)

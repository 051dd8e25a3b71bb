"""What one execution of a step says, in the words of the wire. Shared by the sync and the async reporter."""

import asyncio
import logging
import math
import time
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from milepost.clock import Clock
from milepost.worker.delivery import Delivery
from milepost.worker.errors import ErrorRule, StepCancelled, StepError, structured
from milepost.worker.outbox import Item
from milepost.worker.stream import Stream
from milepost.worker.texts import clean, clean_or_none

log = logging.getLogger("milepost.worker")

STAGE = 200
UNIT = 64
DATA = 64 * 1024

End = Literal["STEP_COMPLETED", "STEP_FAILED", "STEP_CANCELLED"]


class Report(Struct, frozen=True):
    """Something to put into the outbox. `merge` marks progress, of which only the newest needs to go out."""

    event_type: str
    says: dict[str, Any]
    merge: bool = False


class Execution:
    """One execution: when it began, what its end will carry, and whether it has ended."""

    def __init__(self, started: float, errors: Mapping[type[BaseException], ErrorRule]) -> None:
        self.ended = False
        self._started = started
        self._errors = errors
        self._data: dict[str, Any] | None = None
        self._message: str | None = None

    def progress(self, current: float, total: float | None, unit: str | None) -> Report | None:
        """The report of a progress; None (and a line in the log) for what is no number: work never stops for it."""
        if not (_countable(current) and (total is None or _countable(total))):
            log.warning("progress of %r of %r is no number and was left out", current, total)
            return None
        told = {"current": current, "total": total, "unit": clean_or_none(unit, UNIT)}
        return Report("STEP_PROGRESS", {"progress": {k: v for k, v in told.items() if v is not None}}, merge=True)

    def stage(self, name: str) -> Report:
        """The report of a new stage."""
        return Report("STEP_PROGRESS", {"stage": clean(name, STAGE)}, merge=True)

    def status(self, code: str) -> Report:
        """The report of a business status of the task type's definition."""
        return Report("STEP_PROGRESS", {"businessStatus": clean(code, 128)}, merge=True)

    def message(self, text: str) -> Report:
        """The report of a line for people; the last one also stands at the end."""
        self._message = clean(text)
        return Report("STEP_PROGRESS", {"message": self._message}, merge=True)

    def data(self, schema: str, value: Any) -> None:
        """Keeps the result for the end of the step."""
        try:
            encoded = msgspec.json.encode(value)
        except (TypeError, ValueError, RecursionError) as error:
            log.warning("data of schema %r cannot be sent: %s", schema, type(error).__name__)
            return
        if len(encoded) > DATA:
            log.warning("data of schema %r is larger than %d KiB and was left out", schema, DATA // 1024)
            return
        self._data = {"schema": clean(schema, 128), "value": msgspec.Raw(encoded)}

    def end(self, event_type: End, now: float, error: StepError | None = None) -> Report | None:
        """The report of the end; None if it was reported already: the first one stands."""
        if self.ended:
            return None
        self.ended = True
        told: dict[str, Any] = {
            "durationMs": max(0, int((now - self._started) * 1000)),
            "durationSource": "MONOTONIC",
            "error": error.body() if error else None,
            "data": self._data,
            "message": self._message,
        }
        return Report(event_type, {key: value for key, value in told.items() if value is not None})

    def left(self, raised: BaseException | None, now: float) -> Report | None:
        """The report of a block that was left, by its end or by an exception."""
        if raised is None:
            return self.end("STEP_COMPLETED", now)
        if isinstance(raised, StepCancelled | asyncio.CancelledError):
            return self.end("STEP_CANCELLED", now)
        return self.end("STEP_FAILED", now, structured(raised, self._errors))


def _countable(value: float) -> bool:
    fits = not isinstance(value, bool) and isinstance(value, int | float)  # pyright: ignore[reportUnnecessaryIsInstance]
    return fits and math.isfinite(value) and 0 <= value < 2**53


class Desk:
    """Where executions hand in their reports: a delivery with its clocks. Not safe for threads by itself."""

    def __init__(self, delivery: Delivery, clock: Clock) -> None:
        self.delivery = delivery
        self._clock = clock

    def now(self) -> float:
        """Monotonic seconds."""
        return time.monotonic()

    def wall(self) -> int:
        """UTC milliseconds."""
        return self._clock.now()

    def hand_in(self, stream: Stream, report: Report | None) -> Item | None:
        """Takes a report; the item, or None where it was merged or there is none."""
        if report is None:
            return None
        now, wall = self.now(), self.wall()
        if report.merge:
            if not stream.closed:
                stream.progress(report.says, wall, now)
            return None
        return self.delivery.put(stream, report.event_type, report.says, wall, now)

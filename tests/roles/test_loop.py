import asyncio
import logging

from milepost.roles.loop import Loop, wait_or_stop


class Waits:
    """Notes the pauses instead of waiting, and stops the loop after so many."""

    def __init__(self, stop_after: int) -> None:
        self.pauses: list[float] = []
        self._stop_after = stop_after

    async def __call__(self, stop: asyncio.Event, seconds: float) -> None:
        self.pauses.append(seconds)
        if len(self.pauses) >= self._stop_after:
            stop.set()


def steps(*outcomes):
    """A step that does what the list says, then has nothing more to do."""
    left = list(outcomes)

    async def step() -> bool:
        outcome = left.pop(0) if left else False
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return step


async def test_it_goes_on_at_once_while_more_is_waiting():
    waits = Waits(1)
    done = []
    loop = Loop("flusher", steps(True, True, False), 0.5, counted=lambda *what: done.append(what), wait=waits)
    await loop.run(asyncio.Event())
    assert waits.pauses == [0.5]
    assert done == [("flusher", "done")] * 3


async def test_it_waits_longer_each_time_a_step_fails_and_no_longer_than_half_a_minute(caplog):
    waits = Waits(12)
    trouble = [RuntimeError("cut off")] * 11
    with caplog.at_level(logging.INFO, "milepost.roles"):
        await Loop("flusher", steps(*trouble), 0.5, wait=waits).run(asyncio.Event())
    for earlier, later in zip(waits.pauses[:5], waits.pauses[2:7], strict=True):
        assert earlier < later
    assert all(pause <= 30 for pause in waits.pauses)
    assert waits.pauses[-1] == 0.5
    assert [record.message for record in caplog.records][-1] == "flusher works again"
    assert sum(bool(record.exc_info) for record in caplog.records) == 1


async def test_a_step_that_was_begun_is_finished_when_it_shall_stop():
    stop, begun, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()
    finished = []

    async def step() -> bool:
        begun.set()
        await go_on.wait()
        finished.append(True)
        return True

    running = asyncio.create_task(Loop("x", step, 1).run(stop))
    await begun.wait()
    stop.set()
    go_on.set()
    await running
    assert finished == [True]


async def test_a_pause_ends_as_soon_as_it_shall_stop():
    stop = asyncio.Event()
    waiting = asyncio.create_task(wait_or_stop(stop, 3600))
    stop.set()
    async with asyncio.timeout(5):
        await waiting


async def test_a_pause_ends_by_itself():
    async with asyncio.timeout(5):
        await wait_or_stop(asyncio.Event(), 0.001)

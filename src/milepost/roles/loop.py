"""A step that is run again and again: at once while there is more to do, later when there is not.

It backs off on trouble and stops gracefully: a step that was begun is finished.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

Step: TypeAlias = Callable[[], Awaitable[bool]]
"""Does one portion of work; True where more is waiting. May raise: the loop then waits longer each time."""

Wait: TypeAlias = Callable[[asyncio.Event, float], Awaitable[None]]

_LONGEST: Final = 30.0
_log = logging.getLogger("milepost.roles")


async def wait_or_stop(stop: asyncio.Event, seconds: float) -> None:
    """Waits so long, or until the loop shall stop."""
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return


class Loop:
    """One role. `every` is the pause in seconds between portions when nothing more is waiting."""

    def __init__(
        self,
        name: str,
        step: Step,
        every: float,
        *,
        counted: Callable[[str, str], None] = lambda role, outcome: None,
        wait: Wait = wait_or_stop,
    ) -> None:
        self.name = name
        self._step = step
        self._every = every
        self._counted = counted
        self._wait = wait
        self._failures = 0

    async def run(self, stop: asyncio.Event) -> None:
        """Runs until `stop` is set; never raises for what a step raised."""
        while not stop.is_set():
            pause = await self._once()
            if pause and not stop.is_set():
                await self._wait(stop, pause)

    async def _once(self) -> float:
        """Runs one step; the pause after it in seconds."""
        try:
            more = await self._step()
        except Exception as error:
            self._failures += 1
            self._counted(self.name, "failed")
            pause = self._backoff()
            _log.warning(
                "%s failed and goes on in %.1f s: %s",
                self.name,
                pause,
                error or type(error).__name__,
                # Trouble that lasts is told in one line each time, its traceback only once.
                exc_info=self._failures == 1,
                extra={"role": self.name, "failures": self._failures},
            )
            return pause
        if self._failures:
            _log.info("%s works again", self.name, extra={"role": self.name})
        self._failures = 0
        self._counted(self.name, "done")
        return 0.0 if more else self._every

    def _backoff(self) -> float:
        longest = min(_LONGEST, self._every * 2.0 ** min(self._failures, 16))
        return random.uniform(longest / 2, longest)

"""The reconcilers besides the flusher: health and retention, each done by one process at a time."""

import logging
from collections.abc import Callable
from typing import Final

from milepost.roles.turn import Taken, Turn
from milepost.usecases.retaining import Removed, Sweeper
from milepost.usecases.watching import Health, Scanned

STAMP_EVERY: Final = 5.0
"""Seconds between two stamps of a process that takes in reports."""

_log = logging.getLogger("milepost.roles")


def watching(health: Health, found: Callable[[Scanned], None]) -> Taken:
    """One scan a turn; what it found is counted, and a storm is told of aloud."""

    async def portion(turn: Turn) -> bool:
        scanned = await health.scan(turn.still)
        found(scanned)
        if scanned.storm:
            _log.error(
                "health: %d of %d watched steps would turn STALE at once, so none does; see that reports can come in",
                scanned.storm,
                scanned.watched or 0,
                extra={"role": "health", "silent": scanned.storm, "watched": scanned.watched},
            )
        return False

    return portion


def sweeping(sweeper: Sweeper, found: Callable[[Removed], None]) -> Taken:
    """One portion of everything a turn."""

    async def portion(turn: Turn) -> bool:
        removed = await sweeper.sweep()
        found(removed)
        return removed.more

    return portion

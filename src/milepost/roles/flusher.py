"""The flusher: makes merged progress visible within its limit, whichever process took it in."""

from collections.abc import Callable
from typing import Final

from milepost.clock import Clock
from milepost.ports.reading import Reading
from milepost.roles.loop import Step
from milepost.usecases.batching import Batcher
from milepost.usecases.commit import Work
from milepost.usecases.flushing import flush_due
from milepost.usecases.rulebook import Rulebook

EVERY: Final = 0.5
"""Seconds between two looks."""

_PORTION: Final = 500
_EARLY_MS: Final = 600


def flushing(
    reading: Reading,
    commit: Batcher[Work],
    rulebook: Rulebook,
    clock: Clock,
    *,
    longest_ms: int,
    found: Callable[[int], None] = lambda steps: None,
) -> Step:
    """A step for a loop; progress shall wait `longest_ms` at most, so it is taken one look and a commit earlier."""
    wait_ms = max(0, longest_ms - _EARLY_MS)

    async def step() -> bool:
        count = await flush_due(reading, commit, rulebook, clock, wait_ms=wait_ms, limit=_PORTION)
        found(count)
        return count >= _PORTION

    return step

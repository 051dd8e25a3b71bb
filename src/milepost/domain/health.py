"""How long a running step may be silent, and what a sign of life does to its health. Never writes a lifecycle."""

from typing import Final

from msgspec.structs import replace

from milepost.domain.state import Step

_MOST_PATIENCE: Final = 8
_CALM: Final = 10
"""After this many limits without a new episode a step is no longer taken for one that flaps."""

LONG: Final = 3
"""A step that was silent for so many limits is told of once more."""


def last_sign(step: Step) -> int:
    """The last sign of life: a heartbeat or any accepted fact, else the start. A step that never beat has one too."""
    return max(step.last_seen_at or 0, step.started_at or step.opened_at)


def patience_of(step: Step) -> int:
    """How long the step may be silent from its last sign of life; longer while it flaps."""
    flaps = step.calm_at is not None and last_sign(step) < step.calm_at
    return step.patience_ms if flaps else step.stale_after_ms


def look_at(step: Step) -> int | None:
    """When its health can change next if nothing is heard; None where it is not watched or all has been said.

    A STALE step that gave a sign of life is to be looked at since that sign.
    """
    if step.lifecycle != "RUNNING" or not step.current:
        return None
    sign = last_sign(step)
    if step.silent_since is None:
        return sign + patience_of(step)
    if sign > step.silent_since:
        return sign
    return None if step.escalated else sign + LONG * step.stale_after_ms


def heard(step: Step, now: int) -> Step:
    """The step after a sign of life ended its silence. Each episode makes the service slower to say STALE again."""
    if step.health != "STALE":
        return step
    flaps = step.calm_at is not None and now < step.calm_at
    patience = min(2 * (step.patience_ms if flaps else step.stale_after_ms), _MOST_PATIENCE * step.stale_after_ms)
    return replace(
        step,
        health="HEALTHY",
        silent_since=None,
        escalated=False,
        patience_ms=patience,
        calm_at=now + _CALM * step.stale_after_ms,
    )

"""Tells a producer's clock that cannot be right from one that is merely late. Nothing is ever calculated with it."""

from typing import Final, Literal, TypeAlias

ClockMark: TypeAlias = Literal["SUSPECT"]

TOLERANCE_MS: Final = 60_000
"""How far a producer's wall clock may be off before it is called suspect."""


def clock_mark(occurred_at: int, received_at: int, age_ms: int | None, created_at: int) -> ClockMark | None:
    """SUSPECT where a fact says it happened when it cannot have; None where it may be so.

    With an age the fact happened that long before it arrived. Without one it may be any time old, as after a restart of
    its producer, but neither in the future nor before its task was created.
    """
    if age_ms is not None:
        implausible = abs(received_at - age_ms - occurred_at) > TOLERANCE_MS
    else:
        implausible = occurred_at > received_at + TOLERANCE_MS or occurred_at < created_at - TOLERANCE_MS
    return "SUSPECT" if implausible else None

"""How long to leave a destination, or one stream, alone."""

from collections.abc import Callable

PROBES = (1.0, 3.0, 9.0)
"""Seconds before the first probes of a destination that does not answer; then jittered, up to a minute."""

SLOW = (1.0, 2.0, 5.0, 15.0, 30.0, 60.0)
"""Seconds before a stream is tried again whose task or token is not known there (yet)."""

LONGEST = 60.0

Chance = Callable[[], float]
"""A random number, 0 ≤ n < 1."""


def probe_after(failures: int, chance: Chance) -> float:
    """Seconds until the next probe after so many failures in a row (1, 2, …)."""
    if failures <= len(PROBES):
        return PROBES[failures - 1]
    grown = min(LONGEST, PROBES[-1] * 2.0 ** (failures - len(PROBES)))
    return grown * (0.5 + chance() / 2)


def slow_after(tries: int, chance: Chance) -> float:
    """Seconds until a stream that was refused for now is tried again, after so many tries (1, 2, …)."""
    return SLOW[min(tries, len(SLOW)) - 1] * (0.75 + chance() / 2)

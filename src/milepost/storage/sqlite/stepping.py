"""Runs a coroutine to its end in this thread, without an event loop.

Everything a use case awaits in a transaction answers at once on SQLite, so the first step is also the last. Whoever
really suspends would hold the write lock for as long as it pleases: that is a mistake and is refused.
"""

from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


def finish(awaitable: Awaitable[T]) -> T:
    """The result of an awaitable that never suspends; RuntimeError if it does."""
    steps = awaitable.__await__()
    try:
        next(steps)
    except StopIteration as done:
        return done.value
    try:
        steps.close()
    finally:
        raise RuntimeError("a transaction may await nothing but its own statements")

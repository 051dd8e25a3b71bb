"""The demonstration: a user of the public interfaces, doing real work."""

from collections.abc import Sequence


def run(arguments: Sequence[str] = ()) -> int:
    """Runs `milepost demo` with these arguments; the exit code."""
    # Imported late: the worker processes are modules of this package and need none of it.
    from milepost.demo.stage import play

    return play(arguments)

"""What the health reconciler reads: who is due to be looked at, and when this service was there to be told."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from milepost.domain.listening import Listening
from milepost.domain.state import Step, Task
from milepost.ports.storage import StepKey


class Place(NamedTuple):
    """Where a walk over due steps goes on: behind this one."""

    look_at: int
    key: StepKey


class Watched(NamedTuple):
    """A step that is due to be looked at, with its task as it was read; `place` is where it stands in the walk."""

    place: Place
    step: Step
    task: Task


class Hearing(NamedTuple):
    """The database's clock and the times in which reports could come in."""

    now: int
    listening: Listening


class Watching(Protocol):
    """Reads along the indexes of what is due; locks nothing."""

    async def due(self, now: int, after: Place | None, limit: int) -> tuple[Watched, ...]:
        """Running steps whose health may change at `now`, longest due first, behind `after`."""
        ...

    async def watched(self) -> int:
        """How many steps are watched: those that run and whose silence has not been told of for good."""
        ...

    async def unwatch(self, steps: Sequence[StepKey]) -> None:
        """Takes running steps of ended tasks out of the walk; changes nothing else."""
        ...

    async def unanswered(self, now: int, limit: int) -> tuple[Task, ...]:
        """Tasks with a request to cancel whose deadline has passed, longest first."""
        ...


class Liveness(Protocol):
    """Remembers when reports could come in. Each method is a transaction of its own, by the database's clock."""

    async def stamp(self, process_id: str, since: int | None) -> int:
        """Notes that this process listens: prolongs its span that began at `since`, or begins one after a gap.

        The beginning of its span now.
        """
        ...

    async def hearing(self) -> Hearing:
        """The spans of all processes, joined, and what time it is."""
        ...

"""Makes merged progress visible within its limit, whichever process took it in."""

import asyncio

from msgspec import Struct

from milepost.clock import Clock
from milepost.domain.flushing import flush
from milepost.domain.outcomes import Accepted
from milepost.domain.state import TaskKey, TaskState
from milepost.ports.reading import Reading
from milepost.ports.storage import Wanted
from milepost.usecases.batching import Batcher
from milepost.usecases.commit import Work
from milepost.usecases.ledger import Ledger
from milepost.usecases.rulebook import Rulebook


class Flush(Struct, frozen=True):
    """Makes the pending progress of one step a version, if it still waits when the step is locked."""

    key: TaskKey
    step_id: str
    rulebook: Rulebook

    def wanted(self, state: TaskState | None) -> Wanted:
        """The definition the task is bound to, where it is not at hand."""
        return Wanted(definitions=self.rulebook.unknown(state))

    def decide(self, ledger: Ledger) -> bool:
        """Whether a version was made."""
        state = ledger.state(self.key)
        if state is None:
            return False
        change = flush(state, self.step_id, self.rulebook.of(state.task, ledger.definitions), ledger.now)
        if not isinstance(change, Accepted):
            return False
        ledger.apply(change)
        return True


async def flush_due(
    reading: Reading, commit: Batcher[Work], rulebook: Rulebook, clock: Clock, *, wait_ms: int = 1_400, limit: int = 500
) -> int:
    """Flushes up to `limit` steps whose progress has waited `wait_ms`; how many were found.

    Run every half second, it keeps every merged value below its limit of two seconds.
    """
    due = await reading.pending(clock.now() - wait_ms, limit)
    await asyncio.gather(*(commit(Flush(step.key, step.step_id, rulebook)) for step in due))
    return len(due)

"""The health reconciler as tests run it: one scan at a time, by the clock of the stand."""

from itertools import count

from milepost.usecases.listening import Stamper
from milepost.usecases.watching import Guard, Health, Scanned
from tests.parts.stand import Stand

LIMIT = 60_000
_numbers = count(1)


async def always() -> bool:
    return True


class Watch:
    """One node that takes in reports and looks for silence."""

    def __init__(self, stand: Stand, guard: Guard | None = None) -> None:
        self.stand = stand
        self._stamper = Stamper(stand.storage.liveness, f"p{next(_numbers)}")
        self.health = Health(
            stand.storage.watching,
            stand.storage.liveness,
            stand.services.commit,
            lambda kind: f"{kind}.{next(_numbers)}",
            guard,
        )

    async def listen(self, ms: int) -> None:
        """Time passes while reports could come in."""
        await self._stamper.stamp()
        while ms > 0:
            self.stand.clock.pass_ms(min(ms, 5_000))
            await self._stamper.stamp()
            ms -= 5_000

    async def scan(self) -> Scanned:
        """One look."""
        return await self.health.scan(always)

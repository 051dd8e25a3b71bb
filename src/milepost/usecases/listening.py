"""Stamps that this process takes in reports: what every verdict about silence rests on."""

from milepost.ports.watching import Liveness


class Stamper:
    """Stamps for one process. The stamp goes the way of reports, through the database, so it proves that way."""

    def __init__(self, liveness: Liveness, process_id: str) -> None:
        self._liveness = liveness
        self._process_id = process_id
        self._since: int | None = None

    async def stamp(self) -> None:
        """Notes that this process listens now. Raises `Unavailable`; then it did not."""
        self._since = await self._liveness.stamp(self._process_id, self._since)

"""The broadcasts to everyone that are in force, as this process knows them; no viewer waits for a database."""

from collections.abc import Sequence

from milepost.clock import Clock
from milepost.gateway.audience import Audience
from milepost.gateway.message import Encoder, Message
from milepost.ports.notices import Notices


class Bulletin:
    """Without a notification centre behind it, nothing is ever on it."""

    def __init__(self, notices: Notices | None, encoder: Encoder, clock: Clock) -> None:
        self._notices = notices
        self._encoder = encoder
        self._clock = clock
        self._held: dict[str, tuple[int, Message]] = {}
        self._read = False

    async def ready(self) -> None:
        """Returns when it was read at least once. Raises `Unavailable`."""
        if not self._read:
            await self.refresh()

    async def refresh(self) -> tuple[Message, ...]:
        """Reads it again; what is new on it. Raises `Unavailable`."""
        if self._notices is None:
            return ()
        found = {said.broadcast_id: said for said in await self._notices.in_force(self._clock.now())}
        self._read = True
        fresh = {
            key: (said.valid_until, self._encoder.system(said)) for key, said in found.items() if key not in self._held
        }
        self._held = {key: held for key, held in self._held.items() if key in found} | fresh
        return tuple(message for _, message in fresh.values())

    async def post(self, audiences: Sequence[Audience]) -> None:
        """Tells everyone online what is new for everyone. Raises `Unavailable`."""
        for message in await self.refresh():
            for audience in audiences:
                for viewer in audience.personal():
                    viewer.put(message)

    def messages(self) -> tuple[Message, ...]:
        """What a viewer who comes now is told."""
        now = self._clock.now()
        return tuple(message for until, message in self._held.values() if until > now)

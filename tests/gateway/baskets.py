"""Viewers without a network."""

import asyncio

from milepost.gateway.viewer import Interest, Viewer
from tests.gateway.world import World

ANN = Interest("t", "ann", "s", 2**60, personal=True)


class Basket:
    """An outlet that only keeps."""

    busy = False

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self.positions: list[int] = []
        self.kinds: list[str] = []
        self.places: list[str] = []
        self.beats: list[str | None] = []
        self.changed = asyncio.Event()

    def ready(self) -> None:
        for message in self.viewer.queue.take():
            self.positions.append(message.position)
            self.kinds.append(message.kind)
            self.places.append(message.place)
        self.changed.set()

    def ended(self) -> None:
        self.changed.set()

    def beat(self, place: str | None) -> None:
        self.beats.append(place)

    async def until(self, count: int) -> list[int]:
        async with asyncio.timeout(15):
            while len(self.positions) < count:
                self.changed.clear()
                await self.changed.wait()
        return self.positions


async def joined(w: World, interest: Interest = ANN) -> Basket:
    w.feed.admit(interest)
    viewer = await w.feed.join(interest, None)
    basket = Basket(viewer)
    viewer.outlet = basket
    viewer.go_live()
    return basket

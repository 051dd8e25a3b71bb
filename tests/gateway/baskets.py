"""Viewers without a network."""

import asyncio
import json
from typing import Any

from milepost.gateway.feed import Feed
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
        self.bodies: list[dict[str, Any]] = []
        self.beats: list[str | None] = []
        self.changed = asyncio.Event()

    def ready(self) -> None:
        for message in self.viewer.queue.take():
            self.positions.append(message.position)
            self.kinds.append(message.kind)
            self.places.append(message.place or "")
            self.bodies.append(json.loads(message.body))
        self.changed.set()

    @property
    def versions(self) -> list[str]:
        return [body["version"] for body in self.bodies]

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


class Gated:
    """A port that is real, but whose method `name` answers only when `gate` is open; `reached` tells of a caller."""

    def __init__(self, real: Any, name: str) -> None:
        self._real, self._name = real, name
        self.gate, self.reached = asyncio.Event(), asyncio.Event()
        self.gate.set()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._real, name)
        if name != self._name:
            return method

        async def gated(*args: Any, **more: Any) -> Any:
            answer = await method(*args, **more)
            self.reached.set()
            await self.gate.wait()
            return answer

        return gated


async def swap(w: World, *, log: Any = None, reading: Any = None) -> None:
    """Gives the world a feed over these ports."""
    await w.feed.stop()
    storage = w.storage
    w.feed = Feed(storage, log or storage.stream_log, reading or storage.reading, w.clock, w.limits, w.counts)
    w.book.feed = w.feed
    await w.feed.start()

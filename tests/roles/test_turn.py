"""Work that is claimed: one process at a time, and whoever lost its lease stops and is counted."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from milepost.roles.turn import Terms, Turn, in_turn
from tests.parts.stand import Stand, stand

TERMS = Terms(lease_ms=2_000, rest_ms=5_000)


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Stand]:
    async with stand(tmp_path) as running:
        yield running


class Node:
    """One process that would do the work; `during` happens while it holds it."""

    def __init__(self, service: Stand, name: str, *, more: bool = False) -> None:
        self.turns: list[int] = []
        self.fenced: list[str] = []
        self.during = self.nothing
        self._more = more
        self.step = in_turn(service.storage.claims, "health", name, TERMS, self.work, self.fenced.append)

    async def nothing(self, turn: Turn) -> None:
        return

    async def work(self, turn: Turn) -> bool:
        self.turns.append(turn.claim.token)
        await self.during(turn)
        return self._more


async def test_done_work_rests_for_everybody(service: Stand) -> None:
    one, other = Node(service, "a"), Node(service, "b")
    assert not await one.step()
    service.clock.pass_ms(4_999)
    await one.step()
    await other.step()
    assert (one.turns, other.turns) == ([1], [])
    service.clock.pass_ms(1)
    await other.step()
    assert (one.turns, other.turns) == ([1], [2])


async def test_work_with_more_to_do_goes_on_at_once(service: Stand) -> None:
    node = Node(service, "a", more=True)
    assert await node.step()
    assert await node.step()
    assert node.turns == [1, 2]


async def test_while_one_works_the_others_do_not(service: Stand) -> None:
    one, other = Node(service, "a"), Node(service, "b")

    async def during(turn: Turn) -> None:
        await other.step()

    one.during = during
    await one.step()
    assert other.turns == []


async def test_whoever_hangs_past_its_lease_is_refused_and_counted(service: Stand) -> None:
    late, owner = Node(service, "a"), Node(service, "b")
    kept: list[bool] = []

    async def hangs(turn: Turn) -> None:
        service.clock.pass_ms(5_000)
        await owner.step()
        kept.append(await turn.still())
        kept.append(await turn.still())

    late.during = hangs
    assert not await late.step()
    assert (owner.turns, kept, late.fenced, owner.fenced) == ([2], [False, False], ["health"], [])
    await owner.step()
    assert owner.turns == [2]


async def test_whoever_asks_in_time_keeps_its_lease(service: Stand) -> None:
    node, other = Node(service, "a"), Node(service, "b")

    async def slow(turn: Turn) -> None:
        for _ in range(5):
            service.clock.pass_ms(1_900)
            assert await turn.still()
            await other.step()

    node.during = slow
    await node.step()
    assert (node.fenced, other.turns) == ([], [])


async def test_work_that_failed_is_given_back_at_once(service: Stand) -> None:
    node, other = Node(service, "a"), Node(service, "b")

    async def fails(turn: Turn) -> None:
        raise ZeroDivisionError

    node.during = fails
    with pytest.raises(ZeroDivisionError):
        await node.step()
    await other.step()
    assert other.turns == [2]


async def test_work_of_a_process_that_died_is_taken_over_when_its_lease_ends(service: Stand) -> None:
    await service.storage.claims.take("health", "dead", 2_000)
    node = Node(service, "b")
    service.clock.pass_ms(1_999)
    await node.step()
    assert node.turns == []
    service.clock.pass_ms(1)
    await node.step()
    assert node.turns == [2]

"""B15: negative or absurd durations from clocks that disagree."""

from typing import Any

import pytest

from milepost.wire.numbers import instant
from tests.field_cases.cases import Case

HOUR = 3_600_000
SKEWS = [300_000, -300_000, HOUR, -HOUR, 34_000, 8 * HOUR, -365 * 24 * HOUR, 0]


def _durations(shown: dict[str, Any]) -> list[int]:
    """Every length of time that people are shown."""
    things = [shown["task"], *shown["steps"]]
    return [thing[name] for thing in things for name in thing if name.endswith("Ms") and thing[name] is not None]


@pytest.mark.accepts("monotonic durations never overwritten")
@pytest.mark.parametrize("started", SKEWS)
@pytest.mark.parametrize("ended", [-5_000, HOUR, -HOUR])
async def test_no_duration_is_made_of_two_clocks(case: Case, started: int, ended: int) -> None:
    now = case.stand.clock.now()
    await case.a.report("STEP_STARTED", occurredAt=instant(now + started))
    case.stand.clock.pass_ms(4_000)
    shown = await case.shown()
    assert all(0 <= length <= 4_000 for length in _durations(shown)), shown
    done = await case.a.report(
        "STEP_COMPLETED", occurredAt=instant(now + ended), durationMs=3_900, durationSource="MONOTONIC"
    )
    assert done["accepted"] is True
    step = await case.step()
    assert (step["durationMs"], step["durationSource"]) == (3_900, "MONOTONIC")
    assert step["startedAt"] <= step["finishedAt"]
    assert all(0 <= length <= 4_000 for length in _durations(await case.shown()))
    await case.is_sound()


async def test_the_order_of_facts_is_that_of_their_sequence_whatever_their_clocks_say(case: Case) -> None:
    now = case.stand.clock.now()
    for number, skew in enumerate(SKEWS):
        answer = await case.a.report("STEP_PROGRESS", occurredAt=instant(now + skew), stage=f"s{number}")
        assert answer["accepted"] is True
    assert (await case.step())["stage"] == f"s{len(SKEWS) - 1}"
    stages = [item["stage"] for item in await case.log()][1:]
    assert stages == [f"s{number}" for number in range(len(SKEWS))]
    old = await case.a.report(
        "STEP_PROGRESS", occurredAt=instant(now + 9 * HOUR), stage="old", sourceSeq=1, eventId="x"
    )
    assert old.get("accepted") is not True
    assert (await case.step())["stage"] == f"s{len(SKEWS) - 1}"
    await case.is_sound()


async def test_a_running_counter_begins_at_nothing_on_the_servers_clock(case: Case) -> None:
    await case.a.report("STEP_STARTED", occurredAt=instant(case.stand.clock.now() - 34_000))
    assert (await case.step())["elapsedMs"] == 0
    case.stand.clock.pass_ms(2_500)
    found = await case.step()
    assert found["elapsedMs"] == 2_500
    assert found["asOf"] == instant(case.stand.clock.now())

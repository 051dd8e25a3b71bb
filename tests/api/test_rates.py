"""Rate limits of reports: a producer that is too fast is put off, its events are not lost, others are not held up."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from milepost.usecases.rates import KEYS, Rates, Source
from tests.field_cases.cases import Case, made_case
from tests.parts.stand import stand

NOW = 1_800_000_000_000
ME = Source("t1", "p1")


@pytest.fixture
async def case(tmp_path: Path) -> AsyncIterator[Case]:
    async with stand(tmp_path, rates=Rates(per_second=2, burst=3)) as running:
        yield await made_case(running)


def test_a_bucket_gives_its_burst_and_then_fills_with_time() -> None:
    rates = Rates(per_second=2, burst=3)
    assert [rates.take(ME, NOW) for _ in range(4)] == [None, None, None, 1]
    assert rates.take(ME, NOW + 499) == 1
    assert rates.take(ME, NOW + 500) is None
    assert rates.take(ME, NOW + 500) == 1
    assert [rates.take(ME, NOW + 60_000) for _ in range(4)] == [None, None, None, 1]


def test_a_slow_rate_says_how_long_to_wait_and_a_clock_that_runs_back_gives_nothing() -> None:
    rates = Rates(per_second=1, burst=1)
    assert rates.take(ME, NOW) is None
    assert rates.take(ME, NOW - 3_600_000) == 1
    assert rates.take(ME, NOW + 1_000) is None


def test_zero_is_no_limit_and_what_is_remembered_is_bounded() -> None:
    free = Rates()
    assert [free.take(ME, NOW) for _ in range(1_000)] == [None] * 1_000
    rates = Rates(per_second=1, burst=1)
    for number in range(2 * KEYS):
        assert rates.take(Source("t1", f"p{number}"), NOW) is None
    assert rates.take(Source("t1", f"p{2 * KEYS - 1}"), NOW) == 1


@pytest.mark.accepts("internal reporting authenticated, limited, audited")
async def test_a_fact_too_many_is_put_off_and_the_same_event_is_taken_later(case: Case) -> None:
    await case.a.report("STEP_STARTED")
    for number in range(2):
        assert (await case.a.report("STEP_PROGRESS", stage=str(number)))["status_code"] == 200
    event = case.a.event("STEP_COMPLETED")
    refused = await case.stand.post("/internal/v1/task-events", case.a.context["executionToken"], event)
    assert (refused.status_code, refused.json()["code"], refused.headers["retry-after"]) == (429, "RATE_LIMITED", "1")
    assert (await case.step())["lifecycleStatus"] == "RUNNING"
    case.stand.clock.pass_ms(1_000)
    assert (await case.a.send(event))["accepted"] is True
    await case.is_sound()


async def test_items_of_a_batch_are_limited_one_by_one_and_the_answer_says_when_to_come_back(case: Case) -> None:
    events = [case.untokened(case.a, "STEP_STARTED")]
    events += [case.untokened(case.a, "STEP_PROGRESS", stage=str(number)) for number in range(3)]
    headers = {"authorization": f"Bearer {case.worker}"}
    path = "/internal/v1/task-events:batch"
    answer = await case.stand.http.post(path, json={"events": events}, headers=headers)
    results = answer.json()["results"]
    assert [result["status"] for result in results] == [200, 200, 200, 429]
    assert results[3]["code"] == "RATE_LIMITED"
    assert answer.headers["retry-after"] == "1"
    case.stand.clock.pass_ms(1_000)
    again = await case.stand.http.post(path, json={"events": events[3:]}, headers=headers)
    assert [result["status"] for result in again.json()["results"]] == [200]
    assert "retry-after" not in again.headers


async def test_one_producers_haste_holds_up_nobody_else(case: Case) -> None:
    for _ in range(3):
        await case.a.report("STEP_PROGRESS", stage="x")
    assert (await case.a.report("STEP_PROGRESS", stage="y"))["status_code"] == 429
    assert (await case.task_fact("TASK_STARTED")).status_code == 200

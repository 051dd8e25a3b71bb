"""Clocks that cannot be right: kept, marked, counted, and never calculated with."""

from pathlib import Path
from typing import Any

import pytest

from milepost.api.services import Options
from milepost.domain.clocks import TOLERANCE_MS, clock_mark
from milepost.wire.numbers import instant
from tests.api.test_deleting import Task, made
from tests.parts.stand import Stand, stand

NOW = 1_800_000_000_000
HOUR = 3_600_000


@pytest.mark.parametrize(
    "occurred, age, mark",
    [
        (NOW, 0, None),
        (NOW - 5_000, 0, None),
        (NOW - HOUR, HOUR, None),
        (NOW - HOUR, None, None),
        (NOW + TOLERANCE_MS, None, None),
        (NOW + TOLERANCE_MS + 1, None, "SUSPECT"),
        (NOW + 300_000, 0, "SUSPECT"),
        (NOW - HOUR, 0, "SUSPECT"),
        (NOW, HOUR, "SUSPECT"),
        (NOW - 3 * HOUR, None, "SUSPECT"),
    ],
)
def test_a_clock_is_suspect_where_the_fact_cannot_have_happened_then(
    occurred: int, age: int | None, mark: str | None
) -> None:
    assert clock_mark(occurred, NOW, age, created_at=NOW - 2 * HOUR) == mark


async def items(task: Task) -> list[dict[str, Any]]:
    viewer = await task.service.session("u1")
    return (await task.service.get(f"/api/tasks/{task.id}/events", viewer)).json()["items"]


@pytest.mark.accepts("monotonic durations never overwritten")
async def test_clocks_that_jump_leave_durations_and_order_alone(service: Stand) -> None:
    task = await made(service)
    now = service.clock.now()
    ahead = await task.worker.report("STEP_STARTED", occurredAt=instant(now + 300_000), ageMs=0)
    service.clock.pass_ms(4_000)
    behind = await task.worker.report(
        "STEP_COMPLETED", occurredAt=instant(now - HOUR), ageMs=0, durationMs=3_900, durationSource="MONOTONIC"
    )
    assert (ahead["accepted"], behind["accepted"]) == (True, True)
    told = await items(task)
    assert [(item["eventType"], item["clock"]) for item in told] == [
        ("TASK_CREATED", None),
        ("STEP_STARTED", "SUSPECT"),
        ("STEP_COMPLETED", "SUSPECT"),
    ]
    assert told[1]["occurredAt"] == instant(now + 300_000)
    assert [int(item["taskVersion"]) for item in told] == [1, 2, 3]
    viewer = await service.session("u1")
    body = (await service.get(f"/api/tasks/{task.id}", viewer)).json()
    step = body["steps"][0]
    assert (step["durationMs"], step["startedAt"], step["finishedAt"]) == (3_900, instant(now), instant(now + 4_000))
    assert body["task"]["queueDurationMs"] >= 0


async def test_merged_progress_keeps_the_mark_of_its_clock(service: Stand) -> None:
    task = await made(service)
    now = service.clock.now()
    await task.worker.report("STEP_STARTED", occurredAt=instant(now), ageMs=0)
    await task.worker.report("STEP_PROGRESS", occurredAt=instant(now), ageMs=0, progress={"current": 1, "total": 9})
    far = {"occurredAt": instant(now + HOUR), "ageMs": 0}
    assert (await task.worker.report("STEP_PROGRESS", **far, progress={"current": 2, "total": 9}))["merged"] is True
    from milepost.domain.state import TaskKey
    from milepost.usecases.flushing import Flush

    await service.services.commit(Flush(TaskKey("t1", task.id), "02_parse", service.services.rulebook))
    told = (await items(task))[-1]
    assert (told["eventType"], told["clock"]) == ("STEP_PROGRESS", "SUSPECT")


async def test_where_the_setting_says_so_a_suspect_clock_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    async with stand(tmp_path, options=Options(refuse_suspect_clocks=True)) as service:
        task = await made(service)
        now = service.clock.now()
        refused = await task.worker.report("STEP_STARTED", occurredAt=instant(now + HOUR))
        assert (refused["status_code"], refused["errors"][0]["pointer"]) == (422, "/occurredAt")
        right = await task.worker.report("STEP_STARTED", occurredAt=instant(now), sourceSeq=1)
        assert right["status_code"] == 200
        assert [item["eventType"] for item in await items(task)] == ["TASK_CREATED", "STEP_STARTED"]

"""What readers can rely on: strange operations, failures without asking, and a history that says where it ends."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.field_cases.cases import Case, made_case
from tests.parts.reports import Reported, create
from tests.parts.stand import stand


@pytest.fixture
async def case(tmp_path: Path) -> AsyncIterator[Case]:
    async with stand(tmp_path) as running:
        yield await made_case(running)


@pytest.mark.accepts("unknown operation still shows its lifecycle")
async def test_an_operation_nobody_described_shows_how_far_it_is_everywhere(case: Case) -> None:
    made = await create(case.stand, case.coordinator, ("x", "NOBODY.KNOWS_THIS", "p1"), taskType="NEVER.SEEN")
    step = Reported(case.stand, made["contexts"][0])
    for event_type, task, own in (
        (None, "PENDING", "PENDING"),
        ("STEP_STARTED", "RUNNING", "RUNNING"),
        ("STEP_FAILED", "RUNNING", "FAILED"),
    ):
        if event_type:
            assert (await step.report(event_type))["accepted"] is True
        shown = (await case.stand.get(f"/api/tasks/{made['task']['id']}", case.viewer)).json()
        assert (shown["task"]["lifecycleStatus"], shown["steps"][0]["lifecycleStatus"]) == (task, own)
        assert shown["steps"][0]["operationCode"] == "NOBODY.KNOWS_THIS"
        listed = (await case.stand.get("/api/tasks?taskType=NEVER.SEEN", case.viewer)).json()["items"]
        assert [item["lifecycleStatus"] for item in listed] == [task]


@pytest.mark.accepts("timeline resumes from afterTaskVersion and says when history is gone")
async def test_a_timeline_whose_beginning_is_gone_says_so_and_goes_on_from_what_is_kept(case: Case) -> None:
    for number in range(6):
        await case.a.report("STEP_PROGRESS", stage=f"s{number}")
    with closing(sqlite3.connect(case.stand.path)) as database, database:
        database.execute("DELETE FROM task_event_log WHERE task_id = ? AND task_version < 4", (case.task_id,))
    path = f"/api/tasks/{case.task_id}/events?afterTaskVersion="
    for gone in (0, 1, 2):
        answer = await case.stand.get(f"{path}{gone}", case.viewer)
        assert (answer.status_code, answer.json()["code"]) == (410, "CURSOR_EXPIRED"), gone
        assert "version 4" in answer.json()["detail"]
    for after, versions in ((3, ["4", "5", "6", "7"]), (5, ["6", "7"]), (7, [])):
        answer = await case.stand.get(f"{path}{after}", case.viewer)
        assert [item["taskVersion"] for item in answer.json()["items"]] == versions

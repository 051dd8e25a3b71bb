"""B05: cancelling and finishing cross each other, and a late end contradicts the first."""

import asyncio
from pathlib import Path

from tests.field_cases.cases import Case, made_case
from tests.parts.stand import stand

ROUNDS = 50


async def test_in_every_round_one_end_stands_and_the_request_is_told_the_truth(tmp_path: Path) -> None:
    async with stand(tmp_path) as running:
        for number in range(ROUNDS):
            case = await made_case(running, taskId=f"k{number}")
            path = f"/internal/v1/tasks/{case.task_id}:requestCancel"
            asked, ended = await asyncio.gather(
                running.post(path, case.coordinator, {}), case.task_fact("TASK_COMPLETED")
            )
            assert (asked.status_code, ended.status_code) == (200, 200)
            log = await case.log()
            ends = [
                item for item in log if item["eventType"].startswith("TASK_C") and item["lifecycleStatus"] != "PENDING"
            ]
            assert [item["eventType"] for item in ends] == ["TASK_COMPLETED"]
            requested = any(item["eventType"] == "TASK_CANCEL_REQUESTED" for item in log)
            assert asked.json()["accepted"] is requested
            if not requested:
                assert asked.json()["lifecycleStatus"] == "SUCCEEDED"


async def test_whichever_end_is_committed_first_stands_and_the_other_is_a_conflict(case: Case) -> None:
    await case.stand.post(f"/internal/v1/tasks/{case.task_id}:requestCancel", case.coordinator, {})
    assert (await case.task_fact("TASK_COMPLETED")).status_code == 200
    late = await case.task_fact("TASK_CANCELLED")
    assert (late.status_code, late.json()["code"]) == (409, "CONFLICTING_TERMINAL")
    assert late.json()["lifecycleStatus"] == "SUCCEEDED"
    assert (await case.shown())["task"]["lifecycleStatus"] == "SUCCEEDED"
    operator = await case.stand.session("op", roles=("operator",))
    [conflict] = (await case.stand.get("/admin/v1/conflicts", operator)).json()["items"]
    assert (conflict["eventType"], conflict["lifecycleStatus"]) == ("TASK_CANCELLED", "SUCCEEDED")
    await case.is_sound()


async def test_a_contradicting_end_of_a_step_is_kept_with_the_step_and_flips_nothing(case: Case) -> None:
    await case.a.report("STEP_STARTED")
    assert (await case.a.report("STEP_COMPLETED"))["accepted"] is True
    late = await case.a.report("STEP_FAILED", error={"category": "SYSTEM", "code": "X"})
    assert (late["status_code"], late["code"]) == (409, "CONFLICTING_TERMINAL")
    assert (await case.step())["lifecycleStatus"] == "SUCCEEDED"
    operator = await case.stand.session("op", roles=("operator",))
    [conflict] = (await case.stand.get("/admin/v1/conflicts", operator)).json()["items"]
    assert (conflict["stepId"], conflict["stepLifecycleStatus"]) == ("a", "SUCCEEDED")
    await case.is_sound()

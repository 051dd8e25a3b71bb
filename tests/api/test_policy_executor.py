"""A failure-policy executor: it may fail a task for a step whose failure means that, and nothing else."""

from typing import Any

import pytest

from tests.api.test_deleting import EVENTS, Task
from tests.parts.reports import create
from tests.parts.stand import Stand

ERROR = {"category": "DEPENDENCY", "code": "UPSTREAM_DOWN", "userMessage": "Try later."}


async def made(service: Stand, *policies: str) -> Task:
    boss = await service.credential("api", "report", "coordinate")
    plans = [
        {"stepId": f"s{at}", "operationCode": "OP", "producerId": "p1", "onFailure": policy}
        for at, policy in enumerate(policies)
    ]
    return Task(service, boss, await create(service, boss, steps=plans))


async def fail(task: Task, token: str, event_type: str = "TASK_FAILED", **more: Any) -> Any:
    said = {
        "eventId": f"{task.id}.{event_type}.policy",
        "taskId": task.id,
        "taskType": "DOCUMENT_PROCESS",
        "taskAttempt": 1,
        "eventType": event_type,
        "error": ERROR,
        "occurredAt": "2027-01-15T08:00:00Z",
        **more,
    }
    return await task.service.post(EVENTS, token, said)


@pytest.mark.parametrize("policy", ["FAIL_TASK", "RETRY_THEN_FAIL_TASK"])
async def test_a_failed_step_with_a_failing_policy_lets_the_executor_fail_the_task(service: Stand, policy: str) -> None:
    task = await made(service, policy)
    executor = await service.credential("policies", "policy")
    early = await fail(task, executor)
    assert (early.status_code, early.json()["code"]) == (403, "CONTEXT_MISMATCH")
    await task.worker.report("STEP_FAILED", error=ERROR)
    answer = await fail(task, executor, failedStepId="s0")
    assert answer.status_code == 200, answer.text
    assert answer.json()["lifecycleStatus"] == "FAILED"
    viewer = await service.session("u1")
    shown = (await service.get(f"/api/tasks/{task.id}", viewer)).json()["task"]
    assert shown["failure"] == {"code": "UPSTREAM_DOWN", "userMessage": "Try later.", "stepId": "s0"}
    items = (await service.get(f"/api/tasks/{task.id}/events", viewer)).json()["items"]
    assert items[-1]["producerId"] == "policies"


@pytest.mark.parametrize("policy", ["CONTINUE_WITH_WARNING", "WAIT_FOR_USER"])
async def test_a_policy_that_only_warns_or_waits_gives_the_executor_no_say(service: Stand, policy: str) -> None:
    task = await made(service, policy)
    executor = await service.credential("policies", "policy")
    await task.worker.report("STEP_FAILED", error=ERROR)
    assert (await fail(task, executor)).json()["code"] == "CONTEXT_MISMATCH"


async def test_the_step_that_is_named_must_be_the_one_that_failed(service: Stand) -> None:
    task = await made(service, "FAIL_TASK", "FAIL_TASK")
    executor = await service.credential("policies", "policy")
    await task.worker.report("STEP_FAILED", error=ERROR)
    assert (await fail(task, executor, failedStepId="s1")).json()["code"] == "CONTEXT_MISMATCH"
    assert (await fail(task, executor, failedStepId="s0")).status_code == 200


async def test_the_executor_reports_no_other_fact_and_without_the_right_not_even_that(service: Stand) -> None:
    task = await made(service, "FAIL_TASK")
    executor = await service.credential("policies", "policy")
    reporter = await service.credential("other", "report")
    await task.worker.report("STEP_FAILED", error=ERROR)
    for event_type in ("TASK_COMPLETED", "TASK_CANCELLED", "TASK_STARTED"):
        assert (await fail(task, executor, event_type)).json()["code"] == "FORBIDDEN"
    both = await service.credential("both", "policy", "report")
    assert (await fail(task, both, "TASK_COMPLETED")).json()["code"] == "CONTEXT_MISMATCH"
    assert (await fail(task, reporter)).json()["code"] == "CONTEXT_MISMATCH"


async def test_a_step_that_failed_in_an_older_attempt_gives_no_say_in_the_next(service: Stand) -> None:
    task = await made(service, "FAIL_TASK")
    executor = await service.credential("policies", "policy")
    await task.worker.report("STEP_FAILED", error=ERROR)
    assert (await fail(task, executor)).status_code == 200
    await service.put(f"{task.path}/attempts/2", task.boss, {})
    answer = await fail(task, executor, eventId="again", taskAttempt=2)
    assert (answer.status_code, answer.json()["code"]) == (403, "CONTEXT_MISMATCH")

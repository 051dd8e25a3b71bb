"""Trouble and ends reach their people, whatever they look at, and once."""

import json
from pathlib import Path
from typing import Any

import pytest

from milepost.domain.facts import Fact
from milepost.domain.state import TaskKey
from milepost.gateway.limits import StreamLimits
from milepost.ports.storage import Transaction
from milepost.usecases.commit import commit
from milepost.usecases.reporting import Report
from tests.gateway.browser import Browser
from tests.notices.lit import BROKEN, Lit, lit


async def noticed(one: Browser) -> dict[str, Any]:
    """The next message that carries a notice."""
    while True:
        message = await one.message()
        if message.get("notice"):
            return message


@pytest.mark.accepts("failure reaches a user without detail subscription")
async def test_a_failure_reaches_its_owner_who_looks_at_no_detail(service: Lit):
    step = await service.create()
    one = await service.watch(await service.on.session("u1"))
    await step.report("STEP_STARTED")
    await step.report("STEP_FAILED", error=BROKEN)
    message = await noticed(one)
    notice = message["notice"]
    assert (message["kind"], notice["type"], notice["level"]) == ("task.summary", "step.failed", "ERROR")
    assert notice["id"] == f"{message['epoch']}:k1:{message['version']}:step.failed"
    assert (notice["title"], notice["message"]) == ("contract.pdf", "The page could not be read.")
    assert (notice["operationCode"], notice["errorCode"], notice["retryable"]) == ("DOC.PARSE", "UPSTREAM", True)
    await service.ends("k1", "TASK_FAILED", error=BROKEN, failedStepId="02_parse")
    end = (await noticed(one))["notice"]
    assert (end["type"], end["level"]) == ("task.failed", "ERROR")
    one.cut()


@pytest.mark.parametrize(
    "policy, kind",
    [
        ("RETRY_THEN_FAIL_TASK", "step.retrying"),
        ("CONTINUE_WITH_WARNING", "step.warning"),
        ("WAIT_FOR_USER", "action.required"),
    ],
)
async def test_the_policy_of_a_step_decides_how_its_failure_is_told(service: Lit, policy: str, kind: str):
    step = await service.create(policy=policy)
    one = await service.watch(await service.on.session("u1"))
    await step.report("STEP_FAILED", error=BROKEN)
    assert (await noticed(one))["notice"]["type"] == kind
    one.cut()


async def test_members_of_the_project_hear_of_trouble_without_the_producers_words(service: Lit):
    step = await service.create(projectId="p")
    one = await service.watch(await service.on.session("mia", "p"))
    await step.report("STEP_FAILED", error=BROKEN)
    message = await noticed(one)
    assert message["notice"]["message"] == "A step failed."
    assert "could not be read" not in str(message)
    await service.ends("k1", "TASK_CANCELLED")
    assert (await one.message())["notice"] is None
    one.cut()


@pytest.mark.accepts("STEP_FAILED, terminals and action requests never merged away")
async def test_a_viewer_that_is_slow_cut_and_resumed_has_seen_every_notice(tmp_path: Path):
    async with lit(tmp_path, StreamLimits(queue_bytes=6_000, poll_seconds=0.2, linger_seconds=0.2)) as service:
        token = await service.on.session("u1")
        one = await service.watch(token, small=True)
        transport: Any = one.reader._transport  # pyright: ignore[reportAttributeAccessIssue]
        transport.pause_reading()
        for number in range(60):
            step = await service.create(f"k{number}", policy="CONTINUE_WITH_WARNING", title="x" * 280)
            await step.report("STEP_FAILED", error=BROKEN, eventId=f"f{number}")
            await service.ends(f"k{number}", "TASK_COMPLETED")
        transport.resume_reading()
        told: dict[str, str] = {}
        for seen in await one.until_closed():
            told.update(_notices(json.loads(seen.data)))
        assert len(told) < 120, "it was never slow"
        one.cut()
        one = await service.watch(token, last_id=one.last_id)
        while len(told) < 120:
            told.update(_notices(await one.message()))
        assert sorted(told.values()) == ["step.warning"] * 60 + ["task.succeeded"] * 60
        one.cut()


def _notices(message: dict[str, Any]) -> dict[str, str]:
    notice = message.get("notice")
    return {notice["id"]: notice["type"]} if notice else {}


async def test_what_is_sent_again_is_marked_so_that_it_never_pops_up(service: Lit):
    token = await service.on.session("u1")
    start = await service.watch(token)
    step = await service.create(policy="CONTINUE_WITH_WARNING")
    await step.report("STEP_FAILED", error=BROKEN)
    await service.ends("k1", "TASK_COMPLETED")
    again = await service.watch(token, last_id=start.last_id)
    replayed = [await again.message() for _ in range(3)]
    assert [message["replayed"] for message in replayed] == [True, True, True]
    assert [(message["notice"] or {}).get("type") for message in replayed] == [None, "step.warning", "task.succeeded"]
    assert {message["version"] for message in replayed} == {"3"}, "the current state, and each notice of its own"
    start.cut()
    again.cut()


async def test_a_step_that_ends_after_its_task_alerts_nobody_and_is_not_kept(service: Lit):
    step = await service.create()
    token = await service.on.session("u1")
    one = await service.watch(token)
    await service.ends("k1", "TASK_CANCELLED")
    await step.report("STEP_FAILED", error=BROKEN)
    assert (await one.message())["notice"]["type"] == "task.cancelled"
    assert (await one.message())["notice"] is None
    assert [item["type"] for item in (await service.kept(token))["items"]] == ["task.cancelled"]
    one.cut()


@pytest.mark.accepts("state, event, version, dedup, outbox in one transaction")
async def test_the_row_is_in_the_events_transaction_or_nothing_is(service: Lit):
    step = await service.create()
    token = await service.on.session("u1")

    class Crash(Exception):
        """What a process that dies before COMMIT leaves is what this leaves."""

    fact = Fact("x1", "t1", "k1", "DOCUMENT_PROCESS", 1, "api", "TASK_COMPLETED", 1, 1, b"")

    async def dies(tx: Transaction) -> None:
        await commit(tx, [Report(fact, service.on.services.rulebook)])
        raise Crash

    with pytest.raises(Crash):
        await service.on.storage.transaction(dies)
    assert (await service.kept(token))["items"] == []
    assert len((await service.on.storage.reading.timeline(TaskKey("t1", "k1"), 0, 9)).events) == 1
    await step.report("STEP_STARTED")
    await service.ends("k1", "TASK_COMPLETED")
    (item,) = (await service.kept(token))["items"]
    assert (item["type"], item["taskId"], item["taskVersion"]) == ("task.succeeded", "k1", "3")

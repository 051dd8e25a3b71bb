"""B30: a row with a lower number commits later and is skipped for ever."""

import asyncio

import pytest

from milepost.domain.events import StreamEntry
from milepost.ports.storage import Transaction, Wanted, Writes
from tests.field_cases.cases import Case
from tests.parts.reports import Reported, create

TASKS = 12


async def writers(case: Case) -> list[Reported]:
    """One step each of a dozen tasks."""
    made = [await create(case.stand, case.coordinator, (f"s{number}", "OP", "p1")) for number in range(TASKS)]
    return [Reported(case.stand, one["contexts"][0]) for one in made]


async def work(step: Reported, pause: int) -> None:
    await step.report("STEP_STARTED")
    for number in range(6):
        for _ in range(pause):
            await asyncio.sleep(0)
        await step.report("STEP_PROGRESS", stage=f"stage {number}")
    await step.report("STEP_COMPLETED", durationMs=1)


@pytest.mark.accepts("cursor never skips a late commit")
async def test_a_reader_above_its_cursor_sees_every_position_once_whatever_writers_do(case: Case) -> None:
    steps = await writers(case)
    working = asyncio.gather(*(work(step, number % 4) for number, step in enumerate(steps)))
    log = case.stand.storage.stream_log
    seen: list[int] = []
    while True:
        done = working.done()
        top = (await log.tops(["t1"])).windows["t1"].top
        after = seen[-1] if seen else 0
        seen += [entry.position for entry in await log.entries("t1", after, top, 1_000)]
        assert not seen or seen[-1] == top
        if done:
            break
    await working
    assert seen == list(range(1, 1 + 1 + TASKS + TASKS * 8))


async def test_a_poller_of_changes_ends_with_the_newest_version_of_every_task(case: Case) -> None:
    cursor = (await case.stand.get("/api/tasks", case.viewer)).json()["streamCursor"]
    steps = await writers(case)
    working = asyncio.gather(*(work(step, number % 4) for number, step in enumerate(steps)))
    versions: dict[str, int] = {}
    while True:
        done = working.done()
        page = (await case.stand.get(f"/api/tasks?changedAfter={cursor}&limit=5", case.viewer)).json()
        for item in page["items"]:
            assert int(item["version"]) >= versions.get(item["id"], 0)
            versions[item["id"]] = int(item["version"])
        assert int(page["nextCursor"].partition(":")[2]) >= int(cursor.partition(":")[2])
        cursor = page["nextCursor"]
        if done and not page["more"]:
            break
    await working
    assert versions == {step.context["taskId"]: 9 for step in steps}


async def test_a_rollback_of_hundreds_of_entries_leaves_no_gap(case: Case) -> None:
    entry = StreamEntry(tenant_id="t1", kind="task", committed_at=0, task_id=case.task_id, task_version=1)

    async def broken(tx: Transaction) -> None:
        await tx.lock([])
        await tx.read(Wanted())
        await tx.write(Writes(entries=[entry] * 500))
        raise LookupError

    before = (await case.stand.storage.stream_log.tops(["t1"])).windows["t1"].top
    with pytest.raises(LookupError):
        await case.stand.storage.transaction(broken)
    await case.a.report("STEP_STARTED")
    assert (await case.stand.storage.stream_log.tops(["t1"])).windows["t1"].top == before + 1
    await case.is_sound()


async def test_tenants_are_numbered_each_for_itself(case: Case) -> None:
    other = await case.stand.credential("api", "report", "coordinate", tenant="t2")
    await create(case.stand, other, ("s", "OP", "p1"), tenantId="t2")
    await case.a.report("STEP_STARTED")
    tops = await case.stand.storage.stream_log.tops(["t1", "t2"])
    assert {tenant: window.top for tenant, window in tops.windows.items()} == {"t1": 2, "t2": 1}

"""What a commit tells the readers of its own process is what they would find in the database."""

import pytest

from milepost.domain.state import TaskKey
from milepost.domain.values import Progress
from tests.parts.stand import Stand
from tests.usecases.works import create, done, new_source, open_attempt, report


async def test_what_is_told_of_a_batch_is_what_was_written(service: Stand) -> None:
    await service.storage.access.add_tenant("t2", 0)
    await done(service, create("t1", "k0"))
    service.heard.committed.clear()
    await done(
        service,
        create("t1", "k1"),
        create("t2", "k9"),
        report("STEP_STARTED", "e1", 1),
        create("t1", "k2"),
        report("STEP_STARTED", "e2", 1, task_id="k0"),
        open_attempt(2, "a"),
    )
    assert [committed.tenant_id for committed in service.heard.committed] == ["t1", "t2"]
    for committed in service.heard.committed:
        tenant = committed.tenant_id
        logged = await service.storage.stream_log.entries(tenant, 0, 100, 100)
        assert committed.entries == logged[-len(committed.entries) :]
        assert committed.epoch == await service.storage.epoch()
        for task_id, state in committed.states.items():
            found = await service.storage.reading.snapshot(TaskKey(tenant, task_id))
            assert found is not None
            assert (state.task, sorted(state.steps.values(), key=lambda step: step.ordinal)) == (
                found.task,
                [*found.steps],
            )
        stored = await service.storage.reading.events_at([(TaskKey(tenant, task), v) for task, v in committed.events])
        assert {(key.task_id, version): event for (key, version), event in stored.items()} == committed.events
    told = service.heard.committed[0]
    assert [one.position for one in told.entries] == [2, 3, 4, 5, 6]
    assert set(told.states) == {"k0", "k1", "k2"}
    assert set(told.events) == {("k1", 1), ("k1", 2), ("k1", 3), ("k2", 1), ("k0", 2)}


async def test_what_makes_no_version_is_told_to_nobody(service: Stand) -> None:
    await done(service, create(), report("STEP_PROGRESS", "e1", 1, progress=Progress(1, 9)))
    service.heard.committed.clear()
    await done(
        service,
        report("STEP_PROGRESS", "e2", 2, progress=Progress(2, 9)),
        report("STEP_PROGRESS", "e1", 1, progress=Progress(1, 9)),
        report("STEP_STARTED", "other", 1),
        new_source("b"),
    )
    assert service.heard.committed == []


@pytest.mark.accepts("STEP_FAILED, terminals and action requests never merged away")
async def test_only_progress_may_be_collapsed_on_its_way(service: Stand) -> None:
    works = [report(f"STEP_{name}", name, seq) for seq, name in enumerate(("STARTED", "PROGRESS", "COMPLETED"), 1)]
    await done(service, create(), *works, report("TASK_COMPLETED", "end"))
    entries = [one.entry for one in service.heard.committed[0].entries]
    assert [entry.mergeable for entry in entries] == [False, False, True, False, False]
    assert {(entry.kind, entry.audience_user, entry.audience_project) for entry in entries} == {("task", "u1", None)}

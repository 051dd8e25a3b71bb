"""B10: our own outage makes every task look dead."""

from tests.field_cases.cases import Case
from tests.parts.health import LIMIT, Watch
from tests.parts.reports import Reported, create

TASKS = 50


async def running(case: Case) -> list[Reported]:
    found: list[Reported] = []
    for _ in range(TASKS):
        made = await create(case.stand, case.coordinator, ("a", "DOC.PARSE", "p1"))
        found.append(Reported(case.stand, made["contexts"][0]))
    for one in found:
        assert (await one.report("STEP_STARTED", eventId=f"start.{one.context['taskId']}"))["accepted"]
    return found


async def healths(case: Case) -> set[tuple[str, str]]:
    listed = (await case.stand.get("/api/tasks?limit=200", case.viewer)).json()["items"]
    return {(item["lifecycleStatus"], item["health"]) for item in listed if item["id"] != case.task_id}


async def test_after_an_outage_of_three_limits_nobody_is_stale_before_the_backlog_had_its_time(case: Case) -> None:
    workers = await running(case)
    watch = Watch(case.stand)
    await watch.listen(10_000)
    case.stand.clock.pass_ms(3 * LIMIT)
    assert (await watch.scan()).outcome == "deaf"
    await watch.listen(0)
    scanned = await watch.scan()
    assert (scanned.outcome, scanned.silent, scanned.storm) == ("done", 0, 0)
    await watch.listen(LIMIT - 5_000)
    assert (await watch.scan()).silent == 0
    for worker in workers:
        progress = {"current": 30, "total": 100}
        event_id = f"progress.{worker.context['taskId']}"
        answer = await worker.report("STEP_PROGRESS", progress=progress, ageMs=2 * LIMIT, eventId=event_id)
        assert answer["accepted"]
    await watch.listen(10_000)
    assert (await watch.scan()).silent == 0
    assert await healths(case) == {("RUNNING", "HEALTHY")}
    log = [committed for committed in case.stand.heard.committed if committed.events]
    assert all(event.event_type != "STEP_HEALTH_CHANGED" for one in log for event in one.events.values())


async def test_many_who_fall_silent_at_once_while_we_listen_are_a_storm_and_not_stale(case: Case) -> None:
    """The stamps go through, the reports do not: only the numbers tell."""
    await running(case)
    watch = Watch(case.stand)
    await watch.listen(LIMIT)
    scanned = await watch.scan()
    assert (scanned.silent, scanned.storm, scanned.watched) == (0, TASKS, TASKS)
    assert await healths(case) == {("RUNNING", "HEALTHY")}

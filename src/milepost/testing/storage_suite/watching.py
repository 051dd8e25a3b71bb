"""Who is due to be looked at, and when the service listened."""

from milepost.domain.listening import Listening, Span
from milepost.domain.state import Step
from milepost.ports.storage import StepKey, Writes
from milepost.ports.watching import Place
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.fixture import OnSite
from milepost.testing.storage_suite.site import TENANT, Store, write


def running(step_id: str, seen: int, task_id: str = "task-1", **changes: object) -> Step:
    """A healthy running step whose limit is a second."""
    quiet = {"silent_since": None, "escalated": False, "calm_at": None, "health": "HEALTHY"}
    times = {"last_seen_at": seen, "started_at": 1, "stale_after_ms": 1_000, "patience_ms": 4_000}
    return samples.a_step(step_id, task_id, **{**quiet, **times, **changes})


class WatchingSuite(OnSite):
    """The walk over steps that are due, and the stamps of those who listen."""

    async def test_running_steps_are_due_by_their_own_limit_since_their_last_sign(self, store: Store) -> None:
        steps = [
            running("slow", 100, stale_after_ms=9_000),
            running("flaps", 100, calm_at=101),
            running("calm", 100, calm_at=100),
            running("mute", 0, last_seen_at=None, started_at=50),
            running("stale", 100, silent_since=100),
            running("told", 100, silent_since=100, escalated=True),
            running("back", 101, silent_since=100, escalated=True),
            running("ended", 100, lifecycle="FAILED"),
            running("waits", 100, lifecycle="PENDING"),
            running("older", 100, current=False),
        ]
        await write(store, Writes(new_tasks=[samples.a_task()], new_steps=steps))
        found = await store.watching.due(99_999, None, 100)
        assert [(one.place.look_at, one.step.step_id) for one in found] == [
            (101, "back"),
            (1_050, "mute"),
            (1_100, "calm"),
            (3_100, "stale"),
            (4_100, "flaps"),
            (9_100, "slow"),
        ]
        assert all(one.task == samples.a_task() for one in found)
        assert found[0].step == running("back", 101, silent_since=100, escalated=True)
        assert [one.step.step_id for one in await store.watching.due(1_099, None, 100)] == ["back", "mute"]
        assert await store.watching.watched() == 6

    async def test_a_walk_in_pages_meets_every_due_step_once(self, store: Store) -> None:
        steps = [running(f"s{number}", 100 + number // 4, f"task-{number % 3}") for number in range(11)]
        await write(store, Writes(new_tasks=[samples.a_task(f"task-{number}") for number in range(3)], new_steps=steps))
        met: list[StepKey] = []
        place: Place | None = None
        while page := await store.watching.due(99_999, place, 2):
            assert len(page) <= 2
            for one in page:
                met.append(one.place.key)
                place = one.place
        assert len(met) == 11
        assert {key.step_id for key in met} == {step.step_id for step in steps}

    async def test_a_sign_of_life_puts_the_next_look_off(self, store: Store) -> None:
        steps = [
            running("a", 100),
            running("flaps", 100, calm_at=9_000),
            running("stale", 100, silent_since=100),
            running("waits", 100, lifecycle="PENDING"),
        ]
        await write(store, Writes(new_tasks=[samples.a_task()], new_steps=steps))
        keys = [StepKey(TENANT, "task-1", step.step_id, 1) for step in steps]
        await store.transaction(lambda transaction: transaction.touch(keys, 5_000))
        found = await store.watching.due(99_999, None, 100)
        assert [(one.place.look_at, one.step.step_id) for one in found] == [
            (5_000, "stale"),
            (6_000, "a"),
            (9_000, "flaps"),
        ]

    async def test_a_step_taken_out_of_the_walk_keeps_all_else(self, store: Store) -> None:
        await write(store, Writes(new_tasks=[samples.a_task()], new_steps=[running("a", 100), running("b", 100)]))
        await store.watching.unwatch([StepKey(TENANT, "task-1", "a", 1)])
        assert [one.step.step_id for one in await store.watching.due(99_999, None, 9)] == ["b"]
        assert await store.watching.watched() == 1

    async def test_requests_to_cancel_are_due_by_their_types_deadline_until_told_of(self, store: Store) -> None:
        def task(task_id: str, asked: int | None, **changes: object):
            rest = {"cancel_deadline_ms": 1_000, "cancel_unanswered_at": None, **changes}
            return samples.a_task(task_id, cancel_requested_at=asked, **rest)

        tasks = [
            task("later", 100, cancel_deadline_ms=5_000),
            task("first", 200),
            task("told", 100, cancel_unanswered_at=1_100),
            task("ended", 100, lifecycle="CANCELLED"),
            task("gone", 100, deleted_at=101),
            task("none", None),
        ]
        await write(store, Writes(new_tasks=tasks))
        assert [found.task_id for found in await store.watching.unanswered(9_999, 9)] == ["first", "later"]
        assert [found.task_id for found in await store.watching.unanswered(5_099, 9)] == ["first"]
        await write(store, Writes(tasks=[task("first", 200, lifecycle="SUCCEEDED")]))
        assert await store.watching.unanswered(5_099, 9) == ()

    async def test_a_stamp_prolongs_its_own_span(self, store: Store) -> None:
        since = await store.liveness.stamp("p1", None)
        assert await store.liveness.stamp("p1", since) == since
        hearing = await store.liveness.hearing()
        (span,) = hearing.listening.spans
        assert span.since == since <= span.until <= hearing.now

    async def test_a_span_that_is_not_known_is_begun_anew(self, store: Store) -> None:
        assert await store.liveness.stamp("p1", 5) > 5
        assert (await store.liveness.hearing()).listening != Listening((Span(5, 5),))

    async def test_nobody_listened_before_the_first_stamp(self, store: Store) -> None:
        assert (await store.liveness.hearing()).listening == Listening()

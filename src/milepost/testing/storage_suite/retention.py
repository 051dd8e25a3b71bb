"""What is no longer needed goes, in portions, and takes nothing with it."""

from msgspec.structs import replace

from milepost.ports.access import OnceCode, UserSession
from milepost.ports.retention import AnswerPlace
from milepost.ports.storage import EventKey, Remembered, Wanted, Writes
from milepost.ports.stream import Window
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.fixture import OnSite
from milepost.testing.storage_suite.site import TENANT, Store, known, write


def answer(event_id: str, task_id: str, created_at: int) -> Remembered:
    """A remembered answer about a task."""
    return Remembered(TENANT, event_id, b"h", b'{"taskId":"%s"}' % task_id.encode(), created_at)


class RetentionSuite(OnSite):
    """Removal from the low end, and only of what is over."""

    async def test_a_stream_is_cut_from_its_low_end_and_says_so(self, store: Store) -> None:
        entries = [replace(samples.an_entry("task-1", number), committed_at=number * 10) for number in range(1, 7)]
        await write(store, Writes(entries=entries))
        assert await store.retention.trim_stream(TENANT, 35, 2) == 2
        assert (await store.stream_log.tops([TENANT])).windows[TENANT] == Window(6, 2)
        assert await store.retention.trim_stream(TENANT, 40, 2) == 1
        assert (await store.stream_log.tops([TENANT])).windows[TENANT] == Window(6, 3)
        assert await store.retention.trim_stream(TENANT, 40, 2) == 0
        left = await store.stream_log.entries(TENANT, 0, 99, 99)
        assert [one.position for one in left] == [4, 5, 6]

    async def test_an_entry_behind_a_younger_one_stays(self, store: Store) -> None:
        """Clocks may step back; a hole in the middle would be a silent loss."""
        times = (10, 90, 10)
        entries = [replace(samples.an_entry("t", number), committed_at=at) for number, at in enumerate(times)]
        await write(store, Writes(entries=entries))
        assert await store.retention.trim_stream(TENANT, 50, 9) == 1
        assert (await store.stream_log.tops([TENANT])).windows[TENANT] == Window(3, 1)

    async def test_an_empty_or_unknown_stream_stays_as_it_is(self, store: Store) -> None:
        assert await store.retention.trim_stream(TENANT, 50, 9) == 0
        assert await store.retention.trim_stream("nobody", 50, 9) == 0

    async def test_answers_are_forgotten_when_their_task_ended_long_ago(self, store: Store) -> None:
        tasks = [
            samples.a_task("over", lifecycle="SUCCEEDED", finished_at=99),
            samples.a_task("late", lifecycle="SUCCEEDED", finished_at=100),
            samples.a_task("runs", finished_at=None),
            samples.a_task("again", lifecycle="PENDING", finished_at=50),
        ]
        ids = ("over", "late", "runs", "again", "unknown")
        answers = [answer(f"e-{task_id}", task_id, 10) for task_id in ids]
        await write(store, Writes(new_tasks=tasks, answers=answers))
        assert (await store.retention.forget_answers(None, 100, 9)).removed == 2
        keys = [EventKey(TENANT, f"e-{task_id}") for task_id in ids]
        left = (await known(store, Wanted(events=keys))).answers
        assert sorted(key.event_id for key in left) == ["e-again", "e-late", "e-runs"]

    async def test_a_walk_over_answers_goes_on_behind_those_that_stay(self, store: Store) -> None:
        tasks = [
            samples.a_task("runs", finished_at=None),
            samples.a_task("over", lifecycle="FAILED", finished_at=5),
        ]
        answers = [answer(f"e{number}", "over" if number == 4 else "runs", 10) for number in range(5)]
        await write(store, Writes(new_tasks=tasks, answers=answers))
        first = await store.retention.forget_answers(None, 100, 2)
        assert first == (0, AnswerPlace(10, TENANT, "e1"))
        second = await store.retention.forget_answers(first.next, 100, 2)
        assert second == (0, AnswerPlace(10, TENANT, "e3"))
        assert await store.retention.forget_answers(second.next, 100, 2) == (1, None)

    async def test_expired_codes_and_sessions_go_and_valid_ones_stay(self, store: Store) -> None:
        far = 2**52
        for number, expires in enumerate((far + 10, far + 20, far + 30)):
            await store.access.add_code(OnceCode("link", bytes([number] * 32), b"{}", expires))
            await store.access.add_session(
                UserSession(f"s{number}", bytes(32), TENANT, "ann", frozenset(), frozenset(), 5, expires)
            )
        assert await store.retention.drop_codes(far + 25, 1) == 1
        assert await store.retention.drop_codes(far + 25, 9) == 1
        assert await store.access.take_code("link", bytes([2] * 32), far) == b"{}"
        assert await store.retention.drop_sessions(far + 25, 9) == 2
        assert await store.access.session("s1") is None
        assert await store.access.session("s2") is not None

    async def test_old_spans_of_listening_go(self, store: Store) -> None:
        await store.liveness.stamp("p1", None)
        now = (await store.liveness.hearing()).now
        assert await store.retention.drop_spans(now - 60_000, 9) == 0
        assert await store.retention.drop_spans(now + 60_000, 9) == 1
        assert (await store.liveness.hearing()).listening.spans == ()

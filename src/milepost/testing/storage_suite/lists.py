"""Lists, single tasks, timelines, and steps that wait."""

import pytest

from milepost.domain.state import Task, TaskKey
from milepost.ports.reading import Filters, PendingStep, Scope
from milepost.ports.storage import Writes
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.fixture import OnSite
from milepost.testing.storage_suite.site import TENANT, Store, write

ALL = Scope(TENANT, "admin", everything=True)
OWN = Scope(TENANT, "owner")
KEY = TaskKey(TENANT, "task-1")


class ListSuite(OnSite):
    """Order, pages, filters and scope."""

    async def test_a_list_is_newest_first_and_its_pages_join_without_a_seam(self, store: Store) -> None:
        tasks = [samples.bare(f"task-{number:02}", created_at=number // 4) for number in range(25)]
        await write(store, Writes(new_tasks=tasks[::-1]))
        expected = sorted((task.created_at, task.task_id) for task in tasks)[::-1]
        for scope in (ALL, OWN):
            assert await _pages(store, scope, 4) == expected
            assert await _pages(store, scope, 25) == expected
            assert not (await store.reading.page(scope, Filters(), None, 25)).more

    async def test_a_page_carries_the_cursor_it_was_read_at(self, store: Store) -> None:
        await write(store, Writes(new_tasks=[samples.a_task()], entries=[samples.an_entry()] * 3))
        page = await store.reading.page(ALL, Filters(), None, 1)
        assert (page.epoch, page.cursor) == (await store.epoch(), 3)

    @pytest.mark.parametrize(
        "scope, seen",
        [
            (Scope(TENANT, "ann"), {"a", "ab", "aq"}),
            (Scope(TENANT, "ann", frozenset({"q"})), {"a", "ab", "aq", "bq"}),
            (Scope(TENANT, "ann", frozenset({"p", "q", "none"})), {"a", "ab", "aq", "bq", "bp"}),
            (Scope(TENANT, "nobody", frozenset({"p"})), {"ab", "bp"}),
            (Scope(TENANT, "nobody"), set[str]()),
            (Scope(TENANT, "nobody", everything=True), {"a", "ab", "aq", "bq", "bp", "b"}),
            (Scope("elsewhere", "ann", frozenset({"p", "q"}), everything=True), set[str]()),
            (Scope(TENANT, "Ann"), set[str]()),
        ],
    )
    async def test_a_scope_sees_its_own_and_its_projects_tasks(
        self, store: Store, scope: Scope, seen: set[str]
    ) -> None:
        await write(store, Writes(new_tasks=_owned()))
        assert {task.task_id for task in await _page(store, scope, Filters())} == seen
        assert {task.task_id for task in _owned() if scope.covers(task)} == seen

    async def test_a_scope_of_very_many_projects_is_one_list(self, store: Store) -> None:
        projects = [f"p-{number}" for number in range(75)]
        tasks = [samples.bare(one, project_id=one, owner_id="x", created_at=7) for one in projects]
        await write(store, Writes(new_tasks=tasks))
        page = await store.reading.page(Scope(TENANT, "me", frozenset(projects)), Filters(), None, 70)
        assert [task.task_id for task in page.tasks] == sorted(projects)[:4:-1]
        assert page.more

    @pytest.mark.parametrize(
        "scope", [ALL, OWN, Scope(TENANT, "x", frozenset({"project"}))], ids=["all", "own", "project"]
    )
    @pytest.mark.parametrize(
        "filters",
        [
            Filters(lifecycle="FAILED"),
            Filters(task_type="OTHER"),
            Filters(updated_after=50),
            Filters(text="needle"),
            Filters(lifecycle="FAILED", task_type="OTHER", updated_after=50, text="needle", project_id="project"),
        ],
    )
    async def test_a_filter_leaves_out_what_it_does_not_name(
        self, store: Store, scope: Scope, filters: Filters
    ) -> None:
        match = samples.a_task("match", lifecycle="FAILED", task_type="OTHER", updated_at=51, title="a Needle here")
        other = samples.a_task("other", updated_at=50)
        await write(store, Writes(new_tasks=[match, other]))
        assert await _page(store, scope, filters) == [match]

    async def test_a_project_filter_shows_that_project_only_as_far_as_the_scope_goes(self, store: Store) -> None:
        await write(store, Writes(new_tasks=_owned()))
        for scope, seen in (
            (Scope(TENANT, "ann"), {"ab"}),
            (Scope(TENANT, "ann", frozenset({"p"})), {"ab", "bp"}),
            (Scope(TENANT, "ann", everything=True), {"ab", "bp"}),
        ):
            assert {task.task_id for task in await _page(store, scope, Filters(project_id="p"))} == seen

    @pytest.mark.parametrize(
        "text, found",
        [
            ("100%", {"percent"}),
            ("_", {"under_score"}),
            ("!", {"bang"}),
            ("!%", set[str]()),
            ("\\", {"backslash"}),
            ("ÉTÉ", {"summer", "decomposed"}),
            ("e\u0301te\u0301", {"summer", "decomposed"}),
            ("STRASSE", {"street"}),
            ("🚀", {"rocket"}),
            ("BANG", {"bang"}),
            ("", {"percent", "plain", "under_score", "bang", "backslash", "summer", "decomposed", "street", "rocket"}),
        ],
    )
    async def test_a_search_takes_text_as_it_is_and_ignores_case(
        self, store: Store, text: str, found: set[str]
    ) -> None:
        titles = {
            "percent": "100% done",
            "plain": "1000 done",
            "under_score": "under-score",
            "bang": "hey!",
            "backslash": "a\\b",
            "summer": "l'été",
            "decomposed": "l'e\u0301te\u0301",
            "street": "Straße",
            "rocket": "to 🚀 go",
        }
        await write(store, Writes(new_tasks=[samples.a_task(one, title=title) for one, title in titles.items()]))
        assert {task.task_id for task in await _page(store, ALL, Filters(text=text))} == found

    async def test_a_deleted_task_leaves_the_lists_and_keeps_its_tombstone(self, store: Store) -> None:
        await write(store, Writes(new_tasks=[samples.a_task(), samples.a_task("task-2")]))
        await write(store, Writes(tasks=[samples.a_task(deleted_at=9, version=12)]))
        for scope in (ALL, OWN, Scope(TENANT, "x", frozenset({"project"}))):
            assert [task.task_id for task in await _page(store, scope, Filters())] == ["task-2"]
        page = await store.reading.page(ALL, Filters(), (2, ""), 9)
        assert [task.task_id for task in page.tasks] == ["task-2"]
        found = await store.reading.snapshot(KEY)
        assert found is not None
        assert found.task.deleted_at == 9

    async def test_a_task_nobody_made_has_no_snapshot(self, store: Store) -> None:
        assert await store.reading.snapshot(KEY) is None
        assert await store.reading.snapshots(TENANT, ["task-1"], steps=True) == {}
        assert await store.reading.snapshots(TENANT, [], steps=True) == {}

    async def test_steps_come_by_ordinal_and_attempts_newest_first(self, store: Store) -> None:
        steps = [
            samples.a_step("b", ordinal=0, attempt=2),
            samples.a_step("b", ordinal=0, attempt=1, current=False),
            samples.a_step("a", ordinal=1, attempt=10),
            samples.a_step("a", ordinal=1, attempt=9, current=False),
        ]
        await write(
            store, Writes(new_tasks=[samples.a_task()], new_steps=steps[::-1], entries=[samples.an_entry()] * 2)
        )
        everything = await store.reading.snapshot(KEY, all_attempts=True)
        current = await store.reading.snapshot(KEY)
        assert everything is not None
        assert current is not None
        assert everything.steps == tuple(steps)
        assert current.steps == (steps[0], steps[2])
        assert (current.cursor, current.epoch) == (2, await store.epoch())

    async def test_many_snapshots_come_with_steps_only_if_asked_for(self, store: Store) -> None:
        ids = [f"task-{number}" for number in range(130)]
        await write(
            store,
            Writes(
                new_tasks=[samples.bare(one) for one in ids], new_steps=[samples.bare_step(task_id=one) for one in ids]
            ),
        )
        with_steps = await store.reading.snapshots(TENANT, [*ids, "unknown"], steps=True)
        without = await store.reading.snapshots(TENANT, ids, steps=False)
        assert with_steps.keys() == without.keys() == set(ids)
        assert all(one.steps == (samples.bare_step(task_id=one.task.task_id),) for one in with_steps.values())
        assert all(one.steps == () for one in without.values())

    async def test_a_timeline_goes_on_after_a_version_and_names_the_oldest_it_has(self, store: Store) -> None:
        await write(store, Writes(events=[samples.an_event(version=version) for version in range(3, 9)]))
        await write(store, Writes(events=[samples.an_event("task-2", version=1)]))
        timeline = await store.reading.timeline(KEY, 4, 3)
        assert [event.task_version for event in timeline.events] == [5, 6, 7]
        assert timeline.oldest == 3
        empty = await store.reading.timeline(TaskKey(TENANT, "unknown"), 0, 3)
        assert (empty.events, empty.oldest) == ((), None)

    async def test_events_are_found_by_the_versions_they_made_across_tasks_and_tenants(self, store: Store) -> None:
        events = [samples.an_event(f"task-{task}", version) for task in range(10) for version in range(1, 11)]
        foreign = samples.an_event("task-1", 1, tenant_id="other")
        await write(store, Writes(events=[*events, foreign]))
        wanted = {
            (TaskKey(event.tenant_id, event.task_id), event.task_version): event for event in [*events[:99], foreign]
        }
        assert await store.reading.events_at([*wanted, (KEY, 99)]) == wanted
        assert await store.reading.events_at([]) == {}

    async def test_steps_whose_progress_waits_are_found_longest_first(self, store: Store) -> None:
        pending = samples.a_step().pending
        assert pending is not None
        steps = [samples.a_step(f"s{since}", pending=_since(since)) for since in (30, 10, 20)]
        await write(store, Writes(new_tasks=[samples.a_task()], new_steps=[*steps, samples.bare_step()]))
        assert await store.reading.pending(20, 9) == (PendingStep(KEY, "s10"), PendingStep(KEY, "s20"))
        assert await store.reading.pending(99, 1) == (PendingStep(KEY, "s10"),)
        await write(store, Writes(steps=[samples.a_step("s10", pending=None)]))
        assert await store.reading.pending(20, 9) == (PendingStep(KEY, "s20"),)


def _since(since: int) -> object:
    return samples.Pending("event", since, 1, 2, 1, 3)


def _owned() -> list[Task]:
    owners = {
        "a": ("ann", None),
        "ab": ("ann", "p"),
        "aq": ("ann", "q"),
        "bq": ("bob", "q"),
        "bp": ("bob", "p"),
        "b": ("bob", None),
    }
    return [samples.bare(one, owner_id=owner, project_id=project) for one, (owner, project) in owners.items()]


async def _page(store: Store, scope: Scope, filters: Filters) -> list[Task]:
    return list((await store.reading.page(scope, filters, None, 50)).tasks)


async def _pages(store: Store, scope: Scope, limit: int) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    more = True
    while more:
        page = await store.reading.page(scope, Filters(), found[-1] if found else None, limit)
        found += [(task.created_at, task.task_id) for task in page.tasks]
        more = page.more
    return found

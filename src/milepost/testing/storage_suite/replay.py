"""What viewers missed: the stream log by position, and the tasks that changed after one."""

import pytest

from milepost.domain.events import StreamEntry
from milepost.ports.reading import Scope
from milepost.ports.storage import Writes
from milepost.ports.stream import Window
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.fixture import OnSite
from milepost.testing.storage_suite.site import TENANT, Store, write

ALL = Scope(TENANT, "admin", everything=True)

AUDIENCES: list[tuple[str | None, str | None]] = [
    ("ann", None),
    ("ann", "p"),
    ("bob", "p"),
    ("bob", "q"),
    ("bob", None),
    (None, "p"),
    (None, None),
]
"""Who learns of the entries at positions 1, 2, 3 …"""


class ReplaySuite(OnSite):
    """In position order, for one scope."""

    async def test_the_windows_of_several_tenants_come_at_once(self, store: Store) -> None:
        await store.access.add_tenant("other", 0)
        await write(store, Writes(entries=[samples.an_entry()] * 2))
        tops = await store.stream_log.tops([TENANT, "other", "unknown"])
        assert tops.windows == {TENANT: Window(2, 0), "other": Window(0, 0)}
        assert tops.epoch == await store.epoch()
        assert (await store.stream_log.tops([])).windows == {}

    async def test_entries_are_cut_by_both_ends_and_by_the_limit(self, store: Store) -> None:
        await write(store, Writes(entries=[samples.an_entry(f"task-{number}") for number in range(10)]))
        for after, upto, limit, seen in (
            (0, 99, 99, range(1, 11)),
            (3, 7, 99, range(4, 8)),
            (3, 7, 2, range(4, 6)),
            (9, 9, 9, ()),
        ):
            found = await store.stream_log.entries(TENANT, after, upto, limit)
            assert [one.position for one in found] == list(seen)
        assert await store.stream_log.entries("unknown", 0, 99, 99) == ()

    @pytest.mark.parametrize(
        "scope, seen",
        [
            (Scope(TENANT, "ann"), [1, 2, 7]),
            (Scope(TENANT, "ann", frozenset({"p"})), [1, 2, 3, 6, 7]),
            (Scope(TENANT, "ann", frozenset({"p", "q", "r"})), [1, 2, 3, 4, 6, 7]),
            (Scope(TENANT, "nobody", frozenset({"p"})), [2, 3, 6, 7]),
            (Scope(TENANT, "nobody", frozenset(f"n{number}" for number in range(70)) | {"q"}), [4, 7]),
            (ALL, [1, 2, 3, 4, 5, 6, 7]),
            (None, [1, 2, 3, 4, 5, 6, 7]),
        ],
    )
    async def test_a_scope_learns_of_its_own_its_projects_and_everybodys_entries(
        self, store: Store, scope: Scope | None, seen: list[int]
    ) -> None:
        await write(store, Writes(entries=[_for(*audience) for audience in AUDIENCES]))
        assert [one.position for one in await store.stream_log.entries(TENANT, 0, 99, 99, scope)] == seen
        assert [one.position for one in await store.stream_log.entries(TENANT, 2, 6, 2, scope)] == [
            position for position in seen if 2 < position <= 6
        ][:2]

    async def test_changes_are_each_task_once_by_its_newest_entry(self, store: Store) -> None:
        tasks = {one: samples.a_task(one) for one in ("a", "b", "c")}
        await write(
            store, Writes(new_tasks=list(tasks.values()), entries=[samples.an_entry(one) for one in ("a", "b", "c")])
        )
        await write(
            store, Writes(tasks=[tasks["b"], tasks["a"]], entries=[samples.an_entry(one) for one in ("b", "a")])
        )
        for scope in (ALL, Scope(TENANT, "owner"), Scope(TENANT, "x", frozenset({"project"}))):
            changes = await store.reading.changes(scope, 0, 9)
            assert [(task.task_id, task.last_position) for task in changes.tasks] == [("c", 3), ("b", 4), ("a", 5)]
            assert (changes.next, changes.floor, changes.top, changes.epoch) == (5, 0, 5, await store.epoch())
            assert [task.task_id for task in (await store.reading.changes(scope, 4, 9)).tasks] == ["a"]

    async def test_changes_go_on_where_the_limit_cut_them(self, store: Store) -> None:
        ids = [f"task-{number:02}" for number in range(10)]
        await write(
            store, Writes(new_tasks=[samples.bare(one) for one in ids], entries=[samples.an_entry(one) for one in ids])
        )
        seen: list[str] = []
        place = 0
        while (changes := await store.reading.changes(Scope(TENANT, "owner"), place, 3)).tasks:
            seen += [task.task_id for task in changes.tasks]
            place = changes.next
        assert seen == ids
        assert place == 10

    async def test_a_very_busy_task_does_not_hide_the_others(self, store: Store) -> None:
        busy, quiet = samples.a_task("busy"), samples.a_task("quiet")
        entries = [samples.an_entry("busy")] * 700 + [samples.an_entry("quiet")] + [samples.an_entry("busy")] * 700
        await write(store, Writes(new_tasks=[busy, quiet], entries=entries))
        changes = await store.reading.changes(ALL, 0, 9)
        assert [(task.task_id, task.last_position) for task in changes.tasks] == [("quiet", 701), ("busy", 1401)]

    async def test_removed_tasks_are_named_and_nothing_more(self, store: Store) -> None:
        await write(store, Writes(new_tasks=[samples.a_task()], entries=[samples.an_entry()]))
        gone = samples.an_entry(kind="task.removed", version=12)
        await write(store, Writes(tasks=[samples.a_task(deleted_at=9)], entries=[gone]))
        for scope, removed in ((ALL, ("task-1",)), (Scope(TENANT, "owner"), ("task-1",)), (Scope(TENANT, "x"), ())):
            changes = await store.reading.changes(scope, 0, 9)
            assert (changes.tasks, changes.removed, changes.next) == ((), removed, 2)

    async def test_what_others_changed_moves_the_place_and_shows_nothing(self, store: Store) -> None:
        await write(store, Writes(new_tasks=[samples.a_task()], entries=[samples.an_entry(), _for(None, None)]))
        changes = await store.reading.changes(Scope(TENANT, "stranger"), 0, 9)
        assert (changes.tasks, changes.removed, changes.next) == ((), (), 2)


def _for(user: str | None, project: str | None) -> StreamEntry:
    return StreamEntry(TENANT, "broadcast", 1, audience_user=user, audience_project=project, body="{}")

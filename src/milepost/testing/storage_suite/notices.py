"""The notification centre, members of projects, broadcasts to everyone."""

import pytest
from msgspec.structs import replace

from milepost.domain.notices import Notification, Preferences
from milepost.ports.access import Membership, UserSession
from milepost.ports.notices import Broadcast, ReadMark
from milepost.ports.storage import ResultKey, Transaction, Wanted, Writes
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.fixture import OnSite
from milepost.testing.storage_suite.site import TENANT, Store, broken, known, write

NOON = Broadcast("noon", "WARNING", "Maintenance 🚀", "At noon.\u2028", 100, 7)


def kept(version: int, **changes: object) -> Notification:
    """A row of the owner; every optional field is set."""
    row = Notification(
        tenant_id=TENANT,
        user_id="ann",
        position=0,
        notice_id=f"e:task-1:{version}:x",
        task_id="task-1",
        task_version=version,
        project_id="p",
        type="task.failed",
        level="ERROR",
        title="Ünïcode",
        message="It broke.",
        operation_code="OP",
        error_code="BROKEN",
        retryable=True,
        requires_action=False,
        actions=("DECIDE",),
        created_at=5,
    )
    return replace(row, **changes)


async def keep(store: Store, *rows: Notification) -> None:
    """Writes rows, each with its entry."""
    for row in rows:
        entry = samples.an_entry(row.task_id, version=row.task_version)
        await write(store, Writes(entries=[entry], notifications=[row]))


async def mark(store: Store, **what: object) -> int:
    """Marks as read for ann."""
    said = replace(ReadMark(TENANT, "ann", 50), **what)
    return await store.transaction(lambda transaction: transaction.mark_read(said))


async def member(
    store: Store, granted: tuple[str, ...] = (), revoked: tuple[str, ...] = (), project: str = "p"
) -> None:
    """Changes a project's members."""
    await write(store, Writes(memberships=[Membership(TENANT, project, granted, revoked, 5)]))


class NoticeSuite(OnSite):
    """What is kept for people, and who belongs to what."""

    async def test_a_notification_comes_back_as_it_went_in_at_its_entrys_position(self, store: Store) -> None:
        bare = kept(2, project_id=None, operation_code=None, error_code=None, retryable=False, actions=())
        await keep(store, kept(1), bare)
        page = await store.notices.page(TENANT, "ann", unread=False, before=None, limit=9)
        assert page.items == (replace(bare, position=2), replace(kept(1), position=1))
        assert (page.more, page.unread, page.cursor, page.epoch) == (False, 2, 2, await store.epoch())

    async def test_a_notification_goes_with_its_transaction(self, store: Store) -> None:
        writes = Writes(entries=[samples.an_entry(version=1)], notifications=[kept(1)])
        with pytest.raises(ZeroDivisionError):
            await store.transaction(lambda transaction: broken(transaction, writes))
        assert (await store.notices.page(TENANT, "ann", unread=False, before=None, limit=9)).items == ()

    async def test_pages_go_on_below_a_position_and_are_one_users_alone(self, store: Store) -> None:
        await keep(store, *(kept(version) for version in range(1, 6)), kept(6, user_id="bob"))
        first = await store.notices.page(TENANT, "ann", unread=False, before=None, limit=3)
        rest = await store.notices.page(TENANT, "ann", unread=False, before=first.items[-1].position, limit=3)
        assert [row.task_version for row in (*first.items, *rest.items)] == [5, 4, 3, 2, 1]
        assert (first.more, rest.more, first.unread) == (True, False, 5)
        assert (await store.notices.page("other", "ann", unread=False, before=None, limit=3)).items == ()

    async def test_marking_counts_what_was_unread_and_touches_nobody_else(self, store: Store) -> None:
        await keep(store, *(kept(version) for version in range(1, 6)), kept(6, user_id="bob"))
        assert await mark(store, ids=(kept(2).notice_id, kept(6).notice_id, "unknown", kept(2).notice_id)) == 1
        assert await mark(store, ids=(kept(2).notice_id,)) == 0
        assert await mark(store, up_to=3) == 2
        unread = await store.notices.page(TENANT, "ann", unread=True, before=None, limit=9)
        assert [row.task_version for row in unread.items] == [5, 4]
        everything = await store.notices.page(TENANT, "ann", unread=False, before=None, limit=9)
        assert [row.read_at for row in everything.items] == [None, None, 50, 50, 50]
        assert (await store.notices.page(TENANT, "bob", unread=True, before=None, limit=9)).unread == 1

    async def test_preferences_are_kept_for_each_user_and_filter_what_is_read(self, store: Store) -> None:
        await keep(store, kept(1), kept(2, type="task.succeeded", level="INFO"))
        assert await store.notices.preferences(TENANT, "ann") == Preferences()
        for wished, left in (
            (Preferences("ERROR"), [1]),
            (Preferences("INFO", frozenset({"task.failed"})), [2]),
            (Preferences("ERROR", frozenset({"step.failed", "task.failed", "task.timed_out"})), []),
        ):
            await store.notices.prefer(TENANT, "ann", wished, 5)
            assert await store.notices.preferences(TENANT, "ann") == wished
            page = await store.notices.page(TENANT, "ann", unread=False, before=None, limit=9)
            assert ([row.task_version for row in page.items], page.unread) == (left, len(left))
        assert await store.notices.preferences(TENANT, "bob") == Preferences()

    async def test_claims_count_until_members_are_kept_and_then_members_alone(self, store: Store) -> None:
        assert await store.access.projects_of(TENANT, "ann", {"p", "q"}) == {"p", "q"}
        await member(store, ("bob",))
        assert await store.access.projects_of(TENANT, "ann", {"p", "q"}) == {"q"}
        assert await store.access.projects_of(TENANT, "bob", ()) == {"p"}
        assert await store.access.projects_of("other", "bob", {"p"}) == {"p"}
        await member(store, ("ann",), ("bob",))
        assert await store.access.projects_of(TENANT, "ann", ()) == {"p"}
        assert await store.access.projects_of(TENANT, "bob", {"p"}) == set()
        many = {f"n{number}" for number in range(200)}
        assert await store.access.projects_of(TENANT, "bob", many | {"p"}) == many

    async def test_members_are_none_until_they_are_kept_and_may_be_nobody(self, store: Store) -> None:
        async def read(transaction: Transaction) -> frozenset[str] | None:
            return await transaction.members(TENANT, "p")

        assert await store.transaction(read) is None
        await member(store)
        assert await store.transaction(read) == frozenset()
        await member(store, ("ann", "bob"))
        assert await store.transaction(read) == {"ann", "bob"}

    async def test_claimants_are_those_of_sessions_in_force(self, store: Store) -> None:
        for name, projects, expires, revoked in (
            ("ann", {"p", "q"}, 50, None),
            ("bob", {"q"}, 50, None),
            ("cid", {"p"}, 20, None),
            ("dan", {"p"}, 50, 9),
        ):
            secret = name.encode() * 10
            session = UserSession(name, secret, TENANT, name, frozenset(projects), frozenset(), 1, expires, revoked)
            await store.access.add_session(session)
        found = await store.transaction(lambda transaction: transaction.claimants(TENANT, "p", 20))
        assert found == {"ann"}

    async def test_broadcasts_are_in_force_until_their_end_and_once_by_their_id(self, store: Store) -> None:
        later = replace(NOON, broadcast_id="later", created_at=8, valid_until=200)
        await write(store, Writes(broadcasts=[later, NOON]))
        await write(store, Writes(broadcasts=[replace(NOON, title="again")]))
        assert await store.notices.in_force(99) == (NOON, later)
        assert await store.notices.in_force(100) == (later,)

    async def test_old_results_of_commands_about_no_task_are_forgotten_and_no_other(self, store: Store) -> None:
        results = [
            replace(samples.a_result(), idempotency_key=key, task_id=task_id, created_at=at)
            for key, task_id, at in (("old", "", 1), ("new", "", 2), ("task", "task-1", 1))
        ]
        await write(store, Writes(results=results))
        await store.transaction(lambda transaction: transaction.forget_results(TENANT, 2))
        keys = [ResultKey(TENANT, "credential", key) for key in ("old", "new", "task")]
        assert set((await known(store, Wanted(results=keys))).results) == set(keys[1:])

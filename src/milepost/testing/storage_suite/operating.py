"""Conflicts, the audit log and the figures of a tenant."""

import asyncio

import pytest

from milepost.domain.events import Evidence
from milepost.ports.access import AuditEntry
from milepost.ports.operating import Conflict, Resolution
from milepost.ports.storage import Writes
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.fixture import OnSite
from milepost.testing.storage_suite.site import TENANT, Store, broken, write

ENTRY = AuditEntry(TENANT, "op", "task.corrected", "task-1", '{"old":"é"}', 7)


def contradiction(event_id: str, received_at: int, tenant_id: str = TENANT) -> Evidence:
    """A terminal that contradicted an end."""
    return samples.an_evidence(event_id, reason="CONFLICTING_TERMINAL", received_at=received_at, tenant_id=tenant_id)


class OperatingSuite(OnSite):
    """What operators read and settle."""

    async def test_only_contradictions_are_conflicts_and_the_newest_comes_first(self, store: Store) -> None:
        found = [contradiction("b", 5), contradiction("a", 5), contradiction("c", 9)]
        await write(store, Writes(evidence=[*found, samples.an_evidence("d"), contradiction("x", 9, "other")]))
        listed = await store.operating.conflicts(TENANT, "OPEN", None, 9)
        assert [conflict.evidence for conflict in listed] == [found[2], found[0], found[1]]
        assert listed[0] == Conflict(found[2], "OPEN")
        rest = await store.operating.conflicts(TENANT, None, (5, "b"), 9)
        assert [conflict.evidence.event_id for conflict in rest] == ["a"]
        assert len(await store.operating.conflicts(TENANT, "OPEN", (9, "c"), 1)) == 1

    async def test_a_conflict_is_settled_once_with_one_audit_entry_however_many_try(self, store: Store) -> None:
        await write(store, Writes(evidence=[contradiction("a", 5)]))
        tries = [Resolution(TENANT, "a", f"op-{number}", f"note {number}", number) for number in range(5)]
        settled = await asyncio.gather(*map(store.operating.resolve, tries))
        assert len(set(map(repr, settled))) == 1
        first = settled[0]
        assert first is not None
        assert first.state == "RESOLVED"
        assert (first.resolved_by, first.note) == (f"op-{first.resolved_at}", f"note {first.resolved_at}")
        assert await store.operating.conflicts(TENANT, "OPEN", None, 9) == ()
        assert await store.operating.conflicts(TENANT, "RESOLVED", None, 9) == (first,)
        assert len(await store.operating.audited(TENANT, None, 9)) == 1

    async def test_nobody_settles_what_is_no_conflict_or_another_tenants(self, store: Store) -> None:
        await write(store, Writes(evidence=[samples.an_evidence("a"), contradiction("b", 5)]))
        assert await store.operating.resolve(Resolution(TENANT, "a", "op", "x", 1)) is None
        assert await store.operating.resolve(Resolution("other", "b", "op", "x", 1)) is None
        assert await store.operating.audited(TENANT, None, 9) == ()

    async def test_the_same_contradiction_again_leaves_a_settled_conflict_settled(self, store: Store) -> None:
        await write(store, Writes(evidence=[contradiction("a", 5)]))
        settled = await store.operating.resolve(Resolution(TENANT, "a", "op", "x", 1))
        await write(store, Writes(evidence=[contradiction("a", 6)]))
        assert await store.operating.conflicts(TENANT, None, None, 9) == (settled,)

    async def test_what_a_command_audits_is_committed_with_it_or_not_at_all(self, store: Store) -> None:
        with pytest.raises(ZeroDivisionError):
            await store.transaction(lambda transaction: broken(transaction, Writes(audits=[ENTRY])))
        assert await store.operating.audited(TENANT, None, 9) == ()
        await write(store, Writes(audits=[ENTRY, ENTRY]))
        assert [found.entry for found in await store.operating.audited(TENANT, None, 9)] == [ENTRY, ENTRY]

    async def test_the_audit_log_is_read_newest_first_in_pages(self, store: Store) -> None:
        for number in range(5):
            await store.access.audit(AuditEntry(TENANT, "op", "x", str(number), "{}", 7))
        await store.access.audit(AuditEntry("other", "op", "x", "", "{}", 7))
        page = await store.operating.audited(TENANT, None, 2)
        rest = await store.operating.audited(TENANT, page[-1].number, 9)
        assert [found.entry.subject for found in (*page, *rest)] == ["4", "3", "2", "1", "0"]

    async def test_figures_count_what_is_there_now_in_one_tenant(self, store: Store) -> None:
        tasks = [
            samples.a_task("k1", lifecycle="RUNNING", health="STALE", deleted_at=None),
            samples.a_task("k2", lifecycle="RUNNING", health="HEALTHY", deleted_at=None),
            samples.a_task("k3", lifecycle="FAILED", health="DEGRADED", deleted_at=None),
            samples.a_task("k4", lifecycle="FAILED", health="DEGRADED", deleted_at=9),
            samples.a_task("k5", tenant_id="other", deleted_at=None),
        ]
        await write(store, Writes(new_tasks=tasks, evidence=[contradiction("a", 5), contradiction("b", 5)]))
        await store.operating.resolve(Resolution(TENANT, "a", "op", "x", 1))
        found = await store.operating.figures(TENANT)
        assert (found.tasks, found.unfinished) == ({"RUNNING": 2, "FAILED": 1}, {"STALE": 1, "HEALTHY": 1})
        assert found.open_conflicts == 1
        assert (await store.operating.figures("nobody")).tasks == {}

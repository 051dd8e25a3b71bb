"""What a decision depends on besides the rows: remembered answers, owners of sequences, results of commands."""

from typing import Any

from milepost.ports.storage import EventKey, ResultKey, SeqKey, Wanted, Writes
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.fixture import OnSite
from milepost.testing.storage_suite.site import TENANT, Store, known, write


class LookupSuite(OnSite):
    """Exactly what was asked for."""

    async def test_a_sequence_belongs_to_one_step_attempt_and_source_epoch(self, store: Store) -> None:
        mine = SeqKey(TENANT, "task-1", "02_parse", 1, 2, 7)
        event = samples.an_event(event_id="owner", source_seq=7)
        await write(store, Writes(events=[event]))
        others = [
            mine._replace(tenant_id="other"),
            mine._replace(task_id="task-2"),
            mine._replace(step_id="03_store"),
            mine._replace(step_id=None),
            mine._replace(attempt=2),
            mine._replace(source_epoch=1),
            mine._replace(source_seq=8),
        ]
        assert (await known(store, Wanted(sequences=[mine, *others]))).owners == {mine: "owner"}

    async def test_the_same_sequence_in_other_attempts_and_epochs_has_other_owners(self, store: Store) -> None:
        keys = [SeqKey(TENANT, "task-1", "02_parse", attempt, epoch, 7) for attempt in (1, 2) for epoch in (1, 2)]
        events = [
            samples.an_event(
                version=version,
                event_id=f"e{version}",
                step_attempt=key.attempt,
                source_epoch=key.source_epoch,
                source_seq=7,
            )
            for version, key in enumerate(keys)
        ]
        await write(store, Writes(events=events))
        owners = (await known(store, Wanted(sequences=keys))).owners
        assert owners == {key: f"e{version}" for version, key in enumerate(keys)}

    async def test_a_coordinators_sequence_counts_inside_a_task_attempt(self, store: Store) -> None:
        task_fact: dict[str, Any] = {"step_id": None, "step_attempt": None, "source_epoch": None, "source_seq": 7}
        first = samples.an_event(version=1, event_id="first", **task_fact, task_attempt=1)
        second = samples.an_event(version=2, event_id="second", **task_fact, task_attempt=2)
        step = samples.an_event(version=3, event_id="step", source_seq=7, source_epoch=0)
        await write(store, Writes(events=[first, second, step]))
        keys = [SeqKey(TENANT, "task-1", None, attempt, 0, 7) for attempt in (1, 2, 3)]
        owners = (await known(store, Wanted(sequences=keys))).owners
        assert owners == {keys[0]: "first", keys[1]: "second"}

    async def test_an_answer_belongs_to_its_tenant(self, store: Store) -> None:
        await write(store, Writes(answers=[samples.an_answer()]))
        keys = [EventKey("other", "event-1"), EventKey(TENANT, "event-2")]
        assert (await known(store, Wanted(events=keys))).answers == {}

    async def test_a_result_belongs_to_its_tenant_and_credential(self, store: Store) -> None:
        await write(store, Writes(results=[samples.a_result(), samples.a_result(credential_id="second")]))
        keys = [
            ResultKey(tenant, who, "key-1") for tenant in (TENANT, "other") for who in ("credential", "second", "x")
        ]
        assert set((await known(store, Wanted(results=keys))).results) == {keys[0], keys[1]}
        assert await store.reading.result(keys[-1]) is None

    async def test_evidence_is_kept_once_per_event_and_reason_and_the_first_stands(self, store: Store) -> None:
        first = samples.an_evidence(received_at=1)
        again = samples.an_evidence(received_at=2)
        other = samples.an_evidence(reason="TERMINAL", received_at=3)
        await write(store, Writes(evidence=[first, again]))
        await write(store, Writes(evidence=[again, other]))
        assert await store.reading.evidence(samples.a_task().key, 9) == (other, first)
        assert await store.reading.evidence(samples.a_task().key, 1) == (other,)

    async def test_the_clock_and_the_epoch_come_with_what_is_known(self, store: Store) -> None:
        found = await known(store, Wanted())
        assert found.now > 0
        assert found.epoch == await store.epoch()

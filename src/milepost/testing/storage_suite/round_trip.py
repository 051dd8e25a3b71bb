"""What is read is exactly what was written."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from milepost.domain.events import Event, PrivateFacts, PublicFacts, StreamEntry
from milepost.domain.state import Step, Task, TaskKey
from milepost.domain.values import Data, Progress
from milepost.ports.storage import EventKey, ResultKey, Wanted, Writes
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.fixture import OnSite
from milepost.testing.storage_suite.samples import LARGEST, LONGEST_ID
from milepost.testing.storage_suite.site import TENANT, Store, known, locked, write

KEY = TaskKey(TENANT, "task-1")

TEXTS = {
    "four bytes": "🚀" * 500,
    "replacement": "a\ufffdb\ufffd",
    "long": "é" * 2_000,
    "combining": "e" + "\u0301" * 1_999,
    "not a character": "\ufffe\uffff",
    "controls": "\x01\t\r\n\x1e\x1f\x7f\u2028\u2029",
    "quoting": """'"`;--%_\\!?:name$1{}""",
    "directions": "\u202eabc\u200f\u200b",
    "spaces": "  both ends  ",
    "empty": "",
    "composed and not": "\u00e9 e\u0301",
}

NUMBERS = [0, 1, 1.0, -0.0, 0.1 + 0.2, 0.3, 1e-300, 1.7976931348623157e308, 2**53 - 1, -(2**53) + 1, True, False, None]


class RoundTripSuite(OnSite):
    """Every field of every value, in every direction."""

    async def test_a_task_and_its_steps_come_back_as_they_went_in(self, store: Store) -> None:
        for task, step in (
            (samples.a_task(), samples.a_step()),
            (samples.bare("bare"), samples.bare_step(task_id="bare")),
        ):
            await write(store, Writes(new_tasks=[task], new_steps=[step]))
            assert await _by_lock(store, task.key) == (task, [step])
            assert await _by_snapshot(store, task.key) == (task, [step])

    async def test_an_update_replaces_every_field_that_may_change(self, store: Store) -> None:
        await write(store, Writes(new_tasks=[samples.a_task()], new_steps=[samples.a_step()]))
        fixed = {"owner_id": "owner", "project_id": "project", "definition_id": "definition-1"}
        task = samples.bare(**fixed, lifecycle="FAILED", version=12, updated_at=99, attempt=3, last_position=5)
        step = samples.bare_step(lifecycle="FAILED", version=7, current=False, source_epoch=3, started_derived=False)
        await write(store, Writes(tasks=[task], steps=[step]))
        found = await store.reading.snapshot(KEY, all_attempts=True)
        assert found is not None
        assert (found.task, found.steps) == (task, (step,))

    async def test_an_update_touches_no_other_row(self, store: Store) -> None:
        others = [samples.a_task(task_id) for task_id in ("task-0", "task-10", "Task-1", "task-1~20")]
        steps = [samples.a_step("other"), samples.a_step(attempt=9, current=False), samples.a_step(task_id="task-10")]
        await write(store, Writes(new_tasks=[samples.a_task(), *others], new_steps=[samples.a_step(), *steps]))
        await write(
            store, Writes(tasks=[samples.a_task(title="x", version=12)], steps=[samples.a_step(message="changed")])
        )
        found = await store.reading.snapshots(TENANT, [task.task_id for task in others], steps=False)
        assert {one.task_id: found[one.task_id].task for one in others} == {one.task_id: one for one in others}
        everything = await store.reading.snapshot(KEY, all_attempts=True)
        assert everything is not None
        assert {step.message for step in everything.steps if step in steps} == {samples.a_step().message}

    async def test_an_event_comes_back_as_it_went_in(self, store: Store) -> None:
        full = samples.an_event(version=1)
        empty = samples.an_event(version=2, **_nothing(Event), public=PublicFacts(), private=PrivateFacts())
        largest = samples.an_event(version=LARGEST)
        await write(store, Writes(new_tasks=[samples.a_task()], events=[full, empty, largest]))
        assert (await store.reading.timeline(KEY, 0, 10)).events == (full, empty, largest)
        assert await store.reading.events_at([(KEY, 2), (KEY, LARGEST), (KEY, 3)]) == {
            (KEY, 2): empty,
            (KEY, LARGEST): largest,
        }

    async def test_evidence_answers_and_results_come_back_as_they_went_in(self, store: Store) -> None:
        evidence, answer, result = samples.an_evidence(), samples.an_answer(), samples.a_result()
        await write(store, Writes(evidence=[evidence], answers=[answer], results=[result]))
        event_key, result_key = EventKey(TENANT, "event-1"), ResultKey(TENANT, "credential", "key-1")
        found = await known(store, Wanted(events=[event_key], results=[result_key]))
        assert await store.reading.evidence(KEY, 10) == (evidence,)
        assert (found.answers, found.results) == ({event_key: answer}, {result_key: result})
        assert await store.reading.result(result_key) == result

    async def test_stream_entries_come_back_as_they_went_in(self, store: Store) -> None:
        entries = [
            samples.an_entry(mergeable=True),
            StreamEntry(TENANT, "access.revoked", 5, audience_user="u", body='{"projectId":"p 🚀"}'),
            StreamEntry(TENANT, "task.removed", LARGEST, "task-1", LARGEST, "u"),
        ]
        await write(store, Writes(entries=entries))
        assert [one.entry for one in await store.stream_log.entries(TENANT, 0, 9, 9)] == entries

    @pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
    async def test_text_in_any_script_survives(self, store: Store, text: str) -> None:
        task = samples.a_task(title=text, stage=text, summary=Data(text, {text: text}))
        step = samples.a_step(message=text, stage=text, data=Data("s", [text]))
        event = samples.an_event(public=PublicFacts(message=text), private=PrivateFacts(execution_log_url=text))
        await write(store, Writes(new_tasks=[task], new_steps=[step], events=[event]))
        assert await _by_lock(store, KEY) == (task, [step])
        assert await _by_snapshot(store, KEY) == (task, [step])
        assert (await store.reading.timeline(KEY, 0, 1)).events == (event,)

    @pytest.mark.parametrize("number", NUMBERS, ids=repr)
    async def test_a_number_keeps_its_value_and_its_kind(self, store: Store, number: Any) -> None:
        step = samples.a_step(data=Data("s", {"n": number, "list": [number]}))
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            step = replace(step, progress=Progress(number), weight=number)
        await write(store, Writes(new_tasks=[samples.a_task()], new_steps=[step]))
        _, (found,) = await _by_lock(store, KEY)
        assert msgspec.json.encode(found) == msgspec.json.encode(step)

    async def test_the_order_of_keys_in_a_payload_survives(self, store: Store) -> None:
        data = Data("s", {"b": 1, "a": {"z": 1, "y": 2}, "": 0})
        await write(store, Writes(new_tasks=[samples.a_task(summary=data)]))
        (task, _) = await _by_lock(store, KEY)
        assert msgspec.json.encode(task.summary) == msgspec.json.encode(data)

    async def test_ids_are_compared_byte_for_byte(self, store: Store) -> None:
        ids = ["Evt-A", "evt-a", "EVT-A", "evt-a~20", "evt-a.", "evt-a~", LONGEST_ID, LONGEST_ID.upper()]
        await store.access.add_tenant("ACME", 0)
        for tenant in (TENANT, "ACME"):
            tasks = [samples.bare(one, tenant_id=tenant, title=f"{tenant} {one}") for one in ids]
            answers = [samples.an_answer(one, tenant_id=tenant, answer=f'"{tenant}{one}"'.encode()) for one in ids]
            await write(store, Writes(new_tasks=tasks, answers=answers))
        for tenant in (TENANT, "ACME"):
            found = await store.reading.snapshots(tenant, ids, steps=False)
            assert {one: found[one].task.title for one in ids} == {one: f"{tenant} {one}" for one in ids}
            remembered = (await known(store, Wanted(events=[EventKey(tenant, one) for one in ids]))).answers
            assert {
                key.event_id for key, one in remembered.items() if one.answer == f'"{tenant}{key[1]}"'.encode()
            } == set(ids)
        absent = await known(store, Wanted(events=[EventKey("Acme", "Evt-A"), EventKey(TENANT, "eVT-A")]))
        assert absent.answers == {}


def _nothing(struct: type[Event]) -> dict[str, Any]:
    return {
        field.name: None
        for field in msgspec.structs.fields(struct)
        if type(None) in getattr(field.type, "__args__", ())
    }


async def _by_lock(store: Store, key: TaskKey) -> tuple[Task, list[Step]]:
    state = (await locked(store, key))[key]
    return state.task, list(state.steps.values())


async def _by_snapshot(store: Store, key: TaskKey) -> tuple[Task, list[Step]]:
    found = await store.reading.snapshot(key)
    assert found is not None
    return found.task, list(found.steps)

"""Whatever is written is read back equal, and a batch is the same as its parts."""

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from milepost.domain.events import Event, PrivateFacts, PublicFacts
from milepost.domain.state import Pending, Step, Task
from milepost.domain.values import Data, Failure, Progress, ResultRef, StructuredError
from milepost.ports.storage import EventKey, ResultKey, SeqKey, Wanted, Writes
from milepost.testing.sqlite_site import SqliteSite
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.site import TENANT, known, locked, write

ids = st.text("ABab09._-~", min_size=1, max_size=6)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
integers = st.integers(0, 2**63 - 1)
small = st.integers(0, 2**31 - 1)
numbers = st.integers(0, 2**53 - 1) | st.floats(0, allow_infinity=False, allow_nan=False)
values: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
data = st.builds(Data, texts, values)
progress = st.builds(Progress, numbers, st.none() | numbers, st.none() | texts)
errors = st.builds(StructuredError, st.just("QUOTA"), texts, st.booleans(), st.none() | texts, st.none() | texts)
results = st.builds(ResultRef, texts, st.none() | texts, st.none() | texts, st.none() | integers)
failures = st.builds(Failure, texts, st.none() | texts, st.none() | ids)
pending = st.builds(
    Pending,
    ids,
    integers,
    integers,
    integers,
    integers,
    integers,
    st.booleans(),
    st.none() | progress,
    st.none() | texts,
)

BY_NAME = {
    "summary": data,
    "data": data,
    "result_ref": results,
    "failure": failures,
    "progress": progress,
    "pending": pending,
    "error": errors,
    "weight": numbers,
    "public": st.builds(
        PublicFacts,
        message=st.none() | texts,
        progress=st.none() | progress,
        data=st.none() | data,
        error=st.none() | errors,
    ),
    "private": st.builds(PrivateFacts, trace_id=st.none() | texts, retry_count=st.none() | integers),
    "title": texts,
    "stage": texts,
    "message": texts,
    "data_schema": texts,
    "error_code": texts,
    "attempt": small,
    "task_attempt": small,
    "step_attempt": small,
    "percent": small,
    "ordinal": small,
    "steps_done": small,
    "steps_total": small,
    "definition_version": small,
    "lifecycle": st.sampled_from(["PENDING", "RUNNING", "FAILED"]),
    "step_lifecycle": st.sampled_from(["PENDING", "RUNNING", "FAILED"]),
    "health": st.sampled_from(["HEALTHY", "STALE"]),
    "on_failure": st.sampled_from(["FAIL_TASK", "WAIT_FOR_USER"]),
    "duration_source": st.just("MONOTONIC"),
    "event_type": st.just("STEP_FAILED"),
}


def fields(struct: type[msgspec.Struct], keep: set[str]) -> st.SearchStrategy[dict[str, Any]]:
    """A value for every field that is not a key."""
    made: dict[str, st.SearchStrategy[Any]] = {}
    for field in msgspec.structs.fields(struct):
        options = getattr(field.type, "__args__", (field.type,))
        base = BY_NAME.get(field.name)
        if base is None:
            base = st.booleans() if bool in options else integers if int in options else ids
        made[field.name] = st.none() | base if type(None) in options else base
    return st.fixed_dictionaries({name: one for name, one in made.items() if name not in keep})


TASK_FIELDS = fields(Task, {"tenant_id", "task_id", "last_position"})
STEP_FIELDS = fields(Step, {"tenant_id", "task_id", "step_id", "attempt", "current"})
EVENT_FIELDS = fields(
    Event, {"tenant_id", "task_id", "task_version", "event_id", "source_seq", "source_epoch", "step_attempt"}
)


@st.composite
def writes(draw: st.DrawFn) -> Writes:
    names = draw(st.lists(ids, min_size=1, max_size=4, unique=True))
    made = Writes()
    for number, name in enumerate(names):
        made.new_tasks.append(samples.a_task(name, **draw(TASK_FIELDS)))
        made.new_steps += [
            samples.a_step(step, name, **draw(STEP_FIELDS)) for step in draw(st.lists(ids, max_size=3, unique=True))
        ]
        made.events.append(samples.an_event(name, 1, **draw(EVENT_FIELDS)))
        made.answers.append(samples.an_answer(name, payload_hash=draw(st.binary(min_size=1, max_size=32))))
        made.results.append(
            samples.a_result(name, body_hash=draw(st.binary(min_size=1, max_size=32)), answer=draw(texts).encode())
        )
        made.entries.append(
            samples.an_entry(name, number, audience_user=draw(st.none() | ids), mergeable=draw(st.booleans()))
        )
    return made


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(first=writes(), second=st.data())
def test_random_writes_come_back_equal(empty_file: Path, first: Writes, second: st.DataObject):
    moved = [replace(task, **second.draw(TASK_FIELDS) | fixed(task)) for task in first.new_tasks]
    with tempfile.TemporaryDirectory() as folder:
        site = SqliteSite(Path(shutil.copy(empty_file, Path(folder) / "milepost.db")))
        asyncio.run(_written_and_read(site, first, moved))


def fixed(task: Task) -> dict[str, Any]:
    """What an update may not change."""
    names = ("owner_id", "project_id", "coordinator_id", "created_at", "definition_id")
    return {name: getattr(task, name) for name in names}


async def _written_and_read(site: SqliteSite, first: Writes, moved: list[Task]) -> None:
    async with site.open() as store:
        await store.access.add_tenant(TENANT, 0)
        await write(store, first)
        await _assert_equal(store, first, {task.task_id: index + 1 for index, task in enumerate(first.new_tasks)})
        await write(store, Writes(tasks=moved))
        states = await locked(store, *(task.key for task in moved))
        assert {key: state.task for key, state in states.items()} == {task.key: task for task in moved}


async def _assert_equal(store: Any, wrote: Writes, places: dict[str, int]) -> None:
    tasks = {task.key: replace(task, last_position=places[task.task_id]) for task in wrote.new_tasks}
    states = await locked(store, *tasks)
    assert {key: state.task for key, state in states.items()} == tasks
    steps = sorted((step for state in states.values() for step in state.steps.values()), key=_step_key)
    assert steps == sorted(wrote.new_steps, key=_step_key)
    assert _json(steps) == _json(sorted(wrote.new_steps, key=_step_key))
    events = await store.reading.events_at([(key, 1) for key in tasks])
    assert {event.task_id: event for event in events.values()} == {event.task_id: event for event in wrote.events}
    found = await known(
        store,
        Wanted(
            events=[EventKey(TENANT, answer.event_id) for answer in wrote.answers],
            sequences=[key for event in wrote.events if (key := SeqKey.of(event))],
            results=[ResultKey(TENANT, "credential", result.idempotency_key) for result in wrote.results],
        ),
    )
    assert sorted(map(_json, found.answers.values())) == sorted(map(_json, wrote.answers))
    assert sorted(map(_json, found.results.values())) == sorted(map(_json, wrote.results))
    entries = await store.stream_log.entries(TENANT, 0, 99, 99)
    assert [(one.position, one.entry) for one in entries] == list(enumerate(wrote.entries, 1))


def _step_key(step: Step) -> tuple[str, str]:
    return step.task_id, step.step_id


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value)

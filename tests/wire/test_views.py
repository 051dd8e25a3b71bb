"""What people may see: exactly the published fields, in each projection, and nothing that must stay on the server."""

import json
from typing import Any

import msgspec
import pytest

from milepost.definitions.generic import generic
from milepost.domain.creation import StepDraft, TaskDraft, create
from milepost.domain.decide import decide
from milepost.domain.outcomes import Accepted
from milepost.domain.state import TaskState
from milepost.wire.events import event_body, fact_of
from milepost.wire.messages import TaskDetail, TimelineItem, timeline_item, trigger
from milepost.wire.views import Projection, StepView, TaskView, step_view, task_view

TASK = {
    "id",
    "tenantId",
    "ownerId",
    "projectId",
    "product",
    "taskType",
    "title",
    "lifecycleStatus",
    "businessStatus",
    "health",
    "attempt",
    "version",
    "statusDefinitionVersion",
    "operationDefinitionVersion",
    "progress",
    "currentStep",
    "summaryData",
    "resultRef",
    "failure",
    "cancelRequestedAt",
    "createdAt",
    "startedAt",
    "finishedAt",
    "updatedAt",
    "queueDurationMs",
    "runDurationMs",
    "totalDurationMs",
    "elapsedMs",
    "asOf",
}
STEP = {
    "id",
    "operationCode",
    "producerId",
    "attempt",
    "version",
    "lifecycleStatus",
    "businessStatus",
    "health",
    "lastSeenAt",
    "progress",
    "stage",
    "message",
    "data",
    "error",
    "startedAt",
    "finishedAt",
    "durationMs",
    "durationSource",
    "elapsedMs",
    "asOf",
}
SECRET = "s3cret"
NOW = 1_800_000_000_000


def failed() -> tuple[TaskState, Accepted]:
    """A task with one step that failed with all that a producer may say, and the change that its failure made."""
    rules = generic("T")
    draft = TaskDraft("t1", "k1", "u1", "T", "title", (StepDraft("s1", "OP", "p1"),), project_id="pr1")
    made = create(draft, "api", rules, "c1", NOW)
    assert isinstance(made, Accepted)
    said = {
        "eventId": "e1",
        "taskId": "k1",
        "taskType": "T",
        "taskAttempt": 1,
        "stepId": "s1",
        "operationCode": "OP",
        "stepAttempt": 1,
        "producerId": "p1",
        "sourceSeq": 1,
        "eventType": "STEP_FAILED",
        "occurredAt": "2027-01-15T08:00:00Z",
        "durationMs": 5,
        "stage": "reading",
        "message": "m",
        "progress": {"current": 1, "total": 2},
        "error": {"category": "SYSTEM", "code": "E", "userMessage": "words", "diagnosticsRef": SECRET},
        "traceId": SECRET,
        "executionLogUrl": f"https://{SECRET}",
        "retryCount": 77_777,
    }
    fact = fact_of(event_body(said), "t1", 1, NOW, genuine=True)
    change = decide(TaskState(made.task, {step.step_id: step for step in made.steps}), fact, rules, NOW)
    assert isinstance(change, Accepted)
    return TaskState(change.task, {step.step_id: step for step in change.steps}), change


def ended(**more: Any) -> TaskState:
    """The same task after its coordinator gave it up."""
    state, _ = failed()
    said = {
        "eventId": "e2",
        "taskId": "k1",
        "taskType": "T",
        "taskAttempt": 1,
        "producerId": "api",
        "eventType": "TASK_FAILED",
        "occurredAt": "2027-01-15T08:00:01Z",
        "failedStepId": "s1",
        "error": {"category": "SYSTEM", "code": "E", "userMessage": "words", "diagnosticsRef": SECRET},
        "resultRef": {"id": "r1", "title": "report"},
        **more,
    }
    change = decide(state, fact_of(event_body(said), "t1", None, NOW, genuine=False), generic("T"), NOW)
    assert isinstance(change, Accepted)
    return TaskState(change.task, state.steps)


def shown(value: Any) -> dict[str, Any]:
    text = msgspec.json.encode(value).decode()
    assert SECRET not in text
    assert "77777" not in text
    return json.loads(text)


@pytest.mark.parametrize("projection", ["USER_SUMMARY", "TASK_DETAIL", "PROJECT_BROADCAST"])
@pytest.mark.accepts("projections obey their whitelist")
def test_a_task_shows_the_published_fields_and_no_more(projection: Projection) -> None:
    assert set(shown(task_view(ended().task, NOW, projection=projection))) == TASK


@pytest.mark.accepts("projections obey their whitelist")
def test_a_step_shows_the_published_fields_and_no_more() -> None:
    state, _ = failed()
    found = shown(step_view(state.steps["s1"], NOW))
    assert set(found) == STEP
    assert found["error"] == {"category": "SYSTEM", "code": "E", "retryable": False, "userMessage": "words"}


def test_the_types_of_the_contract_have_the_same_fields() -> None:
    assert {field.encode_name for field in msgspec.structs.fields(TaskView)} == TASK
    assert {field.encode_name for field in msgspec.structs.fields(StepView)} == STEP


@pytest.mark.accepts("projections obey their whitelist")
def test_a_project_sees_neither_result_nor_data_nor_the_words_of_a_failure() -> None:
    wide, narrow = (
        shown(task_view(ended().task, NOW, projection=kind)) for kind in ("USER_SUMMARY", "PROJECT_BROADCAST")
    )
    assert wide["resultRef"] == {"id": "r1", "title": "report", "mediaType": None, "size": None}
    assert wide["failure"] == {"code": "E", "userMessage": "words", "stepId": "s1"}
    assert narrow["resultRef"] is None
    assert narrow["summaryData"] is None
    assert narrow["failure"] == {"code": "E", "userMessage": None, "stepId": "s1"}
    assert {name: value for name, value in wide.items() if name not in ("resultRef", "failure")} == {
        name: value for name, value in narrow.items() if name not in ("resultRef", "failure")
    }


def test_an_event_shows_the_published_fields_and_no_more() -> None:
    _, change = failed()
    assert change.event is not None
    line = shown(timeline_item(change.event))
    assert set(line) == {field.encode_name for field in msgspec.structs.fields(TimelineItem)}
    assert line["error"] == {"category": "SYSTEM", "code": "E", "retryable": False, "userMessage": "words"}
    assert line["progress"] == {"current": 1, "total": 2, "unit": None}
    assert set(shown(trigger(change.event))) == {
        "eventId",
        "eventType",
        "stepId",
        "operationCode",
        "durationMs",
        "data",
        "error",
        "committedAt",
    }


def test_a_detail_message_holds_nothing_that_must_stay_on_the_server() -> None:
    state, change = failed()
    assert change.event is not None
    message = TaskDetail(
        schema_version=1,
        epoch="e",
        position="1",
        task_id="k1",
        version="2",
        committed_at="2027-01-15T08:00:00.000Z",
        task=task_view(state.task, NOW, projection="TASK_DETAIL"),
        steps=tuple(step_view(step, NOW) for step in state.steps.values()),
        trigger_event=trigger(change.event),
    )
    assert shown(message)["kind"] == "task.detail"


def test_versions_are_text_and_times_are_milliseconds() -> None:
    found = shown(task_view(ended().task, NOW))
    assert found["version"] == "3"
    assert found["createdAt"] == "2027-01-15T08:00:00.000Z"
    assert found["elapsedMs"] == 0
    assert found["totalDurationMs"] == 0

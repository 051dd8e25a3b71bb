"""Values with every field filled in, to be varied by the tests."""

from typing import Any

from msgspec.structs import replace

from milepost.domain.events import Event, Evidence, PrivateFacts, PublicFacts, StreamEntry
from milepost.domain.state import Pending, Step, Task
from milepost.domain.values import Data, Failure, Progress, ResultRef, StructuredError
from milepost.ports.storage import CommandResult, Remembered
from milepost.testing.storage_suite.site import TENANT

LARGEST = 2**63 - 1
LONGEST_ID = "a" * 126 + "~."
ROCKET = "🚀"


def a_task(task_id: str = "task-1", **changes: Any) -> Task:
    """A task; every optional field is set."""
    task = Task(
        tenant_id=TENANT,
        task_id=task_id,
        owner_id="owner",
        project_id="project",
        coordinator_id="coordinator",
        product="product",
        task_type="DOCUMENT_PROCESS",
        title="Vertrag Ünïcode.pdf",
        definition_version=3,
        lifecycle="RUNNING",
        business_status="PARSING",
        attempt=2,
        source_seq=7,
        version=11,
        last_position=0,
        health="DEGRADED",
        percent=42,
        steps_done=1,
        steps_total=4,
        stage="second half",
        current_step="02_parse",
        summary=Data("summary.v1", {"pages": 3, "ratio": 0.5}),
        result_ref=ResultRef("result-1", "Result", "text/plain", LARGEST),
        failure=Failure("BROKEN", "It broke.", "02_parse"),
        cancel_requested_at=6,
        cancel_requested_by="somebody",
        created_at=1,
        opened_at=2,
        started_at=3,
        finished_at=4,
        run_duration_ms=5,
        total_duration_ms=LARGEST,
        updated_at=8,
        deleted_at=None,
        cancel_deadline_ms=9,
        cancel_unanswered_at=10,
        definition_id="definition-1",
    )
    return replace(task, **changes)


def a_step(step_id: str = "02_parse", task_id: str = "task-1", **changes: Any) -> Step:
    """A step; every optional field is set."""
    step = Step(
        tenant_id=TENANT,
        task_id=task_id,
        step_id=step_id,
        attempt=1,
        task_attempt=2,
        current=True,
        ordinal=1,
        weight=2.5,
        on_failure="CONTINUE_WITH_WARNING",
        operation_code="DOCUMENT.PARSE",
        producer_id="document-parser",
        source_epoch=2,
        source_seq=9,
        version=6,
        lifecycle="RUNNING",
        business_status="PARSING",
        health="STALE",
        last_seen_at=12,
        progress=Progress(1.5, 3, "page"),
        stage="reading",
        message="Page 1 of 3",
        progressed_at=13,
        pending=Pending("event-9", 14, 15, 16, 2, 9, True, Progress(2), "two", "PARSING", Data("d.v1", [1.0]), 17),
        data=Data("data.v1", {"nested": [None, True, {"deep": "value"}]}),
        opened_at=18,
        started_at=19,
        started_derived=True,
        finished_at=20,
        duration_ms=21,
        duration_source="WALL_CLOCK_ESTIMATE",
        error=StructuredError("DEPENDENCY", "GONE", True, "It is gone.", "diagnostics/1"),
        updated_at=22,
        stale_after_ms=23,
        patience_ms=24,
        calm_at=25,
        silent_since=26,
        escalated=True,
    )
    return replace(step, **changes)


def an_event(task_id: str = "task-1", version: int = 1, **changes: Any) -> Event:
    """An event; every optional field is set."""
    event = Event(
        tenant_id=TENANT,
        task_id=task_id,
        task_version=version,
        event_id=f"{task_id}-{version}",
        event_type="STEP_FAILED",
        step_id="02_parse",
        operation_code="DOCUMENT.PARSE",
        step_version=6,
        task_attempt=2,
        step_attempt=1,
        producer_id="document-parser",
        source_epoch=2,
        source_seq=version,
        gap=True,
        derived=False,
        lifecycle="RUNNING",
        business_status="PARSING",
        health="DEGRADED",
        step_lifecycle="FAILED",
        step_business_status="FAILED",
        data_schema="data.v1",
        error_code="GONE",
        occurred_at=-1,
        age_ms=2,
        received_at=3,
        committed_at=4,
        duration_ms=LARGEST,
        public=PublicFacts(
            "stage",
            Progress(1, 2.0, "page"),
            "message",
            StructuredError("TIMEOUT", "SLOW"),
            Data("data.v1", {"k": [1, 1.0]}),
            "02_parse",
            ResultRef("result"),
            "MONOTONIC",
            "reason",
        ),
        private=PrivateFacts("trace", "somewhere", 3, "diagnostics/1"),
    )
    return replace(event, **changes)


def an_evidence(event_id: str = "event-1", **changes: Any) -> Evidence:
    """A fact that changed nothing; every optional field is set."""
    evidence = Evidence(
        tenant_id=TENANT,
        event_id=event_id,
        reason="SOURCE_FENCED",
        task_id="task-1",
        step_id="02_parse",
        event_type="STEP_PROGRESS",
        producer_id="document-parser",
        task_attempt=2,
        step_attempt=1,
        source_epoch=1,
        source_seq=LARGEST,
        task_version=11,
        lifecycle="RUNNING",
        step_lifecycle="RUNNING",
        payload=PublicFacts(message="late"),
        occurred_at=1,
        received_at=2,
    )
    return replace(evidence, **changes)


def an_answer(event_id: str = "event-1", **changes: Any) -> Remembered:
    """A remembered answer."""
    return replace(Remembered(TENANT, event_id, bytes(range(32)), '{"title":"é 🚀"}'.encode(), 5), **changes)


def a_result(key: str = "key-1", **changes: Any) -> CommandResult:
    """A remembered result of a command."""
    result = CommandResult(TENANT, "credential", key, bytes(32), "task-1", b'{"taskId":"task-1"}', 5)
    return replace(result, **changes)


def an_entry(task_id: str = "task-1", version: int = 1, **changes: Any) -> StreamEntry:
    """A stream entry of a task."""
    return replace(StreamEntry(TENANT, "task", 4, task_id, version, "owner", "project"), **changes)


OPTIONAL = [
    "project_id",
    "product",
    "source_seq",
    "percent",
    "stage",
    "current_step",
    "summary",
    "result_ref",
    "failure",
    "cancel_requested_at",
    "cancel_requested_by",
    "started_at",
    "finished_at",
    "run_duration_ms",
    "total_duration_ms",
]
OPTIONAL_IN_STEPS = [
    "last_seen_at",
    "progress",
    "stage",
    "message",
    "progressed_at",
    "pending",
    "data",
    "started_at",
    "finished_at",
    "duration_ms",
    "duration_source",
    "error",
]


def bare(task_id: str = "task-1", **changes: Any) -> Task:
    """A task with nothing but what it must have."""
    return replace(a_task(task_id), **dict.fromkeys(OPTIONAL) | changes)


def bare_step(step_id: str = "02_parse", task_id: str = "task-1", **changes: Any) -> Step:
    """A step with nothing but what it must have."""
    return replace(a_step(step_id, task_id), **dict.fromkeys(OPTIONAL_IN_STEPS) | changes)

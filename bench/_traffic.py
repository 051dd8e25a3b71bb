"""The traffic of the ingest measurements: three-step tasks that report ten times a step, nine of ten being progress."""

import json
from typing import Any

from bench._server import Server

STEPS = 3
EVENTS = 10


def setup(running: Server, tasks: int) -> tuple[str, list[dict[str, Any]]]:
    """Makes the tasks over HTTP; the producer's credential, and every step's context."""
    coordinator = running.cli("credentials", "create", "--producer", "bench", "--tenant", "t1", "--can", "coordinate")
    producer = running.cli("credentials", "create", "--producer", "parser", "--tenant", "t1")
    contexts: list[dict[str, Any]] = []
    for number in range(tasks):
        body = {
            "tenantId": "t1",
            "ownerId": f"u{number % 997}",
            "projectId": f"p{number % 31}",
            "taskType": "DOCUMENT_PROCESS",
            "title": f"Quarterly report {number}",
            "steps": [
                {"stepId": f"0{step}_parse", "operationCode": "DOCUMENT.PARSE", "producerId": "parser"}
                for step in range(STEPS)
            ],
        }
        contexts.extend(running.post("/internal/v1/tasks", coordinator["secret"], body)["contexts"])
    return producer["secret"], contexts


def events(context: dict[str, Any], first: int = 1, count: int = EVENTS, last: bool = True) -> list[dict[str, Any]]:
    """What one step reports, about 600 bytes each."""
    return [_event(context, seq, last and seq == first + count - 1) for seq in range(first, first + count)]


def _event(context: dict[str, Any], seq: int, end: bool) -> dict[str, Any]:
    bound = ("taskId", "taskType", "taskAttempt", "stepId", "operationCode", "stepAttempt", "producerId", "sourceEpoch")
    return {
        "eventId": f"{context['taskId']}.{context['stepId']}.{seq}",
        **{name: context[name] for name in bound},
        "sourceSeq": str(seq),
        "eventType": "STEP_COMPLETED" if end else "STEP_PROGRESS",
        "occurredAt": "2027-01-15T08:00:00.123Z",
        "ageMs": 12,
        "progress": {"current": seq, "total": EVENTS, "unit": "page"},
        "message": f"Parsed page {seq} of {EVENTS} of the annual report of the harbour authority",
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
        **({"durationMs": 1234, "durationSource": "MONOTONIC"} if end else {}),
    }


def single(port: int, context: dict[str, Any], event: dict[str, Any]) -> bytes:
    """One report as a whole HTTP request."""
    return _request(port, "/internal/v1/task-events", context["executionToken"], json.dumps(event).encode())


def batch(port: int, secret: str, items: list[tuple[dict[str, Any], dict[str, Any]]]) -> bytes:
    """Many reports as one HTTP request, each with its token."""
    told = [{**event, "executionToken": context["executionToken"]} for context, event in items]
    return _request(port, "/internal/v1/task-events:batch", secret, json.dumps({"events": told}).encode())


def _request(port: int, path: str, token: str, body: bytes) -> bytes:
    head = (
        f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body

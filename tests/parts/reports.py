"""How tests say what producers report."""

from typing import Any

from tests.parts.stand import Stand


class Reported:
    """One step's context and the counter of its source."""

    def __init__(self, stand: Stand, context: dict[str, Any]) -> None:
        self.stand = stand
        self.context = context
        self.seq = 0

    def event(self, event_type: str, **more: Any) -> dict[str, Any]:
        """The next event of this source, as its producer would write it."""
        self.seq += 1
        bound = ("taskId", "taskType", "taskAttempt", "stepId", "operationCode", "stepAttempt", "producerId")
        said = {name: self.context[name] for name in bound}
        seq = more.pop("sourceSeq", self.seq)
        said["eventId"] = f"{self.context['stepId']}.{self.context['stepAttempt']}.{self.context['sourceEpoch']}.{seq}"
        return {**said, "eventType": event_type, "sourceSeq": seq, "occurredAt": "2027-01-15T08:00:00.123Z", **more}

    async def report(self, event_type: str, **more: Any) -> dict[str, Any]:
        """Sends the next event and returns the answer's body with its HTTP status under `status_code`."""
        return await self.send(self.event(event_type, **more))

    async def send(self, event: dict[str, Any]) -> dict[str, Any]:
        """Sends this very event."""
        response = await self.stand.post("/internal/v1/task-events", self.context["executionToken"], event)
        return {**response.json(), "status_code": response.status_code}


async def create(stand: Stand, coordinator: str, *steps: tuple[str, str, str], **more: Any) -> dict[str, Any]:
    """Creates a task of user u1 and returns the answer; its contexts are in the order of the steps."""
    body = {
        "tenantId": "t1",
        "ownerId": "u1",
        "taskType": "DOCUMENT_PROCESS",
        "title": "contract.pdf",
        "steps": [{"stepId": step, "operationCode": code, "producerId": who} for step, code, who in steps],
        **more,
    }
    response = await stand.post("/internal/v1/tasks", coordinator, body)
    assert response.status_code in (200, 201), response.text
    return response.json()

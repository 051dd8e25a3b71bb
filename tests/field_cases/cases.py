"""The fixture of the field cases: one running task of one owner, and the five places a test looks at afterwards."""

import json
from typing import Any

import httpx

from tests.parts.reports import Reported, create
from tests.parts.stand import Stand

EVENTS = "/internal/v1/task-events"


class Case:
    """A service, a task with the steps `a` and `b` of producer `p1`, and who may report and look."""

    def __init__(self, stand: Stand, made: dict[str, Any], coordinator: str, worker: str, viewer: str) -> None:
        self.stand = stand
        self.task_id: str = made["task"]["id"]
        self.a, self.b = (Reported(stand, context) for context in made["contexts"])
        self.coordinator = coordinator
        self.worker = worker
        self.viewer = viewer

    async def raw(self, body: bytes | str, token: str | None = None, path: str = EVENTS) -> httpx.Response:
        """Posts these very bytes, with step `a`'s token unless another is given."""
        content = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
        headers = {"authorization": f"Bearer {token or self.a.context['executionToken']}"}
        return await self.stand.http.post(path, content=content, headers=headers)

    async def batch(self, *items: Any) -> list[dict[str, Any]]:
        """Posts a batch and returns its results; an item that is text is put into the body as it is."""
        texts = [item if isinstance(item, str) else json.dumps(item) for item in items]
        answer = await self.raw('{"events":[' + ",".join(texts) + "]}", self.worker, f"{EVENTS}:batch")
        assert answer.status_code == 200, answer.text
        results = answer.json()["results"]
        assert len(results) == len(items)
        return results

    def untokened(self, reported: Reported, event_type: str, **more: Any) -> dict[str, Any]:
        """The next event of a step as a batch takes it from its registered producer."""
        return {**reported.event(event_type, **more), "sourceEpoch": reported.context["sourceEpoch"], **more}

    async def task_fact(self, event_type: str, **more: Any) -> httpx.Response:
        """Sends a fact of the coordinator."""
        said = {
            "eventId": f"{event_type}.{self.task_id}",
            "taskId": self.task_id,
            "taskType": "DOCUMENT_PROCESS",
            "taskAttempt": 1,
            "producerId": "api",
            "eventType": event_type,
            "occurredAt": "2027-01-15T08:00:01Z",
            **more,
        }
        return await self.stand.post(EVENTS, self.coordinator, said)

    async def shown(self) -> dict[str, Any]:
        """The task and its steps as their owner sees them."""
        return (await self.stand.get(f"/api/tasks/{self.task_id}", self.viewer)).json()

    async def step(self, name: str = "a") -> dict[str, Any]:
        """One step as the owner sees it."""
        return next(step for step in (await self.shown())["steps"] if step["id"] == name)

    async def log(self) -> list[dict[str, Any]]:
        """The task's event log."""
        path = f"/api/tasks/{self.task_id}/events?limit=500"
        return (await self.stand.get(path, self.viewer)).json()["items"]

    async def version(self) -> int:
        """The task's version."""
        return int((await self.shown())["task"]["version"])

    async def is_sound(self) -> None:
        """Versions are 1…n, positions are gapless, and list, snapshot and log say the same."""
        found, log = await self.shown(), await self.log()
        assert [int(item["taskVersion"]) for item in log] == list(range(1, len(log) + 1))
        assert int(found["task"]["version"]) == len(log)
        assert log[-1]["lifecycleStatus"] == found["task"]["lifecycleStatus"]
        listed = (await self.stand.get("/api/tasks?limit=200", self.viewer)).json()["items"]
        assert [item["version"] for item in listed if item["id"] == self.task_id] == [found["task"]["version"]]
        heard = [entry.position for committed in self.stand.heard.committed for entry in committed.entries]
        assert heard == list(range(1, len(heard) + 1))


async def made_case(stand: Stand, **more: Any) -> Case:
    """A fresh task of user u1 in tenant t1."""
    coordinator = await stand.credential("api", "report", "coordinate")
    worker = await stand.credential("p1", "report")
    made = await create(stand, coordinator, ("a", "DOC.PARSE", "p1"), ("b", "DOC.STORE", "p1"), **more)
    return Case(stand, made, coordinator, worker, await stand.session("u1"))

"""The stand with its streams: real routes, a real feed, a real server."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn

from milepost.api.app import build_app
from milepost.gateway.feed import Feed
from milepost.gateway.limits import StreamLimits
from milepost.gateway.routes import stream_routes
from tests.gateway.browser import Browser
from tests.parts.reports import Reported, create
from tests.parts.stand import Stand, stand

BROKEN = {"category": "DEPENDENCY", "code": "UPSTREAM", "retryable": True, "userMessage": "The page could not be read."}
STEP = ("02_parse", "DOC.PARSE", "parser")


class Lit:
    """A service with open streams, and the few things its tests do again and again."""

    def __init__(self, on: Stand, feed: Feed, port: int) -> None:
        self.on = on
        self.feed = feed
        self.port = port

    async def begin(self) -> None:
        self.coordinator = await self.on.credential("api", "report", "coordinate")
        self.parser = await self.on.credential("parser", "report")
        self.host = await self.on.credential("host", "sessions", "broadcast")

    async def create(self, task_id: str = "k1", *, policy: str = "FAIL_TASK", **more: Any) -> Reported:
        steps = [{"stepId": STEP[0], "operationCode": STEP[1], "producerId": STEP[2], "onFailure": policy}]
        made = await create(self.on, self.coordinator, taskId=task_id, **{"steps": steps, **more})
        return Reported(self.on, made["contexts"][0])

    async def ends(self, task_id: str, event_type: str, event_id: str | None = None, **more: Any) -> dict[str, Any]:
        event = {
            "eventId": event_id or f"{task_id}.{event_type}",
            "taskId": task_id,
            "taskType": "DOCUMENT_PROCESS",
            "taskAttempt": 1,
            "producerId": "api",
            "eventType": event_type,
            "occurredAt": "2027-01-15T08:00:00.123Z",
            **more,
        }
        response = await self.on.post("/internal/v1/task-events", self.coordinator, event)
        assert response.status_code == 200, response.text
        return response.json()

    async def members(self, project: str, *users: str) -> dict[str, Any]:
        path = f"/internal/v1/projects/{project}/members"
        response = await self.on.put(path, self.host, {"userIds": list(users)})
        assert response.status_code == 200, response.text
        return response.json()

    async def watch(self, token: str, path: str = "/api/stream", last_id: str | None = None, **more: Any) -> Browser:
        """An open stream behind its hello."""
        one = await Browser.open(self.port, path, token, last_id=last_id, **more)
        assert (await one.message())["kind"] == "hello"
        return one

    async def kept(self, token: str, query: str = "") -> dict[str, Any]:
        response = await self.on.get(f"/api/notifications{query}", token)
        assert response.status_code == 200, response.text
        return response.json()


@asynccontextmanager
async def lit(folder: Path, limits: StreamLimits | None = None) -> AsyncIterator[Lit]:
    async with stand(folder) as on:
        storage = on.storage
        known = limits or StreamLimits(poll_seconds=0.2, heartbeat_seconds=5)
        feed = Feed(storage, storage.stream_log, storage.reading, on.clock, known, notices=storage.notices)
        on.heard.feed = feed
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
        listening.bind(("127.0.0.1", 0))
        app = build_app(on.services, stream_routes(feed, on.services.identities))
        config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=2, ws="none")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve([listening]))
        await feed.start()
        running = Lit(on, feed, listening.getsockname()[1])
        await running.begin()
        try:
            yield running
        finally:
            server.should_exit = server.force_exit = True
            await serving
            await feed.stop()

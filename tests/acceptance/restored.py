"""A server whose database file goes back in time, and the facts that are told of its tasks before and after."""

import sqlite3
from pathlib import Path
from typing import Any

import httpx

from tests.parts.program import Program

EVENTS = "/internal/v1/task-events"


class Site:
    """The real program, its coordinator, and a copy of its database."""

    def __init__(self, server: Program, folder: Path) -> None:
        self.server = server
        self._copy = folder / "copy.db"
        self._secret = server.credential("api", "report,coordinate")
        self.viewer = server.session("u1")

    def create(self, task_id: str) -> None:
        """A new task of u1, in version 1."""
        body = {"tenantId": "t1", "taskId": task_id, "ownerId": "u1", "taskType": "T", "title": task_id}
        self._post("/internal/v1/tasks", body)

    def tell(self, task_id: str, event_type: str) -> None:
        """One more fact of the coordinator, and so one more version."""
        said = {"eventId": f"{task_id}.{event_type}", "taskId": task_id, "taskType": "T", "taskAttempt": 1}
        self._post(EVENTS, {**said, "eventType": event_type, "occurredAt": "2027-01-15T08:00:00Z"})

    def back_up(self) -> None:
        """Copies the database while it is in use, as SQLite's own backup does."""
        with sqlite3.connect(self.server.folder / "milepost.db") as live, sqlite3.connect(self._copy) as copy:
            live.backup(copy)

    def restore(self) -> None:
        """Ends the server, puts the copy back, lets the doctor look at it, and starts again."""
        self.server.stop()
        for rest in self.server.folder.glob("milepost.db-*"):
            rest.unlink()
        (self.server.folder / "milepost.db").write_bytes(self._copy.read_bytes())
        looked = self.server.run("doctor")
        assert looked.returncode == 0, looked.stdout + looked.stderr
        self.server.start()

    def get(self, path: str, **headers: str) -> httpx.Response:
        """What the viewer is answered."""
        with self.server.client(self.viewer) as http:
            return http.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def newer(self, known: dict[str, str], epoch: str) -> dict[str, Any]:
        """What batchGet says to somebody who knows these versions of that epoch."""
        body = {"taskIds": sorted(known), "knownVersions": known, "epoch": epoch}
        with self.server.client(self.viewer) as http:
            answer = http.post("/api/tasks/status:batchGet", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def _post(self, path: str, body: dict[str, Any]) -> None:
        with self.server.client(self._secret) as http:
            answer = http.post(path, json=body)
        assert answer.status_code in (200, 201), answer.text

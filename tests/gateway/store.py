"""What a client makes of its stream: the rules of merging, written down once more and as plainly as possible.

A message is a whole state. It counts where its version is higher than the one that is held. A removal leaves a
tombstone. Another epoch empties everything, and a snapshot is owed. A snapshot holds everything up to its cursor: what
it lacks and nothing newer told of is gone, and no message from before it can bring that back.
"""

from typing import Any

VOLATILE = ("asOf", "elapsedMs", "lastSeenAt")


class Store:
    """Tasks by id. `recorded` is every (epoch, version) that was taken over, by task, in order."""

    def __init__(self) -> None:
        self.epoch = ""
        self.cursor = 0
        self.held: dict[str, tuple[int, int, dict[str, Any] | None]] = {}
        self.recorded: dict[str, list[tuple[str, int]]] = {}
        self.owes = False

    def load(self, snapshot: dict[str, Any]) -> None:
        """A snapshot `{epoch, cursor, tasks}` whose cursor was read before its tasks."""
        self._enter(snapshot["epoch"])
        cursor = _position(snapshot["cursor"])
        there = {task["id"] for task in snapshot["tasks"]}
        for task_id, (_, position, _) in list(self.held.items()):
            if task_id not in there and position <= cursor:
                del self.held[task_id]
        for task in snapshot["tasks"]:
            self._take(task["id"], int(task["version"]), cursor, task)
        self.cursor = max(self.cursor, cursor)
        self.owes = False

    def receive(self, message: dict[str, Any]) -> None:
        """One message of the stream."""
        if message["kind"] in ("hello", "reset"):
            self._enter(message["epoch"])
            self.owes = self.owes or message["kind"] == "reset" or not message["resumed"]
            return
        if (
            not message["kind"].startswith("task.")
            or message["epoch"] != self.epoch
            or int(message["position"]) <= self.cursor
        ):
            return
        body = None if message["kind"] == "task.removed" else dict(message["task"])
        if message["kind"] == "task.detail" and body is not None:
            if message["refetch"]:
                self.owes = True
                return
            body["steps"] = message["steps"]
        self._take(message["taskId"], int(message["version"]), int(message["position"]), body)

    def tasks(self) -> list[dict[str, Any]]:
        """What is shown, by id, without what is outside the version."""
        return [steady(body) for _, (_, _, body) in sorted(self.held.items()) if body is not None]

    def _enter(self, epoch: str) -> None:
        if epoch != self.epoch:
            self.epoch, self.cursor, self.held = epoch, 0, {}
            self.owes = True

    def _take(self, task_id: str, version: int, position: int, body: dict[str, Any] | None) -> None:
        held = self.held.get(task_id)
        if held is not None and held[0] >= version:
            self.held[task_id] = (held[0], max(held[1], position), held[2])
            return
        self.held[task_id] = (version, position, body)
        self.recorded.setdefault(task_id, []).append((self.epoch, version))


def steady(body: dict[str, Any]) -> dict[str, Any]:
    """A view without what is outside its version."""
    kept = {name: value for name, value in body.items() if name not in VOLATILE}
    if kept.get("steps"):
        kept["steps"] = [steady(step) for step in kept["steps"]]
    return kept


def _position(cursor: str) -> int:
    return int(cursor.rpartition(":")[2])

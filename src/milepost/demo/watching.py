"""The person in front of the screen: reads along, says what changed in a line each, and cancels one task."""

import time

from milepost.client import Change, Client, ClientError, Live
from milepost.demo.coordinator import CANCELLED
from milepost.wire.views import TaskView

ENOUGH = 20
"""Per cent after which the person has seen enough of the document to be cancelled."""

_MARKS = {"SUCCEEDED": "✓", "FAILED": "✗", "CANCELLED": "⊘", "TIMED_OUT": "✗", "RUNNING": "▶", "PENDING": "…"}


class Watcher:
    """Prints what the service says, and nothing that this process might know by other ways."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._live: Live = client.live()
        self._shown: dict[str, str] = {}
        self._asked: set[str] = set()

    def run(self) -> None:
        """Watches until stopped."""
        try:
            for change in self._live:
                self._take(change)
        except ClientError as error:
            print(f"· the view ended: {error}", flush=True)

    def stop(self) -> None:
        """Ends the watching."""
        self._live.close()

    def _take(self, change: Change) -> None:
        if change.kind == "STATE":
            print(f"· connection: {change.state.lower()}", flush=True)
        for task in [change.task] if change.task else self._live.store.tasks() if change.kind == "SNAPSHOT" else []:
            self._show(task)
            self._judge(task)

    def _show(self, task: TaskView) -> None:
        line = said(task)
        if self._shown.get(task.id) != line:
            self._shown[task.id] = line
            print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)

    def _judge(self, task: TaskView) -> None:
        percent = task.progress.percent if task.progress else None
        if task.title != CANCELLED or task.id in self._asked or task.finished_at or (percent or 0) < ENOUGH:
            return
        self._asked.add(task.id)
        try:
            self._client.request_cancel(task.id)
            print(f"· {task.title}: somebody asks for it to be cancelled", flush=True)
        except ClientError as error:
            print(f"· {task.title}: could not be cancelled: {error}", flush=True)


def said(task: TaskView) -> str:
    """A task in a line; progress in steps of ten, so that a terminal stays readable."""
    percent = task.progress.percent if task.progress else None
    counted = "" if percent is None else f"{percent if task.finished_at else percent // 10 * 10:3d} %"
    why = f" {task.failure.code} in {task.failure.step_id}" if task.failure else ""
    asked = " (cancel requested)" if task.cancel_requested_at and not task.finished_at else ""
    health = "" if task.health == "HEALTHY" else f" [{task.health}]"
    mark = _MARKS.get(task.lifecycle_status, "?")
    at = f" {task.current_step}" if task.current_step else ""
    return f"{mark} {task.title:28.28} {task.lifecycle_status:10}{counted:>6}{at}{asked}{health}{why}"

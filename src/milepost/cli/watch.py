"""`milepost watch`: tasks live, a redrawn table on a terminal, a JSON line per message when piped."""

import asyncio
import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click
import msgspec

from milepost.cli.commands import ExampleCommand, remote_options
from milepost.cli.remote import checked, explained
from milepost.cli.screen import Canvas, draw_list, draw_task

if TYPE_CHECKING:
    from milepost.client import AsyncLive, Change
    from milepost.wire.views import StepView, TaskView

_ENTER: Final = "\x1b[?1049h\x1b[?25l"
_LEAVE: Final = "\x1b[?25h\x1b[?1049l"
_FRAME: Final = 0.1
_TICK: Final = 1.0
_STATES: Final = {"LIVE": "live", "RECOVERING": "reconnecting …", "STALE": "no connection: this may be old"}


@click.command(cls=ExampleCommand, example="milepost watch contract-7")
@click.argument("task_id", metavar="[TASK]", required=False)
@click.option("--json", "as_json", is_flag=True, help="A JSON line per message, even on a terminal.")
@remote_options
def watch(task_id: str | None, as_json: bool, url: str, token: str | None) -> None:
    """Watch all your tasks, or one with its steps, until Ctrl-C; a restart of the service is survived."""
    from milepost.client import ClientError

    checked(url, token)
    drawn = sys.stdout.isatty() and not as_json
    try:
        asyncio.run(_watch(url, token, task_id, drawn=drawn))
    except ClientError as error:
        raise explained(error, url) from None


async def _watch(url: str, token: str | None, task_id: str | None, *, drawn: bool) -> None:
    from milepost.client import AsyncClient

    following = asyncio.current_task()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, following.cancel if following else lambda: None)
    with suppress(asyncio.CancelledError):
        async with AsyncClient(url, token=token) as client, client.live(task_id) as live:
            await (Table(live, url, task_id).run() if drawn else _lines(live, task_id))


async def _lines(live: "AsyncLive", task_id: str | None) -> None:
    """Every message as it came; a snapshot, which stands for many, as one line of its own; the rest on stderr."""
    last: str | None = None
    async for change in live:
        if change.kind == "STATE":
            click.echo(f"milepost: {_STATES[change.state]}{f' ({change.reason})' if change.reason else ''}", err=True)
            continue
        if change.raw is not None and change.raw is last:
            continue  # one message may change a task and carry a notice
        last = change.raw
        sys.stdout.write((change.raw or _line(live, change, task_id)) + "\n")
        sys.stdout.flush()


def _line(live: "AsyncLive", change: "Change", task_id: str | None) -> str:
    store = live.store
    if change.kind == "REMOVED":
        said: dict[str, object] = {"kind": "task.removed", "taskId": change.task_id}
    elif task_id is None:
        said = {"kind": "snapshot", "items": store.tasks()}
    else:
        detail = store.detail(task_id)
        said = {"kind": "snapshot", "task": detail and detail.task, "steps": detail and detail.steps}
    return msgspec.json.encode(said | {"epoch": store.epoch, "cursor": store.cursor}).decode()


class Table:
    """Redraws what is known at most ten times a second, and once a second so that timers tick."""

    def __init__(self, live: "AsyncLive", url: str, task_id: str | None) -> None:
        self._live = live
        self._url = url
        self._task_id = task_id
        self._colours = not os.environ.get("NO_COLOR")
        self._changed = asyncio.Event()
        self._seen: dict[str, tuple[object, float]] = {}
        self._gone = False

    async def run(self) -> None:
        """Draws until cancelled, or until the watched task is gone; leaves the terminal as it was."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGWINCH, self._changed.set)
        sys.stdout.write(_ENTER)
        drawing = asyncio.create_task(self._draw())
        try:
            async for change in self._live:
                self._changed.set()
                if change.kind == "REMOVED" and change.task_id == self._task_id:
                    self._gone = True
                    break
        finally:
            drawing.cancel()
            await asyncio.gather(drawing, return_exceptions=True)
            last = "\n".join(self._frame())
            sys.stdout.write(f"{_LEAVE}{last}\n")
            sys.stdout.flush()

    async def _draw(self) -> None:
        while True:
            lines = self._frame()
            sys.stdout.write("\x1b[H" + "".join(f"{line}\x1b[K\n" for line in lines) + "\x1b[J")
            sys.stdout.flush()
            self._changed.clear()
            await asyncio.sleep(_FRAME)
            with suppress(TimeoutError):
                async with asyncio.timeout(_TICK - _FRAME):
                    await self._changed.wait()

    def _frame(self) -> list[str]:
        size = shutil.get_terminal_size()
        canvas = Canvas(size.columns, size.lines, self._colours)
        store = self._live.store
        head = f" milepost  {self._url}  {_STATES[self._live.state]}"
        if self._task_id is None:
            tasks = store.tasks()
            self._forget({task.id for task in tasks})
            return draw_list(canvas, f"{head}  {len(tasks)} tasks", tasks, self._elapsed)
        detail = store.detail(self._task_id)
        if detail is None:
            return draw_list(canvas, head + ("  the task is gone" if self._gone else ""), [], self._elapsed)
        return draw_task(canvas, head, detail.task, detail.steps, self._elapsed)

    def _elapsed(self, view: "TaskView | StepView") -> int | None:
        """The server's count when the view came, and our own clock's from then on."""
        held, since = self._seen.get(view.id, (None, 0.0))
        if held is not view:
            since = time.monotonic()
            self._seen[view.id] = (view, since)
        if view.elapsed_ms is None or view.finished_at is not None:
            return view.elapsed_ms
        return view.elapsed_ms + int((time.monotonic() - since) * 1000)

    def _forget(self, kept: set[str]) -> None:
        for gone in self._seen.keys() - kept:
            del self._seen[gone]

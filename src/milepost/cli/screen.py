"""What `milepost watch` draws: pure functions from what is known to lines of a given width."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from milepost.cli.output import padded, printable, width

if TYPE_CHECKING:
    from milepost.wire.views import StepView, TaskView

_COLOURS: Final = {
    "SUCCEEDED": "32",
    "FAILED": "31",
    "TIMED_OUT": "31",
    "RUNNING": "36",
    "CANCELLED": "2",
    "PENDING": "2",
    "STALE": "33",
    "DEGRADED": "33",
}
_MARKS: Final = {
    "PENDING": "·",
    "RUNNING": "▸",
    "SUCCEEDED": "✓",
    "FAILED": "✗",
    "TIMED_OUT": "✗",
    "CANCELLED": "-",
}
_BAR: Final = 12


class Canvas(Struct, frozen=True):
    """How much room there is, and whether colours are wanted."""

    columns: int
    rows: int
    colours: bool


Elapsed = Callable[["TaskView | StepView"], int | None]
"""Milliseconds a task or step has run by now, ticking locally between messages."""


def draw_list(canvas: Canvas, head: str, tasks: "Sequence[TaskView]", elapsed: Elapsed) -> list[str]:
    """A line for each task that fits, and a last one that says how many do not."""
    lines = [_head(canvas, head)]
    room = max(1, canvas.rows - 2)
    shown = tasks if len(tasks) <= room else tasks[: room - 1]
    lines += [_task_line(canvas, task, elapsed(task)) for task in shown]
    if len(shown) < len(tasks):
        lines.append(_cut(canvas, f"  … and {len(tasks) - len(shown)} more"))
    return lines if tasks else [*lines, _cut(canvas, "  no tasks yet")]


def draw_task(canvas: Canvas, head: str, task: "TaskView", steps: "Sequence[StepView]", elapsed: Elapsed) -> list[str]:
    """One task and its steps."""
    lines = [_head(canvas, head), _task_line(canvas, task, elapsed(task))]
    told = [
        f"  {task.failure.code}: {task.failure.user_message or ''}" if task.failure else "",
        "  cancel requested" if task.cancel_requested_at and not task.finished_at else "",
    ]
    lines += [_cut(canvas, line) for line in told if line]
    room = max(1, canvas.rows - len(lines) - 1)
    lines += [_step_line(canvas, step, elapsed(step)) for step in steps[:room]]
    return lines


def clock(ms: int | None) -> str:
    """A length of time as people read it: 7.3s, 2:05, 1:02:05."""
    if ms is None:
        return ""
    seconds = ms // 1000
    if seconds < 60:
        return f"{ms / 1000:.1f}s"
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _head(canvas: Canvas, text: str) -> str:
    line = padded(printable(text), canvas.columns)
    return _painted(canvas, line, "7")


def _task_line(canvas: Canvas, task: "TaskView", ms: int | None) -> str:
    percent = task.progress.percent if task.progress else None
    stage = task.progress.stage if task.progress else None
    told = [
        "" if task.health == "HEALTHY" else task.health,
        task.failure.code if task.failure else "",
        "" if task.finished_at else (task.current_step or ""),
        "cancel requested" if task.cancel_requested_at and not task.finished_at else "",
    ]
    return _line(
        canvas,
        task.lifecycle_status,
        task.business_status,
        task.title or task.id,
        _bar(percent) if percent is not None else (stage or ""),
        ms,
        " ".join(part for part in told if part),
    )


def _step_line(canvas: Canvas, step: "StepView", ms: int | None) -> str:
    progress = step.progress
    fraction = None
    if progress and progress.total:
        fraction = min(100, int(100 * progress.current / progress.total))
    told = [
        "" if step.health == "HEALTHY" else step.health,
        f"{progress.current}/{progress.total or '?'} {progress.unit or ''}".strip() if progress else "",
        f"{step.error.code}: {step.error.user_message or ''}" if step.error else (step.message or ""),
    ]
    name = f"  {step.id}" + (f" #{step.attempt}" if step.attempt > 1 else "")
    bar = _bar(fraction) if fraction is not None else (step.stage or "")
    told_text = " ".join(part for part in told if part)
    return _line(canvas, step.lifecycle_status, step.business_status, name, bar, ms, told_text)


def _line(canvas: Canvas, lifecycle: str, status: str, name: str, bar: str, ms: int | None, told: str) -> str:
    # A lifecycle this program does not know yet is shown as it is, never as success.
    mark = _MARKS.get(lifecycle, "?")
    fixed = 2 + 20 + 1 + _BAR + 6 + 9
    left = max(8, canvas.columns - fixed)
    name_room = min(36, max(8, left // 2))
    text = (
        f"{mark} {padded(printable(name), name_room)} {padded(printable(status), 19)} "
        f"{padded(printable(bar), _BAR + 5)} {padded(clock(ms), 8)} {printable(told)}"
    )
    return _painted(canvas, _fitted(text, canvas.columns), _COLOURS.get(lifecycle, "35"))


def _bar(percent: int) -> str:
    filled = _BAR * min(100, max(0, percent)) // 100
    return f"{'█' * filled}{'░' * (_BAR - filled)} {percent:>3}%"


def _cut(canvas: Canvas, text: str) -> str:
    return _fitted(printable(text), canvas.columns)


def _fitted(text: str, columns: int) -> str:
    text = text.rstrip()
    return text if width(text) <= columns else padded(text, columns)


def _painted(canvas: Canvas, text: str, colour: str) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m" if canvas.colours else text

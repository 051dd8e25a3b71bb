"""Progress that does not lie: it never goes back within one attempt and stage, and reaches 100 only with success."""

from collections.abc import Collection

from msgspec.structs import replace

from milepost.domain.rules import ProgressMode, ProgressRules
from milepost.domain.state import Step, Task
from milepost.domain.values import Progress

DONE = frozenset({"SUCCEEDED", "CANCELLED"})


def advanced(seen: Progress | None, told: Progress | None, *, new_stage: bool) -> Progress | None:
    """The progress after a report: clamped to its total, and never lower than before inside one stage."""
    if told is None:
        return None if new_stage else seen
    total = told.total
    current = told.current if total is None else min(told.current, total)
    if seen is None or new_stage or current >= seen.current:
        return Progress(current, total, told.unit)
    if total is not None and total < seen.current:
        return seen
    return Progress(seen.current, total, told.unit)


def revealed(step: Step) -> Step:
    """The step with its merged progress taken into what is shown, so that none is pending any more."""
    held = step.pending
    if held is None:
        return step
    return replace(
        step,
        business_status=held.business_status or step.business_status,
        progress=held.progress or step.progress,
        message=held.message or step.message,
        data=held.data or step.data,
        pending=None,
    )


def due(step: Step, told: Progress | None, now: int, rules: ProgressRules) -> bool:
    """Whether a progress report without a new stage has earned a version of its own."""
    if step.progressed_at is None:
        return True
    waited = now - step.progressed_at
    if waited >= rules.max_interval_ms:
        return True
    return waited >= rules.min_interval_ms and _moved(step.progress, told) >= rules.min_percent


def _moved(seen: Progress | None, told: Progress | None) -> float:
    if told is None:
        return 0.0
    # Rounded, since 0.15 - 0.10 is a little less than 0.05 in binary.
    return round(100.0 * (told.fraction - (seen.fraction if seen else 0.0)), 6)


def is_done(step: Step, task_attempt: int) -> bool:
    """Whether nothing more is expected of this step in this task attempt.

    It succeeded, was cancelled, failed where that only warns, or was kept from an earlier task attempt.
    """
    if step.lifecycle in DONE or step.task_attempt < task_attempt:
        return True
    return step.ended and step.on_failure == "CONTINUE_WITH_WARNING"


def recounted(task: Task, steps: Collection[Step], *, mode: ProgressMode, may_fall: bool = False) -> Task:
    """The task with its percentage and step counts computed anew; the percentage falls only where it may."""
    done, share = _counted(steps, task.attempt)
    percent = _percent(mode, done / len(steps) if mode == "STEPS" else share) if steps else None
    if not may_fall and task.percent is not None:
        percent = task.percent if percent is None else max(percent, task.percent)
    return replace(task, percent=percent, steps_done=done, steps_total=len(steps))


def _counted(steps: Collection[Step], task_attempt: int) -> tuple[int, float]:
    """How many steps are done, and the weighted share of all, 0 to 1, to which a running step adds its own."""
    done, share, total = 0, 0.0, 0.0
    for step in steps:
        total += step.weight
        if is_done(step, task_attempt):
            done += 1
            share += step.weight
        elif step.progress is not None:
            share += step.weight * step.progress.fraction
    return done, share / total if total else 0.0


def _percent(mode: ProgressMode, share: float) -> int | None:
    """A whole percentage, rounded down, at most 99; none for a task of stages."""
    return None if mode == "STAGES" else min(99, int(100.0 * share + 1e-9))

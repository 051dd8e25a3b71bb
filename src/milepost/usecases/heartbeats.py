"""Stores signs of life in batches: no lock, no version, no message."""

from collections.abc import Sequence

from milepost.domain.facts import Heartbeat
from milepost.domain.heartbeats import judge
from milepost.domain.outcomes import Refused
from milepost.domain.state import TaskKey, TaskState
from milepost.ports.storage import StepKey, Transaction, Wanted
from milepost.ports.stream import Committed
from milepost.usecases.directives import directives
from milepost.usecases.refusals import rejection
from milepost.wire.answers import ReportAnswer, StepStatus
from milepost.wire.numbers import instant
from milepost.wire.problems import Rejection


async def beat(tx: Transaction, beats: Sequence[Heartbeat]) -> tuple[list[object], list[Committed]]:
    """Records the signs of life that count and answers each."""
    keys = sorted({TaskKey(item.tenant_id, item.task_id) for item in beats})
    held = await tx.look(keys)
    known = await tx.read(Wanted())
    verdicts = [_verdict(held.get(TaskKey(item.tenant_id, item.task_id)), item) for item in beats]
    alive = {
        StepKey(item.tenant_id, item.task_id, item.step_id, item.step_attempt)
        for item, verdict in zip(beats, verdicts, strict=True)
        if isinstance(verdict, ReportAnswer) and verdict.accepted
    }
    await tx.touch(sorted(alive), known.now)
    return list(verdicts), []


def _verdict(state: TaskState | None, said: Heartbeat) -> ReportAnswer | Rejection:
    if state is None:
        return Rejection("TASK_UNKNOWN", "No such task here; it may not be created yet.")
    if state.task.deleted_at is not None:
        return Rejection("TASK_DELETED", "The task was deleted.")
    verdict = judge(state, said)
    if isinstance(verdict, Refused):
        return rejection(verdict, state)
    task = state.task
    step = state.steps[said.step_id]
    return ReportAnswer(
        accepted=verdict is None,
        duplicate=False,
        stale=verdict is not None,
        task_id=task.task_id,
        step_id=said.step_id,
        task_version=str(task.version),
        step_version=str(step.version),
        lifecycle_status=task.lifecycle,
        business_status=task.business_status,
        step=StepStatus(step.lifecycle, step.business_status),
        committed_at=instant(task.updated_at),
        directives=directives(state, said),
        reason=verdict.reason if verdict else None,
    )

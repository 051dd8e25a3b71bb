"""The rules a decision needs, as values: what a task type allows. Documents are compiled into these elsewhere."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from milepost.domain.lifecycle import Lifecycle

ProgressMode: TypeAlias = Literal["STEPS", "WEIGHTED", "STAGES"]


class BusinessStatus(Struct, frozen=True):
    """One registered business status and the lifecycle it stands for."""

    code: str
    lifecycle: Lifecycle
    scope: frozenset[Literal["task", "step"]]


class ProgressRules(Struct, frozen=True):
    """When a progress fact becomes a version of its own instead of being merged."""

    min_percent: float = 5.0
    min_interval_ms: int = 1_000
    max_interval_ms: int = 2_000


class TaskRules(Struct, frozen=True):
    """What one version of one task type's definition says. Immutable; bound to a task at its creation."""

    task_type: str
    version: int
    mode: ProgressMode
    statuses: Mapping[str, BusinessStatus]
    enabled: frozenset[Lifecycle]
    default_status: Mapping[Lifecycle, str]
    any_operation: bool = True
    heartbeat_interval_ms: int = 10_000
    stale_after_ms: int = 60_000
    cancel_deadline_ms: int = 60_000
    progress: ProgressRules = ProgressRules()

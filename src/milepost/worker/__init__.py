"""The SDK for workers and coordinators: reports facts and never holds the truth."""

from milepost.worker.aio import AsyncReporter, AsyncStep
from milepost.worker.aio_coordinator import AsyncCoordinator, AsyncTask
from milepost.worker.commands import NotReached, Refused, Result, State, StepPlan
from milepost.worker.context import Context
from milepost.worker.coordinator import Coordinator, Task
from milepost.worker.delivery import Limits
from milepost.worker.errors import MAPPING, StepCancelled, StepError, StepFailed
from milepost.worker.outbox import Dead
from milepost.worker.reporter import Reporter, Step

__all__ = [
    "MAPPING",
    "AsyncCoordinator",
    "AsyncReporter",
    "AsyncStep",
    "AsyncTask",
    "Context",
    "Coordinator",
    "Dead",
    "Limits",
    "NotReached",
    "Refused",
    "Reporter",
    "Result",
    "State",
    "Step",
    "StepCancelled",
    "StepError",
    "StepFailed",
    "StepPlan",
    "Task",
]

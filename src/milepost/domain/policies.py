"""What an operation's failure policy asks for. The service says so; the coordinator or the policy executor acts."""

from typing import Literal, TypeAlias

from milepost.domain.lifecycle import FailurePolicy
from milepost.domain.outcomes import Refused
from milepost.domain.rules import OperationRules, TaskRules
from milepost.domain.state import Step

Consequence: TypeAlias = Literal["FAIL_TASK", "RETRY", "WARN", "WAIT_FOR_USER"]


def policy_of(operation: OperationRules, wished: FailurePolicy | None) -> FailurePolicy | Refused:
    """The policy of a step: the one registered for its operation, else the one its coordinator wished for."""
    if operation.failure_policy is None:
        return wished or "FAIL_TASK"
    if wished in (None, operation.failure_policy):
        return operation.failure_policy
    return Refused("FIELD_INVALID", f"The definition says {operation.failure_policy} for {operation.code}.")


def consequence(step: Step, rules: TaskRules) -> Consequence | None:
    """What this step's end asks for under its policy; None while it has not failed."""
    if step.lifecycle not in ("FAILED", "TIMED_OUT"):
        return None
    if step.on_failure == "CONTINUE_WITH_WARNING":
        return "WARN"
    if step.on_failure == "WAIT_FOR_USER":
        return "WAIT_FOR_USER"
    return "RETRY" if step.on_failure == "RETRY_THEN_FAIL_TASK" and _may_retry(step, rules) else "FAIL_TASK"


def _may_retry(step: Step, rules: TaskRules) -> bool:
    if step.error is not None and not step.error.retryable:
        return False
    operation = rules.operations.get(step.operation_code)
    most = operation.max_attempts if operation else None
    return most is not None and step.attempt < most

"""Execution contexts: what a worker needs to report on an attempt of a step. Tokens are signed last, never stored."""

from msgspec.structs import replace

from milepost.domain.lifecycle import HEARTBEAT, STEP_FACTS, STEP_LEADS_TO
from milepost.domain.rules import TaskRules
from milepost.domain.state import Step, Task
from milepost.tokens.execution import Claims, ExecutionTokens
from milepost.wire.answers import Context
from milepost.wire.numbers import instant


def unsigned(task: Task, step: Step, rules: TaskRules) -> Context:
    """The bound fields of a context, still without a token."""
    operation = rules.operation(step.operation_code)
    return Context(
        tenant_id=task.tenant_id,
        task_id=task.task_id,
        task_type=task.task_type,
        task_attempt=step.task_attempt,
        step_id=step.step_id,
        operation_code=step.operation_code,
        step_attempt=step.attempt,
        producer_id=step.producer_id,
        source_epoch=step.source_epoch,
        allowed_event_types=allowed(rules, step.operation_code),
        status_definition_version=task.definition_version,
        operation_definition_version=task.definition_version,
        heartbeat_interval_ms=operation.heartbeat_interval_ms if operation else rules.heartbeat_interval_ms,
        execution_token="",
        expires_at="",
        definition_id=task.definition_id,
    )


def signed(context: Context, tokens: ExecutionTokens, now: int, ttl_ms: int) -> Context:
    """The context with a fresh token that holds for `ttl_ms` from `now` (UTC ms)."""
    expires = now + ttl_ms
    claims = Claims(
        tenant_id=context.tenant_id,
        task_id=context.task_id,
        task_type=context.task_type,
        task_attempt=context.task_attempt,
        step_id=context.step_id,
        operation_code=context.operation_code,
        step_attempt=context.step_attempt,
        producer_id=context.producer_id,
        source_epoch=context.source_epoch,
        event_types=context.allowed_event_types,
        definition_version=context.status_definition_version,
        iat=now // 1000,
        exp=expires // 1000,
        definition_id=context.definition_id,
    )
    return replace(context, execution_token=tokens.sign(claims), expires_at=instant(expires // 1000 * 1000))


def allowed(rules: TaskRules, operation_code: str) -> tuple[str, ...]:
    """The event types a step that runs this operation may report under these rules."""
    known = rules.operations.get(operation_code)
    events = known.events if known else STEP_FACTS
    return (*(event for event, to in STEP_LEADS_TO.items() if to in rules.enabled and event in events), HEARTBEAT)

"""The rules a decision needs, as values: what a task type allows. Documents are compiled into these elsewhere."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field

from milepost.domain.lifecycle import STEP_FACTS, FailurePolicy, Lifecycle
from milepost.domain.masks import Mask
from milepost.domain.values import Number

ProgressMode: TypeAlias = Literal["STEPS", "WEIGHTED", "STAGES"]
StatusScope: TypeAlias = Literal["task", "step"]
Audience: TypeAlias = Literal["USER_SUMMARY", "TASK_DETAIL", "PROJECT_BROADCAST"]
ProbeKind: TypeAlias = Literal["http", "provider", "plugin"]
Role: TypeAlias = Literal["member", "admin", "operator"]

CREATION: Final = "TASK_CREATED"
"""The event under which a step's data at its creation is registered."""


class BusinessStatus(Struct, frozen=True):
    """One registered business status and the lifecycle it stands for.

    `allowed_from` holds the codes it may follow; None: any. A disabled one can still be shown, but not be reported.
    """

    code: str
    lifecycle: Lifecycle
    scope: frozenset[StatusScope]
    allowed_from: frozenset[str] | None = None
    enabled: bool = True

    def follows(self, current: str) -> bool:
        """Whether a task or step may go from this code to the status; staying is always allowed."""
        return self.allowed_from is None or current == self.code or current in self.allowed_from


class ProgressRules(Struct, frozen=True):
    """When a progress fact becomes a version of its own instead of being merged."""

    min_percent: float = 5.0
    min_interval_ms: int = 1_000
    max_interval_ms: int = 2_000


class Probe(Struct, frozen=True):
    """Where to ask whether a silent operation has in fact ended. `target` is a URL, a provider's or a plugin's name."""

    kind: ProbeKind
    target: str
    credential_ref: str | None = None


class OperationRules(Struct, frozen=True):
    """What one operation may do. `producer` is a producer's id in which `*` stands for any characters.

    `schemas` names, for an event type, the data schemas it may carry; `shown` the part of such data that authorised
    viewers of the task see, by schema name. Without a `failure_policy` each step says its own.
    """

    code: str
    heartbeat_interval_ms: int
    stale_after_ms: int
    producer: str = "*"
    events: frozenset[str] = STEP_FACTS
    schemas: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    failure_policy: FailurePolicy | None = None
    max_attempts: int | None = None
    probe: Probe | None = None
    expected_ms: int | None = None
    weight: Number | None = None
    shown: Mapping[str, Mask] = field(default_factory=dict[str, Mask])
    enabled: bool = True

    def takes(self, producer_id: str) -> bool:
        """Whether this producer may run the operation."""
        return _matches(self.producer, producer_id)


class SchemaRules(Struct, frozen=True):
    """A registered data schema: its JSON Schema as JSON text, and the bytes a value may have when encoded."""

    name: str
    text: str
    max_bytes: int


class TaskRules(Struct, frozen=True):
    """What one version of one task type's definition says. Immutable; bound to a task at its creation.

    `definition_id` is None for the built-in definition. With `any_operation` every operation is allowed to its step's
    own producer; those in `operations` have rules of their own all the same.
    """

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
    definition_id: str | None = None
    operations: Mapping[str, OperationRules] = field(default_factory=dict[str, OperationRules])
    schemas: Mapping[str, SchemaRules] = field(default_factory=dict[str, SchemaRules])
    summary_schema: str | None = None
    summary_shown: Mapping[Audience, Mask] = field(default_factory=dict[Audience, Mask])
    cancel_roles: frozenset[Role] = frozenset({"admin", "operator"})
    expected_max_ms: int | None = None
    retention_ms: int | None = None
    result_resolver: str | None = None

    def step_mask(self, operation_code: str | None, schema: str) -> Mask | None:
        """What authorised viewers see of an operation's data; None: nothing."""
        known = self.operations.get(operation_code or "")
        return known.shown.get(schema) if known else None

    def summary_mask(self, audience: Audience, schema: str) -> Mask | None:
        """What an audience sees of the summary data; None: nothing."""
        return self.summary_shown.get(audience) if schema == self.summary_schema else None

    def operation(self, code: str) -> OperationRules | None:
        """The rules of an operation; None where the type does not know it."""
        known = self.operations.get(code)
        if known is None and self.any_operation:
            return OperationRules(code, self.heartbeat_interval_ms, self.stale_after_ms)
        return known


def _matches(pattern: str, text: str) -> bool:
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    if not text.startswith(first):
        return False
    place = len(first)
    for part in rest[:-1]:
        found = text.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return text.endswith(rest[-1]) and len(text) - len(rest[-1]) >= place

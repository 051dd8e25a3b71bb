"""Takes in data: only under a registered schema, valid, and within its size. An unknown one never touches state."""

from typing import Any

import msgspec

from milepost.definitions.judging import faults
from milepost.domain.lifecycle import STEP_FACTS
from milepost.domain.rules import CREATION, TaskRules
from milepost.domain.values import Data
from milepost.wire.events import DataBody
from milepost.wire.problems import FieldError, Rejection

_NONE: frozenset[str] = frozenset()


def of_fact(rules: TaskRules, event_type: str, operation_code: str | None, data: DataBody) -> Data:
    """The data of a reported fact. Raises `Rejection` SCHEMA_UNKNOWN, DATA_INVALID or TOO_LARGE."""
    if event_type not in STEP_FACTS:
        return of_summary(rules, data, "/data")
    return _judged(rules, _allowed(rules, operation_code, event_type), data, "/data")


def of_plan(rules: TaskRules, operation_code: str, data: DataBody, place: str) -> Data:
    """The data a step begins with. Raises the same."""
    return _judged(rules, _allowed(rules, operation_code, CREATION), data, place)


def of_summary(rules: TaskRules, data: DataBody, place: str) -> Data:
    """The summary of a task. Raises the same."""
    allowed = frozenset((rules.summary_schema,)) if rules.summary_schema else _NONE
    return _judged(rules, allowed, data, place)


def _allowed(rules: TaskRules, operation_code: str | None, event_type: str) -> frozenset[str]:
    operation = rules.operations.get(operation_code or "")
    return operation.schemas.get(event_type, _NONE) if operation else _NONE


def _judged(rules: TaskRules, allowed: frozenset[str], data: DataBody, place: str) -> Data:
    schema = rules.schemas.get(data.schema)
    if schema is None or data.schema not in allowed:
        known = f"; it takes {', '.join(sorted(allowed))}" if allowed else ""
        detail = f"No data of this schema is registered here{known}."
        raise Rejection.at(f"{place}/schema", "SCHEMA_UNKNOWN", detail)
    _fits(schema.max_bytes, data.value, f"{place}/value")
    wrong = faults(schema, data.value)
    if wrong:
        errors = tuple(FieldError(f"{place}/value{one.pointer}", "DATA_INVALID", one.detail) for one in wrong)
        raise Rejection("DATA_INVALID", f"The value is not valid by {data.schema}.", errors)
    return Data(data.schema, data.value)


def _fits(most: int, value: Any, place: str) -> None:
    size = len(msgspec.json.encode(value))
    if size > most:
        raise Rejection.at(place, "TOO_LARGE", f"The value has {size} bytes; its schema allows {most}.")

"""Judges values by registered data schemas. What it says names places and rules, never the values themselves."""

from functools import lru_cache
from typing import Any, Final, NamedTuple

import jsonschema_rs
import msgspec

from milepost.definitions.schemas import compiled
from milepost.definitions.source import pointed
from milepost.domain.rules import SchemaRules

MOST: Final = 20
"""How many faults of one value are told."""


class Fault(NamedTuple):
    """One place of a value that is against its schema; `pointer` is a JSON Pointer into the value."""

    pointer: str
    detail: str


def faults(schema: SchemaRules, value: Any) -> tuple[Fault, ...]:
    """What is wrong with a value, the first few faults of it; nothing where it is valid."""
    judge = _judge(schema.text)
    if judge.is_valid(value):
        return ()
    found: list[Fault] = []
    for error in judge.iter_errors(value):
        found.append(Fault(pointed(*error.instance_path), error.message.splitlines()[0][:300]))
        if len(found) == MOST:
            break
    return tuple(found)


@lru_cache(maxsize=1024)
def _judge(text: str) -> jsonschema_rs.Draft202012Validator:
    return compiled(msgspec.json.decode(text))

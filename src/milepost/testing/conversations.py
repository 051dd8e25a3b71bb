"""Runs the conversations of `schema/conversations`: a snapshot, messages, and what a client must hold at the end."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import msgspec
from msgspec import Struct, field

Fields = dict[str, Any]


class Held(Struct, frozen=True):
    """What a client holds: views as JSON objects, each detail as `{task, steps}`; `removed` are tombstones.

    `alerts` are the ids that popped up, in order; None for a client that shows none.
    """

    epoch: str
    tasks: Sequence[Fields]
    details: Sequence[Fields] = ()
    removed: Sequence[str] = ()
    owes: bool = False
    alerts: Sequence[str] | None = None


class ConversingClient(Protocol):
    """A client under test."""

    def snapshot(self, snapshot: Fields) -> None:
        """A snapshot `{epoch, cursor, tasks, details}` was read; a second one answers what was owed."""
        ...

    def message(self, message: Fields) -> None:
        """A message arrived on the stream."""
        ...

    def held(self) -> Held:
        """What there is to be shown now."""
        ...


class Expected(Struct, frozen=True, forbid_unknown_fields=True):
    """What must be there at the end; of each view only the fields that are named."""

    epoch: str
    tasks: list[Fields]
    details: list[Fields] = field(default_factory=list[Fields])
    removed: list[str] = field(default_factory=list[str])
    owes: bool = False
    alerts: list[str] = field(default_factory=list[str])


class Conversation(Struct, frozen=True, forbid_unknown_fields=True):
    """One conversation, its defaults filled in."""

    name: str
    why: str
    snapshot: Fields
    messages: list[Fields]
    expected: Expected


def load(folder: Path) -> list[Conversation]:
    """All conversations of a folder, by name."""
    defaults = json.loads((folder / "defaults.json").read_bytes())
    found: list[Conversation] = []
    for path in sorted(folder.glob("*.json")):
        if path.name != "defaults.json":
            raw = msgspec.json.decode(path.read_bytes(), type=Conversation)
            messages = [_message(message, defaults) for message in raw.messages]
            snapshot = _snapshot(raw.snapshot, defaults)
            found.append(Conversation(raw.name, raw.why, snapshot, messages, raw.expected))
    return found


def play(conversation: Conversation, client: ConversingClient) -> list[str]:
    """Holds the conversation with a client; what is not as expected, in words. An empty list is agreement."""
    client.snapshot(conversation.snapshot)
    for message in conversation.messages:
        if message["kind"] == "snapshot":
            client.snapshot(message)
        else:
            client.message(message)
    return _differences(conversation.expected, client.held())


def _differences(expected: Expected, held: Held) -> list[str]:
    found = [
        f"{name}: {getattr(held, name)!r}, not {getattr(expected, name)!r}"
        for name in ("epoch", "owes")
        if getattr(held, name) != getattr(expected, name)
    ]
    if held.alerts is not None and list(held.alerts) != expected.alerts:
        found.append(f"alerts: {list(held.alerts)}, not {expected.alerts}")
    if not set(expected.removed) <= set(held.removed):
        found.append(f"removed: {sorted(held.removed)}, not {expected.removed}")
    found += _views("task", {task["id"]: task for task in expected.tasks}, {task["id"]: task for task in held.tasks})
    return found + _views("detail", _details(expected.details), _details(held.details))


def _views(what: str, expected: Mapping[str, Fields], held: Mapping[str, Fields]) -> list[str]:
    found = [f"{what} {id_}: not there" for id_ in expected.keys() - held.keys()]
    found += [f"{what} {id_}: there, and should not be" for id_ in held.keys() - expected.keys()]
    for id_ in expected.keys() & held.keys():
        found += [
            f"{what} {id_}: {name} is {held[id_].get(name)!r}, not {value!r}"
            for name, value in expected[id_].items()
            if held[id_].get(name) != value
        ]
    return sorted(found)


def _details(details: Sequence[Fields]) -> dict[str, Fields]:
    """Details as flat views: the task's fields, and each step's under `step.field`."""
    flat: dict[str, Fields] = {}
    for detail in details:
        steps = {f"{step['id']}.{name}": value for step in detail["steps"] for name, value in step.items()}
        flat[detail["task"]["id"]] = {**detail["task"], **steps}
    return flat


def _snapshot(snapshot: Fields, defaults: Fields) -> Fields:
    details = [
        {"task": defaults["task"] | detail["task"], "steps": [defaults["step"] | step for step in detail["steps"]]}
        for detail in snapshot.get("details", ())
    ]
    return {**snapshot, "tasks": [defaults["task"] | task for task in snapshot["tasks"]], "details": details}


def _message(message: Fields, defaults: Fields) -> Fields:
    if message["kind"] == "snapshot":
        return _snapshot(message, defaults)
    whole = defaults[message["kind"]] | message
    if whole.get("notice") is not None:
        whole["notice"] = defaults["notice"] | whole["notice"]
    if "task" in whole:
        whole["task"] = defaults["task"] | whole["task"]
    if whole.get("steps") is not None:
        whole["steps"] = [defaults["step"] | step for step in cast("list[Fields]", whole["steps"])]
    return whole

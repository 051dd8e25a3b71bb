"""The conversations every client must hold, held with the rules written down in `store.py` and with our own client."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from milepost.client.store import Store as ClientStore
from milepost.testing.conversations import Conversation, Held, load, play
from milepost.wire.messages import Hello, Message, Reset
from milepost.wire.schemas import message_files, message_schemas
from milepost.wire.views import StepView, TaskView
from tests.gateway.store import Store

SCHEMA = Path(__file__).parents[2] / "schema"
CONVERSATIONS = load(SCHEMA / "conversations")


class Plain:
    """The plain store twice: once for the list, once for the details."""

    def __init__(self) -> None:
        self.list, self.detail = Store(), Store()

    def snapshot(self, snapshot: dict[str, Any]) -> None:
        self.list.load(snapshot)
        details = [{**detail["task"], "steps": detail["steps"]} for detail in snapshot["details"]]
        self.detail.load({**snapshot, "tasks": details})

    def message(self, message: dict[str, Any]) -> None:
        for store, kind in ((self.list, "task.detail"), (self.detail, "task.summary")):
            if message["kind"] != kind:
                store.receive(message)

    def held(self) -> Held:
        details = [{"task": body, "steps": body["steps"]} for body in self.detail.tasks()]
        removed = [task_id for task_id, (_, _, body) in self.list.held.items() if body is None]
        return Held(self.list.epoch, self.list.tasks(), details, removed, self.list.owes or self.detail.owes)


class Ours:
    """The store of `milepost.client`, asked for a snapshot as its convergence would be."""

    def __init__(self) -> None:
        self.store = ClientStore()
        self.known: set[str] = set()
        self.owes = False
        self.alerts: list[str] = []

    def snapshot(self, snapshot: dict[str, Any]) -> None:
        tasks = msgspec.convert(snapshot["tasks"], list[TaskView])
        self.store.take_list(snapshot["epoch"], snapshot["cursor"], tasks, complete=True)
        for detail in snapshot["details"]:
            steps = msgspec.convert(detail["steps"], list[StepView])
            self.store.take_detail(snapshot["epoch"], msgspec.convert(detail["task"], TaskView), steps)
            self.known.add(detail["task"]["id"])
        self.owes = False

    def message(self, message: dict[str, Any]) -> None:
        parsed = msgspec.json.decode(json.dumps(message), type=Message)
        if isinstance(parsed, Hello | Reset):
            self.owes = True if isinstance(parsed, Reset) else not parsed.resumed
        else:
            self.known.add(message.get("taskId", ""))
            alert = self.store.alert(parsed) or self.store.broadcast(parsed)
            self.alerts += [alert.id] if alert else []
            self.owes = self.store.apply(parsed) == "REFETCH" or self.owes

    def held(self) -> Held:
        tasks = [msgspec.to_builtins(task) for task in self.store.tasks()]
        details = [msgspec.to_builtins(found) for id_ in self.known if (found := self.store.detail(id_))]
        removed = [id_ for id_ in (*self.known, "a", "b") if self.store.removed(id_)]
        return Held(self.store.epoch or "", tasks, details, removed, self.owes, self.alerts)


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda found: found.name)
@pytest.mark.parametrize("client", [Plain, Ours])
def test_a_client_ends_where_the_conversation_says(conversation: Conversation, client: type[Plain | Ours]):
    assert play(conversation, client()) == []


def test_conversations_are_many_and_named_after_their_files():
    assert len(CONVERSATIONS) >= 12
    names = {path.stem for path in (SCHEMA / "conversations").glob("*.json")} - {"defaults"}
    assert {found.name for found in CONVERSATIONS} == names
    assert all(found.why.endswith(".") for found in CONVERSATIONS)


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda found: found.name)
def test_every_message_of_a_conversation_is_one_that_the_schemas_allow(conversation: Conversation):
    schemas = message_schemas()
    for message in conversation.messages:
        if message["kind"] != "snapshot":
            jsonschema.Draft202012Validator(schemas[message["kind"]]).validate(message)


class Deaf(Plain):
    def message(self, message: dict[str, Any]) -> None:
        pass


class Gullible(Plain):
    """Takes whatever comes last."""

    def message(self, message: dict[str, Any]) -> None:
        if "taskId" in message:
            for store in (self.list, self.detail):
                store.held.pop(message["taskId"], None)
                store.cursor = 0
        super().message(message)


@pytest.mark.parametrize("client", [Deaf, Gullible])
def test_a_client_without_the_rules_is_found_out(client: type[Plain]):
    assert sum(play(conversation, client()) != [] for conversation in CONVERSATIONS) >= 5


def test_the_schemas_in_the_repository_are_those_of_the_code():
    there = {path.name: path.read_bytes() for path in (SCHEMA / "messages").iterdir()}
    assert there == message_files(), "run `make schema`"


def test_every_schema_is_a_schema():
    for schema in message_schemas().values():
        jsonschema.Draft202012Validator.check_schema(schema)

"""The conversations every client must hold, held with the page's own store in a real browser."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from milepost.testing.conversations import Conversation, Held, load, play
from tests.console.conftest import Site

pytestmark = pytest.mark.browser

CONVERSATIONS = load(Path(__file__).parents[2] / "schema" / "conversations")

STARTED = """async () => {
  const { Store } = await import("/assets/store.js");
  window.held = { store: new Store(), details: new Map(), owes: false };
}"""

SNAPSHOT = """({ epoch, cursor, tasks, details }) => {
  const { store } = held;
  if (store.enter(epoch)) held.details.clear();
  store.list(tasks, cursor, true);
  for (const detail of details) if (store.detail(detail.task)) held.details.set(detail.task.id, detail);
  held.owes = false;
}"""

# What `app.js` does with a message, without its drawing.
MESSAGE = """(message) => {
  const { store, details } = held;
  if (message.kind === "hello") held.owes = !message.resumed;
  else if (message.kind === "reset") held.owes = true;
  else if (store.foreign(message)) return;
  else if (message.kind === "task.summary") {
    if (!store.late(message)) store.summary(message.task, `${message.epoch}:${message.position}`);
  } else if (message.kind === "task.removed") {
    if (store.removed(message.taskId, message.version)) details.delete(message.taskId);
  } else if (message.kind !== "task.detail") {
    return;
  } else if (message.refetch) {
    held.owes ||= BigInt(message.version) > (store.detailGates.get(message.taskId) ?? 0n);
  } else if (store.detail(message.task)) details.set(message.taskId, { task: message.task, steps: message.steps });
}"""

HELD = """() => ({
  epoch: held.store.epoch,
  tasks: [...held.store.tasks.values()],
  details: [...held.details.values()],
  removed: [...held.store.tombstones.keys()],
  owes: held.owes,
})"""


class PageStore:
    """The store of the page, spoken to from outside."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.evaluate(STARTED)

    def snapshot(self, snapshot: dict[str, Any]) -> None:
        self.page.evaluate(SNAPSHOT, snapshot)

    def message(self, message: dict[str, Any]) -> None:
        self.page.evaluate(MESSAGE, message)

    def held(self) -> Held:
        return Held(**self.page.evaluate(HELD))


@pytest.fixture
def empty(site: Site, page: Page) -> Page:
    page.goto(f"{site.url}/healthz")
    return page


def test_the_pages_store_ends_where_every_conversation_says(empty: Page):
    def wrong(conversation: Conversation) -> list[str]:
        return [f"{conversation.name}: {line}" for line in play(conversation, PageStore(empty))]

    assert [line for conversation in CONVERSATIONS for line in wrong(conversation)] == []

"""The live view against the real program."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from milepost.client import AsyncClient, Change, Client, Live, NotFound, SignedOut, Tempo
from milepost.worker import Coordinator, Reporter, Task
from tests.parts.program import Program, program

QUICK = Tempo(first=0.05, longest=0.2)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with program(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def token(server: Program, secrets: dict[str, str]) -> str:
    return server.session("u1")


@pytest.fixture(scope="module")
def secrets(server: Program) -> dict[str, str]:
    return {"api": server.credential("api", "report,coordinate"), "parser": server.credential("parser")}


class Work:
    """One task with one step, in the hands of the test."""

    def __init__(self, server: Program, secrets: dict[str, str], title: str = "a.pdf", owner: str = "u1") -> None:
        self.coordinator = Coordinator(server.url, credential=secrets["api"])
        self.reporter = Reporter(server.url, credential=secrets["parser"])
        steps = [("parse", "DOCUMENT.PARSE", "parser")]
        self.task: Task = self.coordinator.create(tenant="t1", owner=owner, type="DOC", title=title, steps=steps)

    def run(self) -> None:
        with self.reporter.step(self.task.contexts["parse"]) as step:
            step.progress(1, 2, unit="page")
        self.task.complete()


@pytest.fixture
def work(server: Program, secrets: dict[str, str]) -> Iterator[Work]:
    made = Work(server, secrets)
    yield made
    made.reporter.close()
    made.coordinator.close()


class Holding(httpx.HTTPTransport):
    """Carries requests, but keeps an answer (or a whole request) of one path back until it is released."""

    def __init__(self, path: str, *, before: bool) -> None:
        super().__init__()
        self.path, self.before = path, before
        self.reached, self.released = threading.Event(), threading.Event()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        holds = request.url.path == self.path and not self.released.is_set()
        reply = None if holds and self.before else super().handle_request(request)
        if holds:
            self.reached.set()
            assert self.released.wait(10)
        return reply or super().handle_request(request)


def until(live: Live, seen: Callable[[Change], bool], seconds: float = 10.0) -> Change:
    timer = threading.Timer(seconds, live.close)
    timer.start()
    try:
        return next(change for change in live if seen(change))
    finally:
        timer.cancel()


def ended(live: Live, task_id: str) -> Callable[[Change], bool]:
    def seen(_: Change) -> bool:
        shown = live.store.task(task_id)
        return shown is not None and shown.lifecycle_status == "SUCCEEDED"

    return seen


@pytest.mark.parametrize("path, before", [("/api/tasks", False), ("/api/tasks", True), ("/api/stream", True)])
@pytest.mark.accepts("messages during start-up not covered by an older snapshot")
def test_a_task_that_ends_between_snapshot_and_subscription_is_shown_as_ended(
    server: Program, token: str, work: Work, path: str, before: bool
):
    # B38: the snapshot's answer is held while the task ends; the request is; the subscription itself is.
    holding = Holding(path, before=before)
    with Client(server.url, token=token, tempo=QUICK, transport=holding) as client, client.live() as live:
        ender = threading.Thread(target=lambda: (holding.reached.wait(10), work.run(), holding.released.set()))
        ender.start()
        until(live, ended(live, work.task.id))
        ender.join(10)


@pytest.mark.accepts("a viewer cut anywhere and resumed ends equal to a fresh snapshot")
def test_a_view_survives_the_servers_death_and_ends_right(tmp_path: Path):
    with program(tmp_path) as server:
        secrets = {"api": server.credential("api", "report,coordinate"), "parser": server.credential("parser")}
        work = Work(server, secrets)
        with Client(server.url, token=server.session("u1"), tempo=QUICK) as client, client.live() as live:
            until(live, lambda change: change.state == "LIVE")
            server.kill()
            until(live, lambda change: change.state == "RECOVERING")
            assert live.store.task(work.task.id) is not None
            server.start()
            threading.Thread(target=work.run).start()
            until(live, ended(live, work.task.id), 20)
            assert live.state == "LIVE"
        work.reporter.close()
        work.coordinator.close()


def test_one_task_is_followed_with_its_steps_and_its_timeline_is_whole(server: Program, token: str, work: Work):
    with Client(server.url, token=token) as client, client.live(work.task.id) as live:
        threading.Thread(target=work.run).start()
        until(live, lambda change: change.detail is not None and change.detail.task.lifecycle_status == "SUCCEEDED")
        detail = live.store.detail(work.task.id)
        assert detail is not None
        assert [(step.id, step.lifecycle_status) for step in detail.steps] == [("parse", "SUCCEEDED")]
        versions = [int(item.task_version) for item in client.timeline(work.task.id)]
        assert versions == list(range(1, int(detail.task.version) + 1))


@pytest.mark.parametrize(
    "title",
    [
        'x\n\nevent: task\ndata: {"task_id":"other","status":"SUCCEEDED"}',
        "x\r\rdata: y",
        "x\r\nid: e:9\r\n",
        "a\u2028b\u2029c\x85d\x0be\x1cf",
    ],
)
@pytest.mark.accepts("no injection by title, message, id or header into page, SSE frame, log or CSV")
def test_text_can_forge_no_event_and_arrives_whole(server: Program, token: str, secrets: dict[str, str], title: str):
    # B42
    with Client(server.url, token=token) as client, client.live() as live:
        until(live, lambda change: change.state == "LIVE")
        made = Work(server, secrets, title)
        change = until(live, lambda change: change.task_id == made.task.id)
        assert change.task is not None
        assert change.task.title == title
        assert client.task(made.task.id).task.title == title
        made.coordinator.close()


def test_a_request_to_cancel_reaches_the_work(server: Program, token: str, work: Work):
    with Client(server.url, token=token) as client, work.reporter.step(work.task.contexts["parse"]) as step:
        assert client.request_cancel(work.task.id).accepted
        until_time = time.monotonic() + 10
        page = 0
        while not step.cancelled:
            assert time.monotonic() < until_time
            page += 1
            step.progress(page, 1000)
            time.sleep(0.02)
        step.check()
    work.task.cancelled()
    state = work.task.state()
    assert (state.task.lifecycle_status, state.step("parse").lifecycle_status) == ("CANCELLED", "CANCELLED")


def test_what_one_may_not_see_is_not_found_and_a_bad_session_is_said_so(server: Program, secrets: dict[str, str]):
    other = Work(server, secrets, owner="u2")
    with Client(server.url, token=server.session("u1")) as client:
        with pytest.raises(NotFound):
            client.task(other.task.id)
        with pytest.raises(NotFound):
            next(client.live(other.task.id))
    with Client(server.url, token="mps_0_no") as client, pytest.raises(SignedOut):
        next(client.live())
    other.coordinator.close()


async def test_the_async_view_sees_the_same(server: Program, token: str, work: Work):
    async with AsyncClient(server.url, token=token) as client, client.live() as live:
        async for change in live:
            if change.state == "LIVE" and work.task.view.lifecycle_status == "PENDING":
                threading.Thread(target=work.run).start()
                break
        async for _ in live:
            shown = live.store.task(work.task.id)
            if shown is not None and shown.lifecycle_status == "SUCCEEDED":
                break
        assert [item async for item in client.timeline(work.task.id)]
        listed = await client.tasks(text="a.pdf", limit=200)
        assert work.task.id in [item.id for item in listed.items]

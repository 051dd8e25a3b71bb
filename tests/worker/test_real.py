"""Reporters and coordinators against the real program."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from milepost.worker import (
    AsyncCoordinator,
    AsyncReporter,
    Context,
    Coordinator,
    Limits,
    NotReached,
    Refused,
    Reporter,
    Result,
    StepError,
    StepFailed,
    StepPlan,
    Task,
)
from tests.parts.program import Program, program

STEP = ("02_parse", "DOCUMENT.PARSE", "document-parser")


class Parts:
    """A running program, its address and the secrets of two services."""

    def __init__(self, server: Program) -> None:
        self.server = server
        self.url = server.url
        self.secret = server.credential("api", "report,coordinate")
        self.worker_secret = server.credential("document-parser")


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parts]:
    with program(tmp_path_factory.mktemp("server")) as server:
        yield Parts(server)


@pytest.fixture(scope="module")
def coordinator(parts: Parts) -> Iterator[Coordinator]:
    with Coordinator(parts.url, credential=parts.secret) as made:
        yield made


@pytest.fixture
def reporter(parts: Parts) -> Iterator[Reporter]:
    with Reporter(parts.url, credential=parts.worker_secret, limits=Limits(heartbeat=0.2)) as made:
        yield made


def create(coordinator: Coordinator, **more: object) -> Task:
    given = {"tenant": "t1", "owner": "u1", "type": "DOCUMENT_PROCESS", "title": "contract.pdf", "steps": [STEP]}
    return coordinator.create(**(given | more))  # type: ignore[arg-type]


def until(true: Callable[[], bool], seconds: float = 15.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_the_documented_example_works_as_it_stands(parts: Parts):
    url, secret, worker_secret = parts.url, parts.secret, parts.worker_secret

    coordinator = Coordinator(url, credential=secret)
    task = coordinator.create(tenant="t1", owner="u1", type="DOCUMENT_PROCESS", title="contract.pdf", steps=[STEP])
    reporter = Reporter(url, credential=worker_secret)
    with reporter.step(task.contexts["02_parse"]) as step:
        step.progress(18, 36, unit="page")
    task.complete()

    state = task.state()
    assert (state.task.lifecycle_status, state.step("02_parse").lifecycle_status) == ("SUCCEEDED", "SUCCEEDED")
    assert state.step("02_parse").duration_source == "MONOTONIC"
    reporter.close()
    coordinator.close()


def test_an_exception_ends_the_step_with_its_error_and_passes_through(coordinator: Coordinator, reporter: Reporter):
    task = create(coordinator)

    def work() -> None:
        with reporter.step(task.contexts["02_parse"]) as step:
            step.progress(3, 10)
            raise StepFailed("BUSINESS_INPUT", "PDF_DAMAGED", "The file is damaged.")

    with pytest.raises(StepFailed):
        work()
    shown = task.state().step("02_parse")
    assert shown.error is not None
    assert (shown.lifecycle_status, shown.error.code, shown.error.user_message) == (
        "FAILED",
        "PDF_DAMAGED",
        "The file is damaged.",
    )
    assert shown.progress is not None
    assert shown.progress.current == 3


@pytest.mark.parametrize("text", ["a\x00b", "\ud83d", "a\udc80b", "\ufffe", "é" * 100_000, "🚀" * 3_000])
@pytest.mark.accepts("a refused payload never loses the end")
def test_whatever_an_error_says_its_end_is_committed(coordinator: Coordinator, reporter: Reporter, text: str):
    # B21, B22
    task = create(coordinator, title=text)
    with reporter.step(task.contexts["02_parse"]) as step:
        step.message(text)
        step.fail(StepError("SYSTEM", "BROKEN", text))
    assert task.state().step("02_parse").lifecycle_status == "FAILED"
    assert reporter.dead == ()


@pytest.mark.accepts("a refused payload never loses the end")
def test_an_end_with_data_that_is_refused_still_arrives(coordinator: Coordinator, reporter: Reporter):
    # B19: what is permanently bad goes to the dead list, and nothing behind it waits.
    task = create(coordinator)
    with reporter.step(task.contexts["02_parse"]) as step:
        step.data("nobody.knows.v1", {"pages": 3})
    until(lambda: task.state().step("02_parse").lifecycle_status == "SUCCEEDED")
    assert [dead.code for dead in reporter.dead] == ["SCHEMA_UNKNOWN"]


def test_facts_of_a_task_that_is_not_there_yet_arrive_once_it_is(coordinator: Coordinator, reporter: Reporter):
    # B08
    early = Context(
        tenant_id="t1",
        task_id="comes-later",
        task_type="DOCUMENT_PROCESS",
        task_attempt=1,
        step_id="02_parse",
        operation_code="DOCUMENT.PARSE",
        step_attempt=1,
        producer_id="document-parser",
        execution_token="none yet",
    )
    with reporter.step(early) as step:
        step.progress(1, 2)
    task = create(coordinator, task_id="comes-later")
    until(lambda: task.state().step("02_parse").lifecycle_status == "SUCCEEDED")
    assert reporter.dead == ()


def test_thirty_creations_with_one_key_make_one_task(parts: Parts):
    # B08
    def made(_: int) -> str:
        with Coordinator(parts.url, credential=parts.secret) as coordinator:
            return create(coordinator, task_id="one", idempotency_key="one-key").id

    with ThreadPoolExecutor(max_workers=30) as pool:
        assert set(pool.map(made, range(30))) == {"one"}


def test_a_coordinator_finds_its_task_again_and_goes_on(coordinator: Coordinator, parts: Parts, reporter: Reporter):
    create(coordinator, task_id="found-again", idempotency_key="found-again-key")
    with Coordinator(parts.url, credential=parts.secret) as restarted:
        task = restarted.find("found-again-key")
        with reporter.step(task.token("02_parse")):
            pass
        restarted.task("found-again").complete(result=Result(id="r1", title="3 pages", size=12))
        shown = task.state().task
        assert (shown.lifecycle_status, shown.result_ref and shown.result_ref.title) == ("SUCCEEDED", "3 pages")


def test_foreign_ids_come_in_by_one_rule(coordinator: Coordinator, reporter: Reporter):
    step = ("run:7/parse", "DOCUMENT.PARSE", "document-parser")
    task = create(coordinator, owner="ada@example.org", project="auth0|9", steps=[step])
    assert (task.view.owner_id, task.view.project_id) == ("ada~40example.org", "auth0~7c9")
    with reporter.step(task.contexts["run:7/parse"]) as work:
        work.fail(StepError("SYSTEM", "X"))
    with reporter.step(task.open_step_attempt("run:7/parse")):
        pass
    assert task.state().step("run:7/parse").attempt == 2
    with pytest.raises(ValueError, match="owner"):
        create(coordinator, owner="")


def test_a_refused_command_says_why(coordinator: Coordinator):
    task = create(coordinator)
    with pytest.raises(Refused, match="ATTEMPT_UNFINISHED"):
        task.open_step_attempt("02_parse")


def test_a_killed_workers_step_is_done_by_the_next_attempt(coordinator: Coordinator, parts: Parts, reporter: Reporter):
    task = create(coordinator)
    killed = Reporter(parts.url, credential=parts.worker_secret, limits=Limits(heartbeat=0.2))
    with killed.step(task.contexts["02_parse"]) as old:
        old.progress(5, 10)
        until(lambda: task.state().step("02_parse").lifecycle_status == "RUNNING")
        fresh = task.open_step_attempt("02_parse", abandon=True)
        with reporter.step(fresh) as step:
            step.progress(10, 10)
        until(lambda: old.superseded)
    killed.close()
    shown = task.state().step("02_parse")
    assert (shown.attempt, shown.lifecycle_status) == (2, "SUCCEEDED")


@pytest.mark.accepts("a redelivered worker fences its predecessor and its end is never lost")
def test_a_second_run_of_an_attempt_fences_the_first(coordinator: Coordinator, parts: Parts, reporter: Reporter):
    task = create(coordinator)
    with Reporter(parts.url, credential=parts.worker_secret, limits=Limits(heartbeat=0.2)) as first:
        with first.step(task.contexts["02_parse"]) as old:
            old.progress(70, 100)
            until(lambda: task.state().step("02_parse").lifecycle_status == "RUNNING")
            with reporter.step(task.contexts["02_parse"]) as new:
                new.progress(1, 100)
            until(lambda: old.superseded)
        assert first.dead == ()
    assert task.state().step("02_parse").lifecycle_status == "SUCCEEDED"


def test_a_failed_task_is_tried_again_in_a_new_attempt(coordinator: Coordinator, reporter: Reporter):
    plans = [
        StepPlan(step_id="a", operation="X.A", producer="document-parser"),
        StepPlan(step_id="b", operation="X.B", producer="document-parser"),
    ]
    task = create(coordinator, steps=plans)
    with reporter.step(task.contexts["a"]):
        pass
    with reporter.step(task.contexts["b"]) as step:
        step.fail(StepError("DEPENDENCY", "AWAY", retryable=True))
    task.fail(StepError("DEPENDENCY", "AWAY"), step_id="b")
    task.open_attempt()
    assert task.contexts["b"].step_attempt == 2
    with reporter.step(task.contexts["b"]):
        pass
    task.complete()
    state = task.state()
    assert (state.task.lifecycle_status, state.task.attempt, state.step("a").attempt) == ("SUCCEEDED", 2, 1)


def test_reporting_goes_on_over_the_servers_death_and_never_stops_the_work(tmp_path: Path):
    with program(tmp_path) as server:
        parts = Parts(server)
        coordinator = Coordinator(parts.url, credential=parts.secret)
        task = create(coordinator, steps=[(f"s{n}", "X.Y", "document-parser") for n in range(5)])
        reporter = Reporter(parts.url, credential=parts.worker_secret, flush_timeout=0.05)
        longest = 0.0
        for number, (_, context) in enumerate(sorted(task.contexts.items())):
            if number == 2:
                server.kill()
            before = time.monotonic()
            with reporter.step(context) as step:
                step.progress(1, 2)
            longest = max(longest, time.monotonic() - before)
            if number == 3:
                threading.Timer(0.2, server.start).start()
        assert longest < 1.0
        task.complete()
        assert reporter.close(timeout=20)
        state = task.state()
        assert {step.lifecycle_status for step in state.steps} == {"SUCCEEDED"}
        assert reporter.dead == ()
        coordinator.close()


SCRIPT = """
import os, sys
from milepost.worker import Context, Reporter
reporter = Reporter(sys.argv[1], credential=sys.argv[2], flush_timeout=0)
first, second = (Context.from_json(text) for text in sys.argv[3:])
with reporter.step(first):
    pass
if os.fork() == 0:
    with reporter.step(second):
        pass
    sys.exit()
os.wait()
"""


def test_nothing_is_lost_when_a_script_ends_without_closing_or_forks(parts: Parts, coordinator: Coordinator):
    task = create(coordinator, steps=[("a", "X.A", "document-parser"), ("b", "X.B", "document-parser")])
    contexts = [task.contexts[step].to_json() for step in ("a", "b")]
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, parts.url, parts.worker_secret, *contexts]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    assert [step.lifecycle_status for step in task.state().steps] == ["SUCCEEDED", "SUCCEEDED"]


def test_closing_while_nobody_answers_ends_in_time_and_says_what_was_lost(caplog: pytest.LogCaptureFixture):
    reporter = Reporter("http://127.0.0.1:9", credential="x", flush_timeout=0)
    at = Context.from_json(
        '{"tenantId":"t1","taskId":"k","taskType":"D","taskAttempt":1,"stepId":"s","operationCode":"X","stepAttempt":1,'
        '"producerId":"p","executionToken":"t"}'
    )
    with reporter.step(at):
        pass
    assert not reporter.close(timeout=0.1)
    assert "2 reports were not delivered" in caplog.text


def test_a_coordinator_gives_up_when_its_patience_ends():
    with Coordinator("http://127.0.0.1:9", credential="x", patience=0.1) as lonely, pytest.raises(NotReached):
        create(lonely)


async def test_the_awaited_names_do_the_same(parts: Parts):
    async with (
        AsyncCoordinator(parts.url, credential=parts.secret) as coordinator,
        AsyncReporter(parts.url, credential=parts.worker_secret) as reporter,
    ):
        task = await coordinator.create(
            tenant="t1", owner="u1", type="DOCUMENT_PROCESS", title="async", steps=[STEP, ("x", "X.Y", STEP[2])]
        )
        async with reporter.step(task.contexts["02_parse"]) as step:
            await step.progress(1, 2, unit="page")
            await step.message("halfway")
        with pytest.raises(ValueError, match="no"):
            async with reporter.step(task.contexts["x"]):
                raise ValueError("no")
        await task.complete()
        state = await task.state()
        assert [step.lifecycle_status for step in state.steps] == ["SUCCEEDED", "FAILED"]
        assert state.step("02_parse").message == "halfway"
        assert state.task.lifecycle_status == "SUCCEEDED"


def test_a_coordinator_deletes_its_finished_task_and_may_say_so_again(coordinator: Coordinator) -> None:
    task = create(coordinator)
    with pytest.raises(Refused, match="TASK_UNFINISHED"):
        task.delete()
    task.complete()
    task.delete()
    task.delete()
    with pytest.raises(Refused, match="TASK_DELETED"):
        task.state()


def test_a_coordinator_adds_steps_and_their_workers_report(parts: Parts, coordinator: Coordinator) -> None:
    task = create(coordinator)
    task.add_steps([("03_render", "DOCUMENT.RENDER", "document-parser")])
    with Reporter(parts.url, credential=parts.worker_secret) as reporter, reporter.step(task.contexts["03_render"]):
        pass
    until(lambda: task.state().step("03_render").lifecycle_status == "SUCCEEDED")
    assert [step.id for step in task.state().steps] == ["02_parse", "03_render"]

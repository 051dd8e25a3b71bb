"""A process that has never met a definition decides and shows by it all the same: it is read in phase 2, or before."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from milepost.domain.attempts import Opening
from milepost.domain.correcting import Correction
from milepost.domain.creation import StepDraft, TaskDraft
from milepost.domain.facts import Fact
from milepost.domain.state import TaskKey
from milepost.domain.values import Data, Progress
from milepost.ports.reading import Filters, Scope
from milepost.usecases.adding import AddSteps
from milepost.usecases.binding import rules_of_task, rules_of_token
from milepost.usecases.commit import Work, commit
from milepost.usecases.correcting import CorrectTask
from milepost.usecases.creating import Created, CreateTask
from milepost.usecases.flushing import Flush
from milepost.usecases.idempotency import Once
from milepost.usecases.opening import OpenAttempt
from milepost.usecases.publishing import Publication, publish
from milepost.usecases.reporting import Report
from milepost.usecases.rulebook import DefinitionMissing, Rulebook, choose
from milepost.usecases.sourcing import NewSource, refreshed
from milepost.usecases.viewing import Views
from milepost.wire.problems import Rejection
from tests.parts.documents import document
from tests.parts.stand import Stand, stand
from tests.usecases.works import BOSS, fact

KEY = TaskKey("t1", "k1")
PLAN = StepDraft("a", "DOCUMENT.PARSE", "document-a")


async def published(service: Stand, **changes: Any) -> str:
    wish = Publication("t1", document(**changes), "somebody")
    made = await publish(service.storage.definitions, service.storage.access, service.clock, wish)
    return made.answer.published.definition_id


def stranger(service: Stand) -> Rulebook:
    """The rulebook of a process that has just begun."""
    return Rulebook(definitions=service.storage.definitions)


async def done(service: Stand, *works: Work) -> list[object]:
    outcomes, _ = await service.storage.transaction(lambda tx: commit(tx, works))
    return outcomes


async def created(service: Stand, *plans: StepDraft) -> Created:
    rules = await stranger(service).for_new("t1", None, "DOCUMENT_PROCESS", None)
    draft = TaskDraft("t1", "k1", "u1", "DOCUMENT_PROCESS", "x", plans or (PLAN,))
    (made,) = await done(service, CreateTask(draft, BOSS, Once.of("t1", BOSS, None, "x"), "created", rules))
    assert isinstance(made, Created), made
    return made


def said(event_type: str, event_id: str, seq: int | None = None, **more: Any) -> Fact:
    bound = {"task_type": "DOCUMENT_PROCESS"}
    if event_type.startswith("STEP"):
        bound |= {"producer_id": "document-a", "operation_code": "DOCUMENT.PARSE"}
    return fact(event_type, event_id, seq, **{**bound, **more})


ONCE = Once(None, b"")
WORKS: list[Callable[[Rulebook], Work]] = [
    lambda book: Report(said("STEP_PROGRESS", "e2", 2, business_status="READING"), book),
    lambda book: Report(said("TASK_STATUS_CHANGED", "e3", business_status="READING"), book),
    lambda book: OpenAttempt(KEY, "a", Opening(2, "o1", abandon=True), "boss", book),
    lambda book: OpenAttempt(KEY, None, Opening(2, "o2", abandon=True), "boss", book),
    lambda book: NewSource(KEY, "a", 1, "document-a", book),
    lambda book: AddSteps(KEY, (StepDraft("b", "DOCUMENT.INDEX", "indexer"),), BOSS, ONCE, "added", book),
    lambda book: CorrectTask(KEY, Correction("FAILED", "UNREADABLE", "because", 2, "root", "c1"), ONCE, book),
]


@pytest.mark.parametrize("work", WORKS)
async def test_every_work_brings_the_definition_it_needs(service: Stand, work: Callable[[Rulebook], Work]):
    await published(service)
    await created(service)
    await done(service, Report(said("STEP_STARTED", "e1", 1, business_status="READING"), stranger(service)))
    book = stranger(service)
    (outcome,) = await done(service, work(book))
    assert not isinstance(outcome, Rejection), outcome.detail
    found = await service.storage.reading.snapshot(KEY)
    assert found is not None
    assert book.holds(found.task)


async def test_the_flusher_brings_it_too(service: Stand):
    await published(service)
    await created(service)
    book = stranger(service)
    first = said("STEP_PROGRESS", "e1", 1, business_status="READING", progress=Progress(1, 100))
    await done(service, Report(first, book))
    await done(service, Report(replace(first, event_id="e2", source_seq=2, progress=Progress(2, 100)), book))
    assert await done(service, Flush(KEY, "a", stranger(service))) == [True]
    found = await service.storage.reading.snapshot(KEY)
    assert found is not None
    assert found.steps[0].business_status == "READING"


async def test_a_batch_of_several_types_is_decided_each_by_its_own_rules(service: Stand):
    await published(service)
    await created(service)
    book = stranger(service)
    own, other = said("STEP_STARTED", "e1", 1, business_status="READING"), fact("STEP_STARTED", "e2", 1)
    outcomes = await done(service, Report(own, book), Report(replace(other, task_id="unknown"), book))
    assert not isinstance(outcomes[0], Rejection)
    assert isinstance(outcomes[1], Rejection)


async def test_what_was_not_loaded_is_never_guessed(service: Stand):
    definition_id = await published(service)
    await created(service)
    found = await service.storage.reading.snapshot(KEY)
    assert found is not None
    assert found.task.definition_id == definition_id
    book = stranger(service)
    with pytest.raises(DefinitionMissing):
        book.of(found.task)
    assert not book.holds(found.task)
    await book.load((found.task,))
    assert book.of(found.task).definition_id == definition_id


async def test_views_load_what_they_show(service: Stand):
    await published(service)
    await created(service)
    scope = Scope("t1", "u1")

    def views() -> Views:
        return Views(service.storage, service.storage.reading, stranger(service), service.clock)

    fresh = views()
    assert fresh.snapshot(await fresh.detail(scope, "k1")).task.progress is not None
    assert len((await views().page(scope, Filters(), None, 10)).items) == 1
    epoch = await service.storage.epoch()
    assert len((await views().changes(scope, f"{epoch}:0", 10)).items) == 1
    assert len((await views().newer(scope, ["k1"], {}, None, detail=True)).details) == 1
    assert len((await views().timeline(scope, "k1", 0, 10)).items) == 1


async def test_a_token_is_renewed_by_a_process_that_never_met_the_definition(service: Stand):
    await published(service)
    await created(service)
    reading = service.storage.reading
    context = await refreshed(reading, KEY, "a", None, "document-a", stranger(service))
    assert context.heartbeat_interval_ms == 5_000


async def test_data_judged_by_another_definition_is_asked_for_again(service: Stand):
    await published(service)
    await created(service)
    data = Data("document.parsed.v1", {"pages": 1})
    (outcome,) = await done(
        service, Report(said("STEP_COMPLETED", "e1", 1, data=data), stranger(service), judged_by="another")
    )
    assert isinstance(outcome, Rejection)
    assert (outcome.code, outcome.retry_after) == ("UNAVAILABLE", 1)
    found = await service.storage.reading.snapshot(KEY)
    assert found is not None
    assert found.steps[0].lifecycle == "PENDING"


async def test_a_definition_lost_with_the_database_is_told_as_an_unknown_task(service: Stand):
    with pytest.raises(Rejection) as caught:
        await rules_of_token(stranger(service), "lost", "DOCUMENT_PROCESS")
    assert caught.value.code == "TASK_UNKNOWN"
    with pytest.raises(Rejection) as caught:
        await rules_of_task(stranger(service), service.storage.reading, TaskKey("t1", "nobody"))
    assert caught.value.code == "TASK_UNKNOWN"


async def test_a_version_published_elsewhere_serves_the_very_next_creation(service: Stand):
    await published(service)
    rules = await service.services.rulebook.for_new("t1", None, "DOCUMENT_PROCESS", None)
    await published(service, version=2)
    newer = await service.services.rulebook.for_new("t1", None, "DOCUMENT_PROCESS", None)
    assert (rules.version, newer.version) == (1, 2)


async def test_where_definitions_are_required_a_type_without_one_is_refused(service: Stand):
    book = Rulebook(required=True, definitions=service.storage.definitions)
    with pytest.raises(Rejection) as caught:
        await book.for_new("t1", None, "DOCUMENT_PROCESS", None)
    assert caught.value.code == "TASK_TYPE_UNKNOWN"
    await published(service)
    assert (await book.for_new("t1", None, "DOCUMENT_PROCESS", None)).version == 1


async def test_of_many_who_publish_at_once_one_version_stands_and_the_rest_are_told(service: Stand):
    names = [f"Name {index}" for index in range(8)]
    outcomes = await asyncio.gather(*(published(service, displayName=name) for name in names), return_exceptions=True)
    made = [outcome for outcome in outcomes if isinstance(outcome, str)]
    refused = [outcome.code for outcome in outcomes if isinstance(outcome, Rejection)]
    assert (len(made), refused) == (1, ["VERSION_CONFLICT"] * 7)
    assert len(await service.storage.definitions.listed("t1")) == 1


async def test_the_same_document_has_the_same_id_in_every_database(tmp_path: Path):
    ids: set[str] = set()
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        async with stand(folder) as service:
            ids.add(await published(service))
    assert len(ids) == 1


async def test_the_newest_enabled_version_of_the_most_particular_line_is_chosen(service: Stand):
    await published(service, version=1)
    await published(service, version=2, enabled=False)
    await published(service, version=3, product="shop", enabled=False)
    found = await service.storage.definitions.versions("t1", "shop", "DOCUMENT_PROCESS")
    chosen = choose(found, None)
    assert chosen is not None
    assert (chosen.product, chosen.version) == ("", 1)
    assert choose(found, 2) is None
    assert choose((), None) is None

"""Merged progress becomes visible under the last merged event's id."""

from milepost.domain.outcomes import Unchanged
from milepost.domain.values import Data, Progress
from tests.domain.story import Story, accepted


def merged() -> Story:
    story = Story()
    story.say("STEP_PROGRESS", progress=Progress(10, 100))
    story.now += 100
    story.say("STEP_PROGRESS", progress=Progress(20, 100), message="page 20", event_id="m1")
    story.now += 100
    story.say("STEP_PROGRESS", progress=Progress(30, 100), data=Data("d", 3), event_id="m2", occurred_at=77, age_ms=5)
    return story


def test_waiting_is_counted_from_the_first_merged_fact() -> None:
    story = merged()
    pending = story.steps["a"].pending
    assert pending is not None
    assert (pending.since, pending.event_id) == (story.now - 100, "m2")


def test_a_flush_is_a_version_of_its_own_under_the_last_merged_event() -> None:
    story = merged()
    before, received = story.steps["a"], story.now
    story.now += 1_000
    event = accepted(story.flush())
    step = story.steps["a"]
    assert (event.event_id, event.event_type, event.producer_id) == ("m2", "STEP_PROGRESS", "a-worker")
    assert (event.task_version, event.step_version) == (3, before.version + 1)
    assert (event.source_epoch, event.source_seq, event.gap) == (1, 3, False)
    assert (event.occurred_at, event.age_ms, event.received_at, event.committed_at) == (77, 5, received, story.now)
    assert (event.public.progress, event.public.message, event.data_schema) == (Progress(30, 100), "page 20", "d")
    assert (step.progress, step.message, step.data, step.pending) == (
        Progress(30, 100), "page 20", Data("d", 3), None,
    )  # fmt: skip
    assert (story.task.percent, story.task.updated_at) == (30, story.now)


def test_a_flush_is_versioned_progress_from_which_the_next_is_measured() -> None:
    story = merged()
    story.now += 1_000
    story.flush()
    story.now += 999
    story.say("STEP_PROGRESS", progress=Progress(90, 100))
    assert story.steps["a"].pending is not None


def test_there_is_nothing_to_flush_without_merged_progress_or_after_the_end() -> None:
    story = merged()
    story.flush()
    assert story.flush() == Unchanged(story.task)
    assert story.flush("nobody") == Unchanged(story.task)
    ended = merged()
    ended.say("TASK_FAILED")
    assert ended.flush() == Unchanged(ended.task)


def test_progress_merged_by_an_older_source_keeps_its_sequence_to_itself() -> None:
    story = merged()
    story.new_source()
    event = accepted(story.flush())
    assert (event.source_epoch, event.source_seq) == (1, 3)
    assert (story.steps["a"].source_epoch, story.steps["a"].source_seq) == (2, 0)


def test_a_missing_fact_among_the_merged_is_marked_at_the_flush() -> None:
    story = Story()
    story.say("STEP_STARTED")
    story.say("STEP_PROGRESS")
    story.fact("STEP_PROGRESS")
    story.say("STEP_PROGRESS")
    story.say("STEP_PROGRESS")
    assert accepted(story.flush()).gap is True
